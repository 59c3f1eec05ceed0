"""The world as an MCP server over stdio: `python -m loopcheck.harness.world.mcp_stdio ROOT`.

It is a process of the loop's, so it holds nothing but the way to the world: each call goes to
the case's own endpoints below ROOT. Where a response is lost, it dies. Needs the package `mcp`.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Sequence
from http.client import HTTPConnection
from urllib.parse import urlsplit

from mcp.server.stdio import stdio_server

from loopcheck.fake_providers.wire import JsonObject
from loopcheck.harness.worker.protocol import ToolDocument
from loopcheck.harness.worker.remote_tools import remote_tool
from loopcheck.harness.world.mcp_answers import Call, Context, server


def main(arguments: Sequence[str]) -> None:
    """Serves until stdin ends."""
    if len(arguments) != 1:
        raise SystemExit("usage: python -m loopcheck.harness.world.mcp_stdio ROOT")
    root = arguments[0].rstrip("/")
    asyncio.run(_serve(root, _listed(root)))


def _listed(root: str) -> list[JsonObject]:
    url = urlsplit(f"{root}/mcp/tools")
    connection = HTTPConnection(url.netloc)
    try:
        connection.request("GET", url.path)
        tools: list[JsonObject] = json.load(connection.getresponse())["tools"]
        return tools
    finally:
        connection.close()


async def _serve(root: str, listed: Sequence[JsonObject]) -> None:
    documents = [_document(root, tool) for tool in listed]
    tools = {document.name: remote_tool(document, blocking=False) for document in documents}

    async def execute(call: Call, _: Context) -> str:
        return await tools[call.tool].acall(call.arguments, call.call_id, call.operation_id)

    app = server(listed, execute, lose=_die)
    async with stdio_server() as (incoming, outgoing):
        await app.run(incoming, outgoing, app.create_initialization_options())


def _document(root: str, tool: JsonObject) -> ToolDocument:
    return ToolDocument.model_validate(
        {
            "name": tool["name"],
            "description": tool["description"],
            "parameters": tool["inputSchema"],
            "invoke": f"{root}/tools/{tool['name']}",
        }
    )


def _die(context: Context) -> None:
    os._exit(1)


if __name__ == "__main__":
    main(sys.argv[1:])
