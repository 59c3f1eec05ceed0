"""What a Responses request must look like to be read at all. Path style: `input[0].role`."""

from __future__ import annotations

from collections.abc import Sequence

from loopcheck.fake_providers.dialects.openai_common import (
    missing,
    objects,
    require_text,
    wrong_type,
)
from loopcheck.fake_providers.dialects.responses.items import kind_of
from loopcheck.fake_providers.wire import JsonObject

_TEXT_OR_PARTS = "one of an array of objects or string"
_TEXTS = ("call_id", "name", "arguments", "input")
_TEXTS_OR_PARTS = ("content", "output")
_CHECKED = (
    "message",
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "custom_tool_call_output",
)


def model(body: JsonObject) -> str:
    """The model that was asked for."""
    value = body.get("model")
    if not value:
        raise missing("model")
    if not isinstance(value, str):
        raise wrong_type("model", "a string", value)
    return value


def sent(body: JsonObject) -> Sequence[JsonObject]:
    """The input as items, whatever their kind; a bare string is a user message."""
    value = body.get("input")
    if isinstance(value, str):
        return [{"type": "message", "role": "user", "content": value}]
    continued = ("previous_response_id", "conversation")
    if value is None and all(body.get(key) is None for key in continued):
        raise missing("input")
    return objects(body, "input")


def check_types(items: Sequence[JsonObject]) -> None:
    """Refuses items of a tool round whose fields have the wrong JSON type."""
    for position, item in enumerate(items):
        path = f"input[{position}]"
        if not kind_of(item):
            raise wrong_type(f"{path}.type", "a string", item["type"])
        if kind_of(item) not in _CHECKED:
            continue
        for key in _TEXTS:
            if key in item:
                require_text(item, key, path)
        for key in _TEXTS_OR_PARTS:
            if key in item and not isinstance(item[key], str | list):
                raise wrong_type(f"{path}.{key}", _TEXT_OR_PARTS, item[key])


def tools(body: JsonObject) -> Sequence[JsonObject]:
    """The tools, each with its name where its kind has one."""
    return _tools(body, "")


def _tools(holder: JsonObject, within: str) -> Sequence[JsonObject]:
    found = objects(holder, "tools")
    for position, tool in enumerate(found):
        path = f"{within}tools[{position}]"
        require_text(tool, "type", path)
        if tool["type"] in ("function", "custom", "namespace"):
            require_text(tool, "name", path)
        if tool["type"] == "namespace":
            _tools(tool, f"{path}.")
    return found


def previous(body: JsonObject) -> str | None:
    """The stored response that this request continues."""
    value = body.get("previous_response_id")
    if value is not None and not isinstance(value, str):
        raise wrong_type("previous_response_id", "a string", value)
    return value


def conversation(body: JsonObject) -> str | None:
    """The stored conversation that this request belongs to."""
    value = body.get("conversation")
    named = value.get("id") if isinstance(value, dict) else value
    if named is not None and not isinstance(named, str):
        raise wrong_type("conversation", "one of a string or object", value)
    return named
