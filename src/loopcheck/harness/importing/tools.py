"""The tools of recorded requests, as those of a scenario."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from loopcheck.fake_providers.wire import JsonObject, OfferedTool
from loopcheck.harness.importing.values import mapping
from loopcheck.harness.scenario.schemas import complaint
from loopcheck.harness.scenario.tool_model import ToolModel

_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")
_READS: Final = re.compile(
    r"(get|find|search|list|read|look|lookup|fetch|query|check|show|describe|count|weather)"
    r"(?![a-z])",
    re.IGNORECASE,
)


def tools(
    offered: Iterable[OfferedTool], descriptions: Mapping[str, str], left_out: list[str]
) -> dict[str, JsonObject]:
    """The tools by name; what they do is not in a request, so their kind is a guess by name."""
    found: dict[str, JsonObject] = {}
    for tool in offered:
        if not _NAME.match(tool.name):
            left_out.append(f"the tool {tool.name!r}, whose name the services do not take")
            continue
        kind = "read" if _READS.match(tool.name) else "write"
        told = descriptions.get(tool.name)
        described: JsonObject = {} if told is None else {"description": told}
        found[tool.name] = {"kind": kind, **described, **_schema(tool, left_out)}
    return found


def _schema(tool: OfferedTool, left_out: list[str]) -> JsonObject:
    if tool.schema.get("type") != "object" or complaint(tool.schema) is not None:
        if tool.schema:
            left_out.append(f"the schema of {tool.name}, which is none of an object")
        return {"schema": {"type": "object"}}
    args = {name: _short(spec) for name, spec in mapping(tool.schema.get("properties")).items()}
    if not all(isinstance(spec, str | dict) for spec in args.values()):
        return {"schema": tool.schema}
    short = ToolModel.model_validate({"kind": "read", "args": args})
    if short.parameters != tool.schema:
        return {"schema": tool.schema}
    return {"args": args} if args else {}


def _short(spec: object) -> object:
    only = mapping(spec)
    word = only.get("type")
    return word if len(only) == 1 and isinstance(word, str) else spec
