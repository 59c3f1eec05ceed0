"""JSON Schemas of tools: whether they are schemas, and what they accept. Nothing is fetched."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from jsonschema import Draft202012Validator, SchemaError
from referencing import Registry
from referencing.exceptions import Unresolvable
from referencing.jsonschema import SchemaRegistry

from loopcheck.harness.scenario.errors import did_you_mean
from loopcheck.harness.scenario.yaml_source import Path

_NOTHING_ELSE: SchemaRegistry = Registry()
_TYPES: Final = ("string", "integer", "number", "boolean", "object", "array", "null")


def complaint(schema: Mapping[str, object]) -> tuple[Path, str, str] | None:
    """Where a schema is no JSON Schema 2020-12, why, and a hint; None for one that is."""
    return _complaint(json.dumps(schema))


@lru_cache(maxsize=1024)  # the tools of a catalogue are much alike
def _complaint(text: str) -> tuple[Path, str, str] | None:
    try:
        Draft202012Validator.check_schema(json.loads(text))
    except SchemaError as error:
        path = tuple(error.absolute_path)
        if path and path[-1] == "type" and isinstance(error.instance, str):
            hint = did_you_mean(error.instance, _TYPES)
            return path, f"{error.instance!r} is no type", hint
        return path, error.message, ""
    return None


def unmet(schema: object, path: Sequence[str | int] = ()) -> Iterator[Path]:
    """Where a schema requires a property that it does not allow, so that nothing is accepted."""
    if isinstance(schema, dict):
        properties = schema.get("properties")
        names = schema.get("required")
        if schema.get("additionalProperties") is False and "patternProperties" not in schema:
            allowed = properties if isinstance(properties, dict) else {}
            for number, name in enumerate(names if isinstance(names, list) else ()):
                if name not in allowed:
                    yield (*path, "required", number)
        for key, value in (properties if isinstance(properties, dict) else {}).items():
            yield from unmet(value, (*path, "properties", key))
        yield from unmet(schema.get("items"), (*path, "items"))


def accepts(schema: Mapping[str, object], value: object) -> bool:
    """Whether the schema accepts a value. A schema that cannot be applied accepts everything."""
    if complaint(schema) is not None:
        return True
    instance: Any = value  # the stubs want a JSON type of their own
    try:
        return _validator(json.dumps(schema)).is_valid(instance)
    except (Unresolvable, re.error, RecursionError):
        return True


@lru_cache(maxsize=1024)
def _validator(text: str) -> Draft202012Validator:
    return Draft202012Validator(json.loads(text), registry=_NOTHING_ELSE)
