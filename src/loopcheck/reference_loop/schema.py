"""What a tool's JSON Schema says about arguments: JSON Schema 2020-12."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, ValidationError
from referencing import Registry
from referencing.exceptions import Unresolvable

MAX_PROBLEMS: Final = 5
MAX_PROBLEM_CHARACTERS: Final = 300


class InvalidSchema(Exception):
    """A tool's `parameters` are no usable JSON Schema 2020-12 for an object."""


def check(schema: Mapping[str, object]) -> None:
    """Raises InvalidSchema unless this is a schema that arguments can be validated against."""
    compiled(schema)


def compiled(schema: Mapping[str, object]) -> Draft202012Validator:
    """The validator for this schema, made once. Raises InvalidSchema."""
    return _validator(json.dumps(schema, sort_keys=True))


def problems(
    schema: Mapping[str, object] | Draft202012Validator, arguments: Mapping[str, object]
) -> list[str]:
    """What the schema refuses in these arguments, in words, with where; empty if nothing.

    Raises InvalidSchema when the schema refers to something that cannot be resolved.
    """
    validator = schema if isinstance(schema, Draft202012Validator) else compiled(schema)
    instance: Any = arguments  # the stubs want a JSON type of their own
    try:
        errors = sorted(validator.iter_errors(instance), key=lambda error: error.json_path)
    except (Unresolvable, RecursionError) as error:
        raise InvalidSchema(f"the schema's references cannot be resolved: {error}") from error
    return [_sentence(error) for error in errors[:MAX_PROBLEMS]]


@lru_cache(maxsize=256)
def _validator(schema_text: str) -> Draft202012Validator:
    schema = json.loads(schema_text)
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        where = error.json_path.removeprefix("$").lstrip(".")
        raise InvalidSchema(f"{where}: {error.message}") from None
    if schema.get("type", "object") != "object":
        raise InvalidSchema(f"type must be 'object', not {schema['type']!r}")
    # An empty registry: a schema never makes the loop fetch anything from the network.
    return Draft202012Validator(schema, registry=Registry())


def _sentence(error: ValidationError) -> str:
    message = error.message
    if len(message) > MAX_PROBLEM_CHARACTERS:
        message = message[:MAX_PROBLEM_CHARACTERS] + "…"
    return f"{error.json_path}: {message}"
