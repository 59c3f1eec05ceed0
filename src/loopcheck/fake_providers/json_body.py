"""Reads the JSON of a request as strictly as the services do."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Final, NoReturn

MAX_DEPTH: Final = 200

_JSON: Final = "application/json"
_HALF_PAIR: Final = re.compile(rb"\\u[dD][89a-fA-F]")


def parsed(body: bytes) -> object:
    """The value. Raises ValueError, which says why, for what is no JSON for a service: bad UTF-8,
    NaN and infinity, halves of surrogate pairs, and more nesting than anyone means."""
    try:
        value = _DECODE(body.decode())
    except RecursionError:
        raise ValueError(f"nested deeper than {MAX_DEPTH} levels") from None
    if body.count(b"[") + body.count(b"{") > MAX_DEPTH and _is_deep(value):
        raise ValueError(f"nested deeper than {MAX_DEPTH} levels")
    if _HALF_PAIR.search(body):
        json.dumps(value, ensure_ascii=False).encode()
    return value


def is_json(headers: Mapping[str, str]) -> bool:
    """Whether a request says that its body is JSON, or says nothing of it."""
    media_type = headers.get("content-type", _JSON).partition(";")[0]
    return media_type.strip().lower() == _JSON


def _is_deep(value: object) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        inner: list[object] = []
        for holder in level:
            if isinstance(holder, dict):
                inner.extend(holder.values())
            elif isinstance(holder, list):
                inner.extend(holder)
        if not inner:
            return False
        level = inner
    return any(isinstance(holder, dict | list) for holder in level)


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is beyond all bounds")
    return number


_DECODE: Final = json.JSONDecoder(parse_constant=_refuse, parse_float=_finite).decode
