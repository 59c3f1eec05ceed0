"""The world's tools as an OpenAPI 3.1 document, for agents that make their tools from one."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Final
from urllib.parse import quote

from loopcheck.fake_providers.wire import JsonObject
from loopcheck.harness.scenario.model import Scenario, ToolModel

LOOK_UP: Final = "look_up_operation"
IDEMPOTENCY_KEY: Final = "Idempotency-Key"
# For systems that keep the id of an operation and still carry it out each time they are asked.
OPERATION_ID: Final = "X-Operation-Id"
CALL_ID: Final = "X-Call-Id"

_PROBLEM: Final = "problem-details"
_DATA: Final = frozenset({"const", "enum", "default", "examples"})
_ERRORS: Final[Mapping[str, str]] = {
    "400": "The body is not a JSON object. Nothing was done.",
    "403": "The tool was not allowed to run. Nothing was done.",
    "404": "There is no such tool, or it has no look-up. Nothing was done.",
    "429": "The system is busy. Nothing was done.",
    "500": "The tool failed. Whether anything was done is not known.",
    "502": "The connection to the system was lost. Whether anything was done is not known.",
    "503": "The case has ended. Nothing was done.",
    "504": "The system took too long. Whether anything was done is not known.",
}


def document(scenario: Scenario, root: str) -> JsonObject:
    """Describes what `tool_app` serves below the URL `root`: each tool that a loop can run, and
    the look-up of operations where a tool has one."""
    tools = {name: tool for name, tool in scenario.client_tools.items() if tool.kind != "ask"}
    keys = _keys(tools)
    paths: JsonObject = {
        f"/tools/{quote(name, safe='')}": {"post": _operation(name, tool, keys[name])}
        for name, tool in tools.items()
    }
    looked_up = [name for name, tool in tools.items() if tool.lookup != "none"]
    if looked_up:
        paths["/operations"] = {"post": _look_up(looked_up, tools)}
    schemas = {keys[name]: _parameters(tool, keys[name]) for name, tool in tools.items()}
    return {
        "openapi": "3.1.1",
        "info": {"title": scenario.title, "version": scenario.id or "0"},
        "servers": [{"url": root}],
        "paths": paths,
        "components": {
            "schemas": {**schemas, _PROBLEM: _problem_schema()},
            "responses": {f"status-{status}": _error(status) for status in _ERRORS},
        },
    }


def _keys(tools: Collection[str]) -> dict[str, str]:
    """A name for the schema of each tool, of the characters that components may have."""
    return {
        name: f"arguments-{number}-{re.sub(r'[^a-zA-Z0-9._-]', '_', name)}"
        for number, name in enumerate(tools, 1)
    }


def _operation(name: str, tool: ToolModel, key: str) -> JsonObject:
    described: JsonObject = {"description": tool.description} if tool.description else {}
    about: JsonObject = {
        "x-loopcheck-kind": tool.kind,
        "x-loopcheck-approval": tool.approval,
        "x-loopcheck-deduplicates": tool.deduplicates,
    }
    if tool.operation is not None:
        about["x-loopcheck-operation"] = list(tool.operation)
    return {
        "operationId": name,
        **described,
        **about,
        "parameters": [_header(CALL_ID, "The id of the model's call."), *_operation_id(tool)],
        "requestBody": _body({"$ref": f"#/components/schemas/{key}"}),
        "responses": _responses("200", _result(), *_ERRORS),
    }


def _operation_id(tool: ToolModel) -> list[JsonObject]:
    """The header in which the system takes an id of the caller's own for what is to be done."""
    if tool.deduplicates:
        return [_header(IDEMPOTENCY_KEY, "What comes again under the same id is not done again.")]
    if tool.lookup != "none":
        return [_header(OPERATION_ID, "The id by which the operation can be looked up.")]
    return []


def _look_up(looked_up: list[str], tools: Collection[str]) -> JsonObject:
    name = LOOK_UP
    while name in tools:
        name += "_"
    asked: JsonObject = {
        "type": "object",
        "properties": {
            "tool": {"type": "string", "enum": looked_up},
            "operation_id": {"type": "string"},
        },
        "required": ["tool", "operation_id"],
    }
    found: JsonObject = {
        "type": "object",
        "properties": {
            "status": {"enum": ["found", "absent", "inconclusive"]},
            "found": {"type": ["boolean", "null"], "description": "null: it cannot be told"},
            "result": {"type": "string", "description": "What the operation gave."},
        },
        "required": ["status", "found"],
    }
    return {
        "operationId": name,
        "description": "What became of an operation.",
        "x-loopcheck-kind": "read",
        "requestBody": _body(asked),
        "responses": _responses("200", found, "400", "404"),
    }


def _header(name: str, description: str) -> JsonObject:
    return {"name": name, "in": "header", "description": description, "schema": {"type": "string"}}


def _body(schema: JsonObject) -> JsonObject:
    return {"required": True, "content": {"application/json": {"schema": schema}}}


def _result() -> JsonObject:
    return {
        "type": "object",
        "properties": {
            "result": {"type": "string", "description": "What the model is to be given."},
            "content": {
                "type": "array",
                "items": {"type": "object"},
                "description": "The parts of a result that is more than text, as MCP has them.",
            },
        },
        "required": ["result"],
    }


def _responses(status: str, schema: JsonObject, *errors: str) -> JsonObject:
    answer = {"description": "Done.", "content": {"application/json": {"schema": schema}}}
    return {
        status: answer,
        **{error: {"$ref": f"#/components/responses/status-{error}"} for error in errors},
    }


def _error(status: str) -> JsonObject:
    schema = {"$ref": f"#/components/schemas/{_PROBLEM}"}
    described: JsonObject = {
        "description": _ERRORS[status],
        "content": {"application/problem+json": {"schema": schema}},
    }
    if status == "429":
        wait = "Seconds to wait, where the system says."
        described["headers"] = {"Retry-After": {"description": wait, "schema": {"type": "integer"}}}
    return described


def _problem_schema() -> JsonObject:
    return {
        "type": "object",
        "description": "Problem details, RFC 9457.",
        "properties": {
            "type": {"type": "string", "format": "uri-reference"},
            "title": {"type": "string"},
            "status": {"type": "integer"},
            "detail": {"type": "string"},
            "raises": {"type": "string", "description": "The exception that the tool raised."},
            "retry_after": {"type": "number", "description": "Seconds to wait."},
        },
        "required": ["type", "title", "status", "detail"],
    }


def _parameters(tool: ToolModel, key: str) -> object:
    schema = tool.parameters
    # With an id of its own, a schema's references stay within it wherever it stands.
    return schema if "$id" in schema else _moved(schema, f"#/components/schemas/{key}")


def _moved(schema: object, root: str) -> object:
    """The schema with references that held where it was the whole document made to hold here."""
    if isinstance(schema, list):
        return [_moved(one, root) for one in schema]
    if isinstance(schema, dict):
        return {word: _moved_value(word, value, root) for word, value in schema.items()}
    return schema


def _moved_value(word: str, value: object, root: str) -> object:
    if word == "$ref" and isinstance(value, str) and value.partition("/")[0] == "#":
        return root + value[1:]
    return value if word in _DATA else _moved(value, root)
