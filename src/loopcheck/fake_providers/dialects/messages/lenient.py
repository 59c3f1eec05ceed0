"""Makes an object of arguments that are no whole JSON.

A whole response carries tool input as an object, so text that is cut or wrong cannot be sent as
it is; the service then sends what its own lenient parser makes of it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator

from loopcheck.fake_providers.wire import JsonObject

_CLOSER = {"{": "}", "[": "]"}


def completed_json(text: str) -> JsonObject:
    """The object that the longest usable beginning of the text stands for; {} when there is none.

    Open strings, lists and objects are closed; a member without its value is left out.
    """
    closings = list(_closings(text))
    for end in range(len(text), 0, -1):
        beginning, closing = text[:end], closings[end]
        if not closing.startswith('"'):
            beginning = beginning.rstrip().removesuffix(",")
        value = _sendable(beginning + closing)
        if value is not None:
            return value
    return {}


def _sendable(text: str) -> JsonObject | None:
    try:
        value = json.loads(text, parse_constant=_refuse, parse_float=_finite)
        # A cut surrogate pair leaves half a character, which no response can carry.
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _closings(text: str) -> Iterator[str]:
    """What would close the text at each length, from 0."""
    open_parts: list[str] = []
    in_string = escaped = False
    yield ""
    for character in text:
        if in_string:
            in_string = escaped or character != '"'
            escaped = character == "\\" and not escaped
        elif character == '"':
            in_string = True
        elif character in _CLOSER:
            open_parts.append(_CLOSER[character])
        elif open_parts and character == open_parts[-1]:
            open_parts.pop()
        yield ('"' if in_string else "") + "".join(reversed(open_parts))


def _refuse(name: str) -> float:
    raise ValueError(f"{name} is no JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is too large for a number")
    return number
