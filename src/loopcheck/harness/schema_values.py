"""Values that satisfy a JSON Schema, the same ones for the same seed.

Two libraries do the work: one makes the schema a pydantic model, the other fills the model. What
they cannot express is written in simpler words first, so each value is held to the schema itself
before it is given away.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from typing import Any, Final

from loopcheck.fake_providers.auto import NoValueError
from loopcheck.fake_providers.wire import JsonObject

_NEEDED: Final = ("json_schema_to_pydantic", "polyfactory")
_TRIES: Final = 60
_ROOT: Final = "value"
_NAMED_SCHEMAS: Final = ("properties", "$defs", "definitions")
_SCHEMAS: Final = ("items", "additionalProperties", "not", "if", "then", "else")
_SCHEMA_LISTS: Final = ("anyOf", "oneOf", "allOf", "prefixItems")


def is_installed() -> bool:
    """Whether the libraries are there; they come with the extra `serve`."""
    return all(find_spec(name) is not None for name in _NEEDED)


def value_for(schema: JsonObject, seed: int) -> object:
    """A value that satisfies this schema. Raises NoValueError where none is found."""
    # A server that answers with text only starts sooner without it.
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError

    try:
        Draft202012Validator.check_schema(schema)
        validator = Draft202012Validator(schema)
        for value in _candidates(schema, seed):
            if validator.is_valid(value):
                return value
    except SchemaError as error:
        raise NoValueError(f"the schema is not valid: {error.message}") from None
    except Exception as error:
        # The libraries fail in many ways on schemas that are beyond them.
        raise NoValueError(f"{type(error).__name__}: {error}") from error
    raise NoValueError(f"none of {_TRIES} values satisfies the schema")


def _candidates(schema: JsonObject, seed: int) -> Iterator[Any]:
    from loopcheck.harness.model_values import values_of_model

    yield from (*_listed(schema, "const"), *_listed(schema, "enum"))
    definitions: JsonObject = {
        key: schema[key] for key in ("$defs", "definitions") if key in schema
    }
    inner = {key: value for key, value in schema.items() if key not in definitions}
    # A property of an object can be anything; a model at the root must be an object.
    whole: JsonObject = {
        "type": "object",
        "properties": {_ROOT: inner},
        "required": [_ROOT],
        **definitions,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for model in values_of_model(_simpler(whole), seed, tries=_TRIES):
            yield model[_ROOT]


def _listed(schema: JsonObject, key: str) -> list[object]:
    if key not in schema:
        return []
    value = schema[key]
    return value if key == "enum" and isinstance(value, list) else [value]


def _simpler(schema: object) -> JsonObject:
    """The schema in words that the libraries know; it may allow more than it did."""
    if not isinstance(schema, dict):
        return {}
    made = {key: _entry(key, value) for key, value in schema.items() if key != "uniqueItems"}
    if made.get("type") == "array" or "prefixItems" in made:
        _rewrite_tuple(made)
    if made.get("type") == "object" or "properties" in made:
        _rewrite_map(made)
    return made


def _entry(key: str, value: object) -> object:
    if key in _NAMED_SCHEMAS and isinstance(value, dict):
        return {name: _simpler(entry) for name, entry in value.items()}
    if key in _SCHEMAS and isinstance(value, dict):
        return _simpler(value)
    if key in _SCHEMA_LISTS and isinstance(value, list):
        return [_simpler(entry) for entry in value]
    return value


def _rewrite_tuple(schema: JsonObject) -> None:
    """A tuple is a list of that length whose entries are of any of its types."""
    places = schema.pop("prefixItems", None)
    if isinstance(places, list):
        size = len(places)
        schema.update(type="array", items={"anyOf": places}, minItems=size, maxItems=size)
    elif not isinstance(schema.get("items"), dict):
        schema["items"] = {"type": "string"}


def _rewrite_map(schema: JsonObject) -> None:
    """A map that must not be empty has the properties that make it so."""
    schema["type"] = "object"
    properties = schema.get("properties")
    named: JsonObject = properties if isinstance(properties, dict) else {}
    least = schema.pop("minProperties", 0)
    missing = least - len(named) if isinstance(least, int) else 0
    entry = schema.get("additionalProperties")
    if missing > 0 and entry is not False:
        shape: object = entry if isinstance(entry, Mapping) else {"type": "string"}
        named = {**named, **{f"key{n}": shape for n in range(1, missing + 1)}}
        required = schema.get("required")
        schema["properties"] = named
        schema["required"] = sorted({*(required if isinstance(required, list) else []), *named})
