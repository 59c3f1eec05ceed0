"""How the arguments of a call become an HTTP request."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from loopcheck.reference_loop.tool_sources.openapi_parameters import TEMPLATED
from loopcheck.reference_loop.tool_sources.parameter_values import Parameter, Place
from loopcheck.reference_loop.tools import ToolFailure

BODY: Final = "body"
_ACCEPT: Final = "application/json, application/problem+json, text/*;q=0.9, */*;q=0.1"
# A server or a proxy would take these for another path than the one that was meant.
_NO_SEGMENTS: Final = frozenset({"", ".", ".."})


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """The content of a request. `is_arguments`: all arguments together are the content."""

    media_type: str
    is_arguments: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    """A request, ready to be sent."""

    method: str
    url: str
    headers: Mapping[str, str]
    content: bytes | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestBuilder:
    """Builds the requests of one operation. `base_url` has no slash at its end."""

    method: str
    base_url: str
    path: str
    parameters: tuple[Parameter, ...]
    body: Body | None

    @property
    def shown(self) -> str:
        """The request in words that hold neither arguments nor credentials."""
        return f"{self.method} {self.path}"

    def build(self, arguments: Mapping[str, object]) -> HttpRequest:
        """The request. Raises ToolFailure for arguments that cannot be written into it."""
        query = "&".join(self._query(arguments))
        content = self._content(arguments)
        headers = {"accept": _ACCEPT, **self._headers(arguments)}
        if content is not None and self.body is not None:
            headers["content-type"] = self.body.media_type
        return HttpRequest(
            method=self.method,
            url=f"{self.base_url}{self._path(arguments)}{'?' if query else ''}{query}",
            headers=headers,
            content=content,
        )

    def _given(
        self, place: Place, arguments: Mapping[str, object]
    ) -> Iterator[tuple[Parameter, str, str]]:
        for one in self.parameters:
            if one.place == place and one.name in arguments:
                for name, text in one.written(arguments[one.name]):
                    yield one, name, text

    def _path(self, arguments: Mapping[str, object]) -> str:
        texts = {name: text for _, name, text in self._given("path", arguments)}
        return "/".join(_segment(part, texts) for part in self.path.split("/"))

    def _query(self, arguments: Mapping[str, object]) -> Iterator[str]:
        # Members of an exploded object must not pass for other parameters.
        owners = {quote(one.name, safe=""): one for one in self.parameters if one.place == "query"}
        for parameter, name, text in self._given("query", arguments):
            if owners.setdefault(name, parameter) is not parameter:
                raise ToolFailure(
                    "invalid_arguments", f"$.{parameter.name}: {name} is another parameter's name"
                )
            yield f"{name}={text}"

    def _headers(self, arguments: Mapping[str, object]) -> dict[str, str]:
        headers = {name.lower(): text for _, name, text in self._given("header", arguments)}
        cookies = [f"{name}={text}" for _, name, text in self._given("cookie", arguments)]
        return {**headers, "cookie": "; ".join(cookies)} if cookies else headers

    def _content(self, arguments: Mapping[str, object]) -> bytes | None:
        if self.body is None or not (self.body.is_arguments or BODY in arguments):
            return None
        value = arguments if self.body.is_arguments else arguments[BODY]
        return json.dumps(value).encode()


def _segment(template: str, texts: Mapping[str, str]) -> str:
    written = TEMPLATED.sub(lambda match: texts[match[1]], template)
    if written != template and written in _NO_SEGMENTS:
        names = ", ".join(TEMPLATED.findall(template))
        raise ToolFailure(
            "invalid_arguments", f"$.{names}: empty, '.' or '..' would be another path"
        )
    return written
