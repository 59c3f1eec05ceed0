"""The tools of a request as the service repeats them, with what was left out filled in."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Final

from loopcheck.fake_providers.dialects.openai_common import objects
from loopcheck.fake_providers.dialects.openai_rules import listed
from loopcheck.fake_providers.wire import JsonObject

# Recorded of gpt-5.5 and gpt-5.6.
_WITH_OUTPUT_SCHEMA: Final = re.compile(r"gpt-(5\.([5-9]|\d\d)|([6-9]|\d\d))")
# As recorded of tools that said nothing of these.
_DEFAULTS: Final[Mapping[str, JsonObject]] = {
    "file_search": {
        "filters": None,
        "max_num_results": 20,
        "ranking_options": {"ranker": "auto", "score_threshold": 0.0},
    },
    "image_generation": {
        "background": "auto",
        "moderation": "auto",
        "n": 1,
        "output_compression": 100,
        "output_format": "png",
        "quality": "auto",
        "size": "auto",
    },
    "mcp": {"headers": None, "server_description": None},
    "tool_search": {"description": None, "parameters": None},
    "web_search": {
        "filters": None,
        "search_context_size": "medium",
        "user_location": {
            "type": "approximate",
            "city": None,
            "country": "US",
            "region": None,
            "timezone": None,
        },
    },
}


def tools(request: JsonObject, model: str) -> list[JsonObject]:
    """The tools of this request, repeated for this model."""
    loaded = set(_loaded(request))
    return [_tool(tool, model, loaded) for tool in objects(request, "tools")]


def _loaded(request: JsonObject) -> Iterator[str]:
    """The tools that the client has found for the model."""
    for item in listed(request.get("input")):
        if item.get("type") == "tool_search_output":
            yield from (str(tool.get("name")) for tool in listed(item.get("tools")))


def _tool(tool: JsonObject, model: str, loaded: Collection[str]) -> JsonObject:
    kind = tool.get("type")
    if kind == "function" and tool.get("defer_loading") is True and tool.get("name") in loaded:
        told = {key: tool.get(key) for key in ("name", "description")}
        inner = {key: value for key, value in tool.items() if key != "defer_loading"}
        return {"type": "namespace", **told, "tools": [_function(inner)]}
    if kind == "function":
        has_output = _WITH_OUTPUT_SCHEMA.match(model) is not None
        return {**({"output_schema": None} if has_output else {}), **_function(tool)}
    if kind == "namespace":
        return {**tool, "tools": [_inner(inner) for inner in objects(tool, "tools")]}
    return {**_DEFAULTS.get(str(kind), {}), **tool}


def _inner(tool: JsonObject) -> JsonObject:
    return _function(tool) if tool.get("type") == "function" else tool


def _function(tool: JsonObject) -> JsonObject:
    parameters, strict = tool.get("parameters"), tool.get("strict")
    schema = parameters if isinstance(parameters, dict) else {}
    return {
        **tool,
        "description": tool.get("description"),
        "parameters": parameters,
        "strict": strict if isinstance(strict, bool) else _is_closed(schema),
    }


def _is_closed(schema: JsonObject) -> bool:
    """Whether the service can be strict about a schema that does not ask for it."""
    required, given = schema.get("required"), schema.get("properties")
    names = required if isinstance(required, list) else []
    properties = given if isinstance(given, dict) else {}
    return schema.get("additionalProperties") is False and all(key in names for key in properties)
