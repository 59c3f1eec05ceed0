"""When two JSON values are the same, and when one is a lossless reading of the other.

Frameworks read arguments under the schema: they fill in its defaults, turn `"12"` into 12 for an
integer, and leave out what the function does not take. None of that changes what the model said.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from enum import IntEnum

from loopcheck.fake_providers.wire import JsonObject

_NUMBER = re.compile(r"[+-]?\d+(\.\d*)?([eE][+-]?\d{1,4})?")
_TRUE = frozenset({"true", "1", "yes", "y", "on", "t"})
_FALSE = frozenset({"false", "0", "no", "n", "off", "f"})
_REF_DEPTH = 16


class Reading(IntEnum):
    """How arguments came from what was sent, the plainest first."""

    EXACT = 0
    DEFAULT = 1
    LOSSLESS = 2


def whole_object(text: str) -> JsonObject | None:
    """The JSON object that this text is, by RFC 8259 and without repeated names; None where it
    is none. Empty text is an empty object."""
    if not text.strip():
        return {}
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def ordinary_readings(text: str) -> list[JsonObject]:
    """What parsers in wide use make of a text that is no JSON object by the letter: repeated
    names (the last wins), NaN, raw control characters, null for nothing, JSON within JSON."""
    readings: list[JsonObject] = []
    value: object = text
    for _ in range(2):
        if not isinstance(value, str):
            break
        try:
            value = json.loads(value, strict=False)
        except (ValueError, RecursionError):
            break
        if value is None:
            readings.append({})
        elif isinstance(value, dict):
            readings.append(value)
    return readings


def _unique(pairs: list[tuple[str, object]]) -> JsonObject:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a member name is repeated")
    return members


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


def same(one: object, other: object) -> bool:
    """Whether two values are equal as JSON: true is not 1, and 12.0 is 12."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


def reading(sent: JsonObject, got: JsonObject, schema: Mapping[str, object]) -> Reading | None:
    """How `got` comes from `sent` under the tool's schema; None when a value was changed."""
    return _value(sent, got, schema, schema)


def _value(
    sent: object, got: object, schema: Mapping[str, object], root: Mapping[str, object]
) -> Reading | None:
    if same(sent, got):
        return Reading.EXACT
    alternatives = list(_alternatives(schema, root, _REF_DEPTH))
    found = [_structure(sent, got, alternative, root) for alternative in alternatives]
    readings = [found_one for found_one in found if found_one is not None]
    if readings:
        return min(readings)
    types = {name for alternative in alternatives for name in _types(alternative)}
    return Reading.LOSSLESS if _lossless(sent, got, types) else None


def _alternatives(
    schema: Mapping[str, object], root: Mapping[str, object], depth: int
) -> Iterator[Mapping[str, object]]:
    yield schema
    if depth == 0:
        return
    reference = schema.get("$ref")
    branches: list[object] = [_resolve(reference, root)] if isinstance(reference, str) else []
    for word in ("anyOf", "oneOf", "allOf"):
        listed = schema.get(word)
        branches.extend(listed if isinstance(listed, list | tuple) else ())
    for branch in branches:
        if isinstance(branch, dict):
            yield from _alternatives(branch, root, depth - 1)


def _resolve(reference: str, root: Mapping[str, object]) -> object:
    if not reference.startswith("#"):
        return None
    found: object = root
    for part in reference[1:].split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        found = found.get(name) if isinstance(found, Mapping) else None
    return found


def _types(schema: Mapping[str, object]) -> Iterable[str]:
    declared = schema.get("type")
    names = declared if isinstance(declared, list | tuple) else (declared,)
    return (name for name in names if isinstance(name, str))


def _structure(
    sent: object, got: object, schema: Mapping[str, object], root: Mapping[str, object]
) -> Reading | None:
    if isinstance(sent, dict) and isinstance(got, dict):
        return _members(sent, got, schema, root)
    if isinstance(sent, list) and isinstance(got, list) and len(sent) == len(got):
        items = schema.get("items")
        inner = items if isinstance(items, dict) else {}
        pairs = zip(sent, got, strict=True)
        return _worst(_value(one, other, inner, root) for one, other in pairs)
    return None


def _worst(readings: Iterable[Reading | None]) -> Reading | None:
    worst = Reading.EXACT
    for found in readings:
        if found is None:
            return None
        worst = max(worst, found)
    return worst


def _members(
    sent: JsonObject, got: JsonObject, schema: Mapping[str, object], root: Mapping[str, object]
) -> Reading | None:
    declared = schema.get("properties")
    properties = declared if isinstance(declared, dict) else {}
    required = schema.get("required")
    needed = required if isinstance(required, list | tuple) else ()

    def member(name: str) -> Reading | None:
        inner = properties.get(name)
        inner = inner if isinstance(inner, dict) else {}
        if name in sent and name in got:
            return _value(sent[name], got[name], inner, root)
        value = got[name] if name in got else sent[name]
        if "default" in inner and same(value, inner["default"]):
            return Reading.DEFAULT
        if value is None and (name in sent or name not in needed):
            return Reading.DEFAULT
        # A function that does not take an argument cannot be entered with it.
        is_listed = bool(properties) or schema.get("additionalProperties") is False
        undeclared = name in sent and is_listed and name not in properties
        return Reading.DEFAULT if undeclared else None

    return _worst(member(name) for name in sent.keys() | got.keys())


def _lossless(sent: object, got: object, types: set[str]) -> bool:
    numeric = bool(types & {"integer", "number"})
    if isinstance(got, bool):
        return "boolean" in types and _as_boolean(sent) is got
    if isinstance(sent, bool):
        return _from_boolean(sent, got, types)
    if isinstance(sent, str) and isinstance(got, int | float):
        return numeric and _equal_number(sent, got)
    if isinstance(sent, int | float) and isinstance(got, str):
        return "string" in types and _equal_number(got, sent)
    if isinstance(sent, str) and isinstance(got, dict | list):
        return bool(types & {"array", "object"}) and _is_text_of(sent, got)
    if isinstance(sent, dict | list) and isinstance(got, str):
        return "string" in types and _is_text_of(got, sent)
    return sent == "null" and got is None and "null" in types


def _as_boolean(value: object) -> bool | None:
    word = value.strip().lower() if isinstance(value, str) else None
    if word in _TRUE or (word is None and value == 1):
        return True
    if word in _FALSE or (word is None and value == 0):
        return False
    return None


def _from_boolean(sent: bool, got: object, types: set[str]) -> bool:
    if isinstance(got, str):
        return "string" in types and got.lower() == str(sent).lower()
    return bool(types & {"integer", "number"}) and got == int(sent)


def _equal_number(text: str, number: int | float) -> bool:
    digits = text.strip()
    return bool(_NUMBER.fullmatch(digits)) and Decimal(digits) == Decimal(repr(number))


def _is_text_of(text: str, value: object) -> bool:
    try:
        return same(json.loads(text), value)
    except (ValueError, RecursionError):
        return False
