"""Rules about the tools that a request describes; both OpenAI protocols compile them alike."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from loopcheck.fake_providers.dialects.openai_common import invalid
from loopcheck.fake_providers.dialects.openai_rules import ill_formed, long_text, over
from loopcheck.fake_providers.wire import JsonObject, ServiceError

NAME_PATTERN: Final = "^[a-zA-Z0-9_-]+$"


@dataclass(frozen=True, slots=True)
class Described:
    """A function as the request describes it, and where: `path` leads to its fields."""

    path: str
    function: JsonObject

    @property
    def name(self) -> object:
        return self.function.get("name")


def is_ill_named(name: object) -> bool:
    """Whether a function name has letters that are not allowed."""
    return isinstance(name, str) and re.fullmatch(NAME_PATTERN, name) is None


def ill_named(tools: Iterable[Described]) -> Iterator[ServiceError]:
    """Tools whose name has letters that are not allowed."""
    for tool in tools:
        if is_ill_named(tool.name):
            yield ill_formed(f"{tool.path}.name", NAME_PATTERN)


def long_named(tools: Iterable[Described], limit: int) -> Iterator[ServiceError]:
    """Tools whose name is too long."""
    for tool in tools:
        if length := over(tool.name, limit):
            yield long_text(f"{tool.path}.name", limit, length)


def not_objects(tools: Iterable[Described]) -> Iterator[ServiceError]:
    """Tools whose parameters are no object; an empty schema takes none and is accepted."""
    for tool in tools:
        schema = tool.function.get("parameters")
        if isinstance(schema, dict) and schema and schema.get("type") != "object":
            found = schema.get("type")
            yield _uncompiled(
                tool,
                f"schema must be a JSON Schema of 'type: \"object\"', got 'type: \"{found}\"'.",
            )


def not_closed(tools: Iterable[Described]) -> Iterator[ServiceError]:
    """Strict tools whose schema leaves something open."""
    for tool in tools:
        schema = tool.function.get("parameters")
        if tool.function.get("strict") is True and isinstance(schema, dict):
            for complaint in _open_places(schema, ()):
                yield _uncompiled(tool, complaint)


def _uncompiled(tool: Described, complaint: str) -> ServiceError:
    return invalid(
        f"Invalid schema for function '{tool.name}': {complaint}",
        param=f"{tool.path}.parameters",
        code="invalid_function_parameters",
    )


def _open_places(schema: JsonObject, context: tuple[str, ...]) -> Iterator[str]:
    properties = schema.get("properties")
    fields = properties if isinstance(properties, dict) else {}
    if schema.get("type") == "object":
        yield from _openings(schema, fields, f"In context={context}, ")
    for key, inner in fields.items():
        yield from _inside(inner, (*context, "properties", str(key)))
    yield from _inside(schema.get("items"), (*context, "items"))
    branches = schema.get("anyOf")
    for position, inner in enumerate(branches if isinstance(branches, list) else []):
        yield from _inside(inner, (*context, "anyOf", str(position)))


def _inside(schema: object, context: tuple[str, ...]) -> Iterator[str]:
    if isinstance(schema, dict):
        yield from _open_places(schema, context)


def _openings(schema: JsonObject, fields: JsonObject, where: str) -> Iterator[str]:
    if schema.get("additionalProperties") is not False:
        yield where + "'additionalProperties' is required to be supplied and to be false."
    required = schema.get("required")
    missing = [key for key in fields if not isinstance(required, list) or key not in required]
    if missing:
        yield (
            where + "'required' is required to be supplied and to be an array including every "
            f"key in properties. Missing '{missing[0]}'."
        )
