"""Values for JSON Schemas satisfy them, and the same seed gives the same value."""

from __future__ import annotations

import jsonschema
import pytest

from loopcheck.fake_providers.auto import NoValueError
from loopcheck.fake_providers.wire import JsonObject
from loopcheck.harness.schema_values import value_for

POINT: JsonObject = {
    "type": "object",
    "properties": {"x": {"type": "number", "exclusiveMinimum": 0, "maximum": 1}},
    "required": ["x"],
    "additionalProperties": False,
}


def closed(**properties: JsonObject) -> JsonObject:
    """A schema of the kind that strict tools have."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


SCHEMAS: dict[str, JsonObject] = {
    "empty": {},
    "no properties": {"type": "object", "properties": {}},
    "plain": closed(city={"type": "string"}, seats={"type": "integer", "minimum": 1}),
    "optional": {"type": "object", "properties": {"city": {"type": "string"}}},
    "enum": closed(unit={"enum": ["C", "F"]}, kind={"const": "z"}),
    "root enum": {"enum": ["only"]},
    "root list": {"type": "array", "items": {"type": "integer"}, "minItems": 3},
    "pattern": closed(id={"type": "string", "pattern": r"^[A-Z]{2}-\d+$"}),
    "lengths": closed(text={"type": "string", "minLength": 30, "maxLength": 40}),
    "range": closed(n={"type": "integer", "minimum": 100, "maximum": 103}),
    "nullable": closed(a={"anyOf": [{"type": "string"}, {"type": "null"}]}),
    "types": closed(a={"type": ["integer", "null"], "minimum": 2}),
    "one of": closed(a={"oneOf": [{"type": "integer", "multipleOf": 5}, POINT]}),
    "all of": {"allOf": [closed(a={"type": "integer"}), {"minProperties": 1}]},
    "references": {"$defs": {"P": POINT}, **closed(p={"$ref": "#/$defs/P"})},
    "unique": closed(a={"type": "array", "items": POINT, "minItems": 2, "uniqueItems": True}),
    "tuple": closed(
        a={"type": "array", "prefixItems": [{"type": "string"}, {"type": "number"}], "minItems": 2}
    ),
    "recursive": {
        "$defs": {
            "T": closed(
                label={"type": "string"}, kids={"type": "array", "items": {"$ref": "#/$defs/T"}}
            )
        },
        "$ref": "#/$defs/T",
    },
    "map": {"type": "object", "additionalProperties": {"type": "integer"}, "minProperties": 2},
    "condition": {
        "type": "object",
        "properties": {"kind": {"enum": ["a", "b"]}, "more": {}},
        "required": ["kind"],
        "if": {"properties": {"kind": {"const": "a"}}},
        "then": {"required": ["more"]},
    },
    "not": closed(n={"type": "integer", "not": {"multipleOf": 2}}),
    "untyped": {"properties": {"q": {"type": "string"}}, "required": ["q"]},
    "awkward names": closed(
        properties={"type": "string"}, type={"type": "integer"}, items={"type": "boolean"}
    ),
}


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
def test_values_satisfy_their_schema(schema: JsonObject) -> None:
    validator = jsonschema.Draft202012Validator(schema)
    for seed in (0, 1, 2, 281_474_976_710_655):
        value = value_for(schema, seed)
        validator.validate(value)
        assert value_for(schema, seed) == value


def test_another_seed_gives_another_value() -> None:
    values = [value_for(SCHEMAS["plain"], seed * 1000) for seed in range(5)]
    assert len({repr(value) for value in values}) > 1


def test_words_and_times_are_plausible() -> None:
    schema = closed(word={"type": "string"}, at={"type": "string", "format": "date-time"})
    value = value_for(schema, 7)
    assert isinstance(value, dict)
    assert value["word"].isalpha()
    assert value["at"].endswith("Z")


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({"type": "nonsense"}, "the schema is not valid"),
        ({"type": "object", "not": {}}, "none of 60 values satisfies the schema"),
    ],
)
def test_a_schema_without_value_is_told(schema: JsonObject, why: str) -> None:
    with pytest.raises(NoValueError, match=why):
        value_for(schema, 0)
