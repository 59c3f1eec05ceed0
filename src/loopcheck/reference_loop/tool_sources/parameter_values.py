"""How the value of a parameter becomes a part of the path, the query, a header or a cookie.

What cannot be written so that it is read as it was meant is refused, before anything is sent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, NoReturn, TypeAlias
from urllib.parse import quote

from loopcheck.reference_loop.tools import ToolFailure

Place: TypeAlias = Literal["path", "query", "header", "cookie"]
Pairs: TypeAlias = list[tuple[str, str]]

_HEADER_TEXT: Final = re.compile(r"([\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?)?")
_EXACT_INTEGERS: Final = 2.0**53


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One parameter of an operation; `is_json` says that its values are written as JSON."""

    name: str
    place: Place
    is_required: bool
    schema: object
    description: str
    explode: bool
    is_json: bool

    def written(self, value: object) -> Pairs:
        """Name and text, encoded, once for each time that the parameter is repeated.

        Raises ToolFailure for a value that has no writing.
        """
        if value is None and not self.is_json:
            return self._refuse("null has no writing") if self.is_required else []
        if self.is_json or not isinstance(value, list | dict):
            text = json.dumps(value) if self.is_json else self._plain(value)
            return [(self._key(self.name), self._encoded(text))]
        if not value:
            self._refuse("empty, it cannot be told from one that is left out")
        if self.place == "cookie":
            self._refuse("a cookie holds one value")
        return self._list(value) if isinstance(value, list) else self._object(value)

    def _list(self, values: list[object]) -> Pairs:
        items = [self._item(one) for one in values]
        if self._is_repeated:
            return [(self._key(self.name), item) for item in items]
        return [(self._key(self.name), ",".join(items))]

    def _object(self, members: Mapping[str, object]) -> Pairs:
        items = [(self._item(name), self._item(one)) for name, one in members.items()]
        if self._is_repeated:
            return items
        between = "=" if self.explode else ","
        return [(self._key(self.name), ",".join(f"{name}{between}{one}" for name, one in items))]

    @property
    def _is_repeated(self) -> bool:
        return self.explode and self.place == "query"

    def _key(self, name: str) -> str:
        return name if self.place in ("path", "header") else self._encoded(name)

    def _item(self, value: object) -> str:
        """A value inside another one."""
        text = self._plain(value)
        if self.place == "header" and ("," in text or "=" in text or not text):
            self._refuse("an entry of a list in a header is not empty and has no ',' or '='")
        return self._encoded(text)

    def _plain(self, value: object) -> str:
        if isinstance(value, str):
            return value
        if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT_INTEGERS:
            return str(int(value))
        if value is None or isinstance(value, list | dict):
            self._refuse("only texts, numbers and booleans can stand inside of it")
        return json.dumps(value)

    def _encoded(self, text: str) -> str:
        if self.place == "header":
            if not _HEADER_TEXT.fullmatch(text):
                self._refuse("a header holds printable ASCII, with no space at either end")
            return text
        try:
            return quote(text, safe="")
        except UnicodeEncodeError:
            self._refuse("it is not valid Unicode")

    def _refuse(self, why: str) -> NoReturn:
        raise ToolFailure("invalid_arguments", f"$.{self.name}: {why}")
