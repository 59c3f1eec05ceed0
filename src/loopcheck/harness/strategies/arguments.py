"""Arguments that a JSON Schema accepts, and arguments that it almost accepts."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from jsonschema import Draft202012Validator

from loopcheck.harness import schema_values
from loopcheck.harness.scenario.json_text import compact

JsonSchema = Mapping[str, object]
Arguments = dict[str, object]

# What readers of arguments stumble over: numbers in text, brackets, escapes, other scripts.
_TRAPS: Final = ("12", "E1", "null", "}", '"', "\\", "a b", "ü", "日本", "🎫", "\n", "{}", "[1]")
_CHARACTERS: Final = st.characters(exclude_categories=["Cs"])
_TEXTS: Final = st.one_of(st.text(_CHARACTERS, max_size=6), st.sampled_from(_TRAPS))
_JSON: Final[SearchStrategy[object]] = st.one_of(
    _TEXTS, st.integers(-99, 99), st.booleans(), st.none()
)
_EXACT: Final = 2**53
_NEAR: Final = 99
_COMPOSED: Final = ("$ref", "allOf", "not", "if", "pattern", "format", "dependentRequired")


def arguments(schema: JsonSchema) -> SearchStrategy[Arguments]:
    """Arguments that this schema of a tool accepts, short ones first. Raises NoValueError while
    it draws where the schema is beyond it."""
    return _arguments(compact(schema))


@cache
def _arguments(text: str) -> SearchStrategy[Arguments]:
    """The same strategy for the same schema: making one takes longer than drawing from it."""
    schema: JsonSchema = json.loads(text)
    drawn = _composed(schema) if _is_composed(schema) else values(schema)
    objects = drawn.filter(_is_object).map(_as_object)
    return objects.filter(_accepts(schema))


def wrong_arguments(schema: JsonSchema) -> SearchStrategy[Arguments]:
    """Arguments that are wrong in one place: another type, one more, one less."""
    wrong = arguments(schema).flatmap(_spoiled)
    is_right = _accepts(schema)
    return wrong.filter(lambda value: not is_right(value))


def _accepts(schema: JsonSchema) -> Callable[[Any], bool]:
    validator = Draft202012Validator(schema)
    return lambda value: validator.is_valid(value)


def values(schema: JsonSchema) -> SearchStrategy[object]:
    """Values for the plain part of a schema; those that other keywords forbid are among them."""
    if "const" in schema:
        return st.just(schema["const"])
    for key in ("enum", "anyOf", "oneOf", "type"):
        listed = schema.get(key)
        if isinstance(listed, list) and listed:
            return _one_of(key, listed, schema)
    kind = schema.get("type", "object" if "properties" in schema else None)
    return _of_type(kind, schema)


def _one_of(key: str, listed: list[object], schema: JsonSchema) -> SearchStrategy[object]:
    if key == "enum":
        return st.sampled_from(listed)
    rest = {name: value for name, value in schema.items() if name != key}
    if key == "type":
        return st.one_of(*(values({**rest, "type": kind}) for kind in listed))
    return st.one_of(*(values({**rest, **_mapping(entry)}) for entry in listed))


def _of_type(kind: object, schema: JsonSchema) -> SearchStrategy[object]:
    match kind:
        case "string":
            return _strings(schema)
        case "integer":
            return _integers(*_bounds(schema, _EXACT))
        case "number":
            low, high = _bounds(schema, 10**6)
            return st.one_of(
                st.integers(low, high), st.floats(low, high, allow_subnormal=False, width=32)
            )
        case "boolean":
            return st.booleans()
        case "null":
            return st.none()
        case "array":
            return _arrays(schema)
        case "object":
            return _objects(schema)
        case _:
            return _JSON


def _strings(schema: JsonSchema) -> SearchStrategy[object]:
    least, most = _whole(schema, "minLength", 0), _whole(schema, "maxLength", None)
    if least or most is not None:
        return st.text(_CHARACTERS, min_size=least or 0, max_size=most or (least or 0) + 6)
    return _TEXTS


def _integers(low: int, high: int) -> SearchStrategy[object]:
    """Whole numbers, most of them small enough to be read."""
    nearest = min(max(low, 0), high)
    return st.one_of(
        st.integers(max(low, nearest - _NEAR), min(high, nearest + _NEAR)), st.integers(low, high)
    )


def _bounds(schema: JsonSchema, most: int) -> tuple[int, int]:
    """The whole numbers between which the schema wants its number."""
    low = _whole(schema, "minimum", _whole(schema, "exclusiveMinimum", -most))
    high = _whole(schema, "maximum", _whole(schema, "exclusiveMaximum", most))
    return (low if low is not None else -most), (high if high is not None else most)


def _arrays(schema: JsonSchema) -> SearchStrategy[object]:
    places = schema.get("prefixItems")
    if isinstance(places, list):
        return st.tuples(*(values(_mapping(place)) for place in places)).map(list)
    least, most = _whole(schema, "minItems", 0) or 0, _whole(schema, "maxItems", None)
    return st.lists(
        values(_mapping(schema.get("items"))),
        min_size=least,
        max_size=least + 3 if most is None else most,
        unique_by=repr if schema.get("uniqueItems") is True else None,
    )


def _objects(schema: JsonSchema) -> SearchStrategy[object]:
    named = {
        name: values(_mapping(one)) for name, one in _mapping(schema.get("properties")).items()
    }
    required = schema.get("required")
    wanted = [name for name in named if isinstance(required, list) and name in required]
    return st.fixed_dictionaries(
        {name: named[name] for name in wanted},
        optional={name: one for name, one in named.items() if name not in wanted},
    )


def _composed(schema: JsonSchema) -> SearchStrategy[object]:
    """Values of schemas whose parts depend on each other, as other libraries make them."""
    return st.integers(0, 99).map(lambda seed: schema_values.value_for(dict(schema), seed))


def _is_composed(schema: object) -> bool:
    if isinstance(schema, list):
        return any(map(_is_composed, schema))
    if not isinstance(schema, Mapping):
        return False
    # The names of properties are no keywords.
    named = _mapping(schema.get("properties"))
    parts = [part for key, part in schema.items() if key != "properties"]
    keys = any(key in schema for key in _COMPOSED)
    return keys or any(map(_is_composed, [*named.values(), *parts]))


def _spoiled(value: Arguments) -> SearchStrategy[Arguments]:
    more: SearchStrategy[Arguments] = st.just({**value, "more": 1})
    if not value:
        return more
    name = st.sampled_from(sorted(value))
    less = name.map(lambda gone: {key: kept for key, kept in value.items() if key != gone})
    other = name.map(lambda key: {**value, key: _other_type(value[key])})
    return st.one_of(other, less, more)


def _other_type(value: object) -> object:
    """The value as models get its type wrong: a number in text, one value for a list of it."""
    if isinstance(value, bool | int | float):
        return str(value)
    if isinstance(value, str):
        return int(value) if value.isascii() and value.isdecimal() else [value]
    return None


def _whole(schema: JsonSchema, key: str, default: int | None) -> int | None:
    value = schema.get(key)
    return round(value) if isinstance(value, int | float) else default


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _is_object(value: object) -> bool:
    return isinstance(value, dict)


def _as_object(value: object) -> Arguments:
    assert isinstance(value, dict)
    return value
