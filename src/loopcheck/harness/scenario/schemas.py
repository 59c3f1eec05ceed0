"""JSON Schemas of tools: whether they are schemas, and what they accept. Nothing is fetched."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from jsonschema import Draft202012Validator, SchemaError
from referencing import Registry
from referencing.exceptions import Unresolvable
from referencing.jsonschema import SchemaRegistry

_NOTHING_ELSE: SchemaRegistry = Registry()


def complaint(schema: Mapping[str, object]) -> tuple[Sequence[str | int], str] | None:
    """Where a schema is no JSON Schema 2020-12, and why; None for one that is."""
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        return tuple(error.absolute_path), error.message
    return None


def accepts(schema: Mapping[str, object], value: object) -> bool:
    """Whether the schema accepts a value. A schema that cannot be applied accepts everything."""
    if complaint(schema) is not None:
        return True
    instance: Any = value  # the stubs want a JSON type of their own
    try:
        return Draft202012Validator(schema, registry=_NOTHING_ELSE).is_valid(instance)
    except (Unresolvable, re.error, RecursionError):
        return True
