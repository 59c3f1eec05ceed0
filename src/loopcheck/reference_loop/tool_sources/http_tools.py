"""One operation of an HTTP service as a tool: each call is one request, sent once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import httpx2

from loopcheck.reference_loop.arguments import JsonObject
from loopcheck.reference_loop.tool_sources.http_requests import HttpRequest, RequestBuilder
from loopcheck.reference_loop.tool_sources.http_responses import (
    Received,
    interrupted,
    result,
    unreachable,
)
from loopcheck.reference_loop.tool_sources.trace_context import TraceHeaders, propagated
from loopcheck.reference_loop.tools import ToolFailure

Kind: TypeAlias = Literal["read", "write"]
FromLoop: TypeAlias = Literal["call_id", "operation_id"]

# Raised before anything of the request was sent.
_NOT_SENT: Final = (
    httpx2.ConnectError,
    httpx2.ConnectTimeout,
    httpx2.PoolTimeout,
    httpx2.ProxyError,
    httpx2.UnsupportedProtocol,
)
_SHORTEST_SECRET: Final = 8
_HIDDEN: Final = b"[credential]"


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpCall:
    """What credentials are asked for. `security` has the names of security schemes: one of the
    groups is wanted, and all of that group."""

    tool: str
    method: str
    base_url: str
    security: tuple[tuple[str, ...], ...]


Credentials: TypeAlias = Callable[[HttpCall], Awaitable[Mapping[str, str]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpTool:
    """Carries out the calls of one tool. `from_loop` says which headers the loop fills in."""

    client: httpx2.AsyncClient
    call: HttpCall
    kind: Kind
    builder: RequestBuilder
    credentials: Credentials | None
    from_loop: Mapping[str, FromLoop]
    trace: TraceHeaders
    now: Callable[[], float]
    max_response_bytes: int

    async def __call__(
        self, arguments: JsonObject, *, call_id: str, operation_id: str | None
    ) -> str:
        request = self.builder.build(arguments)
        ids = {"call_id": call_id, "operation_id": operation_id}
        secret = await self._credentials()
        headers = {
            **request.headers,
            **propagated(self.trace),
            **{name: text for name, which in self.from_loop.items() if (text := ids[which])},
            **secret,
            **_cookies(secret, request.headers),
        }
        received = await self._exchange(request, headers, _secrets(secret, self.client))
        return result(received, now=self.now)

    async def _credentials(self) -> dict[str, str]:
        if self.credentials is None:
            return {}
        try:
            given = await self.credentials(self.call)
        except PermissionError:
            raise
        except Exception as error:
            # Its text may tell more than a model should read.
            message = f"no credentials could be had: {type(error).__name__}"
            raise ToolFailure("no_credentials", message) from None
        return {name.lower(): text.strip() for name, text in given.items()}

    async def _exchange(
        self, request: HttpRequest, headers: Mapping[str, str], secrets: Iterable[bytes]
    ) -> Received:
        try:
            async with self.client.stream(
                request.method,
                request.url,
                headers=headers,
                content=request.content,
                # Elsewhere, the request may mean something else, and credentials are not for all.
                follow_redirects=False,
            ) as response:
                body = await self._body(response)
        except httpx2.InvalidURL as error:
            raise ToolFailure("invalid_arguments", f"they make no address: {error}") from None
        except _NOT_SENT as error:
            unreachable(self.builder.shown, _in_words(error))
        except httpx2.HTTPError as error:
            interrupted(self.kind, self.builder.shown, _in_words(error))
        return Received(
            kind=self.kind,
            request=self.builder.shown,
            status=response.status_code,
            headers=response.headers,
            body=None if body is None else _without(body, secrets),
        )

    async def _body(self, response: httpx2.Response) -> bytes | None:
        body = b""
        try:
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > self.max_response_bytes:
                    return None
        except httpx2.HTTPError:
            if response.is_success:
                raise
            # What went wrong is known all the same.
        return body


def _in_words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".rstrip(": ")


def _cookies(*sources: Mapping[str, str]) -> dict[str, str]:
    """Those of all sources: there is one header for them."""
    found = [source["cookie"] for source in sources if "cookie" in source]
    return {"cookie": "; ".join(found)} if found else {}


def _secrets(given: Mapping[str, str], client: httpx2.AsyncClient) -> list[bytes]:
    """What must not come back in a result: services do repeat what they were sent."""
    values = [*given.values(), client.headers.get("authorization", "")]
    values += [value.partition(" ")[2] for value in values]
    values += [one.partition("=")[2] for one in given.get("cookie", "").split("; ")]
    return [value.encode() for value in values if len(value) >= _SHORTEST_SECRET]


def _without(body: bytes, secrets: Iterable[bytes]) -> bytes:
    for secret in secrets:
        body = body.replace(secret, _HIDDEN)
    return body
