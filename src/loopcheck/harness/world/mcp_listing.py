"""The world's tools as MCP lists them. Needs no package, for it travels as plain JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from loopcheck.fake_providers.wire import JsonObject
from loopcheck.harness.scenario.model import ToolModel

# Members of `_meta` of a call, with which a loop can say what it knows.
OPERATION_ID: Final = "loopcheck/operation-id"
CALL_ID: Final = "loopcheck/call-id"


def listing(tools: Mapping[str, ToolModel]) -> list[JsonObject]:
    """The tools in the form of `tools/list`, without those that a person answers. The hints are
    true: a read changes nothing, and a tool that deduplicates may be asked again under the same
    operation id."""
    return [
        {
            "name": name,
            "description": tool.description,
            "inputSchema": tool.parameters,
            "annotations": {
                "readOnlyHint": tool.kind == "read",
                "idempotentHint": tool.deduplicates,
                "openWorldHint": False,
            },
        }
        for name, tool in tools.items()
        if tool.kind in ("read", "write")
    ]
