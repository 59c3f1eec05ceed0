"""Rules about the tools that a request offers, and about the choice among them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from loopcheck.fake_providers.dialects.interface import Memory, Rule
from loopcheck.fake_providers.dialects.messages import state
from loopcheck.fake_providers.dialects.messages.blocks import sides, text_of
from loopcheck.fake_providers.dialects.messages.errors import field_error, invalid
from loopcheck.fake_providers.wire import JsonObject, ServiceError

_NAME: Final = "^[a-zA-Z0-9_-]{1,128}$"


def tools_of(body: JsonObject, memory: Memory) -> list[JsonObject]:
    """The tools of the request or of its thread; what is no object is left out."""
    tools = state.setting("tools", body, memory)
    return [tool for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else []


def _bad_name(
    history: Sequence[JsonObject], body: JsonObject, memory: Memory
) -> ServiceError | None:
    for path, tool in _custom(body):
        name = tool.get("name")
        if isinstance(name, str) and not re.fullmatch(_NAME.strip("^$"), name):
            return field_error(f"{path}.name", f"String should match pattern '{_NAME}'")
    return None


def _bad_schema(
    history: Sequence[JsonObject], body: JsonObject, memory: Memory
) -> ServiceError | None:
    for path, tool in _custom(body):
        if "input_schema" not in tool:
            continue
        schema = tool["input_schema"]
        if not isinstance(schema, dict):
            return field_error(f"{path}.input_schema", "Input should be an object")
        if "type" not in schema:
            return field_error(f"{path}.input_schema.type", "Field required")
        if schema["type"] != "object":
            return field_error(f"{path}.input_schema.type", "Input should be 'object'")
    return None


def _same_name(
    history: Sequence[JsonObject], body: JsonObject, memory: Memory
) -> ServiceError | None:
    names = [name for tool in tools_of(body, memory) if (name := text_of(tool, "name"))]
    if len(set(names)) == len(names):
        return None
    return invalid("tools: Tool names must be unique.", "tools")


def _empty_list(
    history: Sequence[JsonObject], body: JsonObject, memory: Memory
) -> ServiceError | None:
    if body.get("tools") != []:
        return None
    return field_error("tools", "List should have at least 1 item after validation, not 0")


def _choice(history: Sequence[JsonObject], body: JsonObject, memory: Memory) -> ServiceError | None:
    choice = body.get("tool_choice")
    kind = text_of(choice, "type") if isinstance(choice, dict) else ""
    tools = tools_of(body, memory)
    if kind == "any" and not tools and not body.get("mcp_servers"):
        return invalid("tool_choice.any may only be specified while providing tools", "tool_choice")
    if kind != "tool" or not isinstance(choice, dict) or _takes_any_name(body, tools):
        return None
    name = text_of(choice, "name")
    if name in [text_of(tool, "name") for tool in tools]:
        return None
    return invalid(f"Tool '{name}' not found in provided tools", "tool_choice")


def _undeclared(
    history: Sequence[JsonObject], body: JsonObject, memory: Memory
) -> ServiceError | None:
    used = any(
        side.of_kind(kind) for side in sides(history) for kind in ("tool_use", "tool_result")
    )
    if not used or tools_of(body, memory):
        return None
    return invalid(
        "Requests which include `tool_use` or `tool_result` blocks must define tools.", "tools"
    )


def _reference(
    history: Sequence[JsonObject], body: JsonObject, memory: Memory
) -> ServiceError | None:
    tools = tools_of(body, memory)
    known = {text_of(tool, "name") for tool in tools}
    if _takes_any_name(body, tools):
        return None
    for name in _references(list(history)):
        if name not in known:
            return invalid(f"Tool reference '{name}' not found in available tools")
    return None


def _takes_any_name(body: JsonObject, tools: Sequence[JsonObject]) -> bool:
    """Whether there are tools whose names the request does not tell: those of MCP servers."""
    return bool(body.get("mcp_servers")) or any("name" not in tool for tool in tools)


def _references(value: object) -> Iterator[str]:
    """The names in all references within content; the input of a tool is no content."""
    if isinstance(value, list):
        for entry in value:
            yield from _references(entry)
    elif isinstance(value, dict):
        if value.get("type") == "tool_reference":
            yield text_of(value, "tool_name") or text_of(value, "name")
        for key in ("content", "tool_references", "tool"):
            yield from _references(value.get(key))


def _custom(body: JsonObject) -> Iterator[tuple[str, JsonObject]]:
    tools = body.get("tools")
    for number, tool in enumerate(tools if isinstance(tools, list) else []):
        if isinstance(tool, dict) and tool.get("type") in (None, "custom"):
            yield f"tools.{number}.custom", tool


RULES: Final = (
    Rule(id="M21", grade="unsure", summary="a list of tools is not empty", check=_empty_list),
    Rule(id="M19", grade="S", summary="tool names keep to their pattern", check=_bad_name),
    Rule(id="M20", grade="R", summary="the schema of a tool is an object's", check=_bad_schema),
    Rule(id="M18", grade="S", summary="tool names are unique", check=_same_name),
    Rule(id="M-choice", grade="S", summary="the choice is among the tools", check=_choice),
    Rule(
        id="M17",
        grade="unsure",
        summary="a conversation with tool blocks comes with tools",
        check=_undeclared,
    ),
    Rule(id="M23", grade="R", summary="referenced tools are defined", check=_reference),
)
