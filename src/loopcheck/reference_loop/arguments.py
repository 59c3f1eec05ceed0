"""The text of a call's arguments, read strictly.

A tool runs with exactly what the model wrote, or not at all. So the text must be one JSON object
by RFC 8259, without repairs, and without the two things that the standard leaves open and that
parsers decide differently: duplicate member names and numbers that do not fit.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from dataclasses import dataclass
from typing import Final, NoReturn, TypeAlias

JsonObject: TypeAlias = dict[str, object]

MAX_BYTES: Final = 1024 * 1024
MAX_DEPTH: Final = 100

_STRING_OR_BRACKET: Final = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[{\]}]', re.DOTALL)


@dataclass(frozen=True, slots=True)
class ArgumentError(Exception):
    """The text is no usable JSON object. `code` names the reason, `message` is for the model."""

    code: str
    message: str

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


def parse(text: str) -> JsonObject:
    """The arguments that this text states; an empty text states none.

    Raises ArgumentError for everything else that is not one JSON object within the bounds.
    """
    if text == "":
        return {}
    _check_bounds(text)
    try:
        value: object = json.loads(
            text,
            object_pairs_hook=_members,
            parse_constant=_refuse_constant,
            parse_float=_finite,
        )
    except ValueError as error:
        raise ArgumentError("invalid_json", f"the arguments are not valid JSON: {error}") from None
    if not isinstance(value, dict):
        raise ArgumentError("not_an_object", "the arguments must be one JSON object")
    return value


def canonical(arguments: object) -> str:
    """One text for all arguments that are equal as JSON."""
    return json.dumps(arguments, sort_keys=True, separators=(",", ":"))


def digest(arguments: object) -> str:
    """Stands for these arguments where they themselves must not be shown."""
    return hashlib.sha256(canonical(arguments).encode()).hexdigest()


def _check_bounds(text: str) -> None:
    if len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise ArgumentError("too_large", f"the arguments exceed {MAX_BYTES} bytes")
    depth = 0
    for match in _STRING_OR_BRACKET.finditer(text):
        if match[0] in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise ArgumentError("too_deep", f"the arguments nest deeper than {MAX_DEPTH}")
        elif match[0] in "]}":
            depth -= 1


def _members(pairs: list[tuple[str, object]]) -> JsonObject:
    members: JsonObject = {}
    for name, value in pairs:
        if name in members:
            raise ArgumentError("duplicate_member", f"the member {name!r} is given twice")
        members[name] = value
    return members


def _refuse_constant(word: str) -> NoReturn:
    raise ArgumentError("invalid_number", f"{word} is no JSON number")


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ArgumentError("invalid_number", f"{digits} is too large for a number")
    return number
