"""Tools of an MCP server, over stdio, streamable HTTP or a session that is open. Needs the
package `mcp`.

What a call to another process did when its answer is missing is not known, so only what the
server says in an orderly way counts as failed with nothing done.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Collection, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, cast

from mcp import ClientSession, MCPError, types
from pydantic import ValidationError

from loopcheck.reference_loop import schema
from loopcheck.reference_loop.arguments import JsonObject
from loopcheck.reference_loop.tool_sources.mcp_connection import Connection, Where, connection
from loopcheck.reference_loop.tool_sources.mcp_content import content_of, text_of
from loopcheck.reference_loop.tool_sources.names import check_name
from loopcheck.reference_loop.tools import LoopTool, ToolDefinitionError, ToolFailure

Kind: TypeAlias = Literal["read", "write"]

# Members of `_meta` of each call; a server that knows the first can deduplicate by it.
OPERATION_ID: Final = "loopcheck/operation-id"
CALL_ID: Final = "loopcheck/call-id"

MAX_PAGES: Final = 100
_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9_-]")
# A server answers with these before a tool begins. -32020 to -32022 are of revision 2026-07-28:
# headers that do not fit, a capability that is missing, a version that is not spoken.
_REFUSED: Final = frozenset({types.INVALID_PARAMS, types.METHOD_NOT_FOUND, -32020, -32021, -32022})


class McpToolError(Exception):
    """A tool of an MCP server failed and does not say how far it came."""


@asynccontextmanager
async def mcp_tools(
    server: Where | ClientSession,
    *,
    kinds: Mapping[str, Kind] | None = None,
    operation: Mapping[str, tuple[str, ...]] | None = None,
    include: Collection[str] | None = None,
    prefix: str = "",
) -> AsyncIterator[tuple[LoopTool, ...]]:
    """The server's tools, to be used as long as the context is open.

    `server` is a URL, a command with its arguments, or an open session. `kinds` says which tools
    read and which write, against what the server hints; `operation` gives tools an operation
    key; `include` chooses. All three go by the server's names; `prefix` stands before the names
    that the model gets. Raises ConnectionError if the server cannot be reached, and
    ToolDefinitionError for tools that cannot be offered.
    """
    async with connection(server) as line:
        listed = await _listed(line)
        chosen = [tool for tool in listed if include is None or tool.name in include]
        for names in (kinds, operation, include):
            _check_known(names or (), listed, line.where)
        wishes = _Wishes(kinds or {}, operation or {}, prefix)
        tools = tuple(_tool(line, tool, wishes) for tool in chosen)
        _check_distinct(tools, line.where)
        yield tools


@dataclass(frozen=True, slots=True)
class _Wishes:
    kinds: Mapping[str, Kind]
    operation: Mapping[str, tuple[str, ...]]
    prefix: str


async def _listed(line: Connection) -> list[types.Tool]:
    """All pages of the server's list."""
    tools: list[types.Tool] = []
    session = await line.session()
    params: types.PaginatedRequestParams | None = None
    try:
        for _ in range(MAX_PAGES):
            page = await session.list_tools(params=params)
            tools += page.tools
            if page.next_cursor is None:
                return tools
            params = types.PaginatedRequestParams(cursor=page.next_cursor)
    except (MCPError, ValidationError) as error:
        raise ToolDefinitionError(f"{line.where} lists no usable tools: {error}") from error
    raise ToolDefinitionError(f"{line.where} lists more than {MAX_PAGES} pages of tools")


def _check_known(names: Iterable[str], listed: list[types.Tool], where: str) -> None:
    known = [tool.name for tool in listed]
    for name in names:
        if name not in known:
            has = ", ".join(known) or "none"
            raise ToolDefinitionError(f"{where} has no tool {name!r}; its tools: {has}")


def _check_distinct(tools: tuple[LoopTool, ...], where: str) -> None:
    names = [tool.name for tool in tools]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ToolDefinitionError(f"{where}: two of its tools would be named {twice!r}")


def _tool(line: Connection, tool: types.Tool, wishes: _Wishes) -> LoopTool:
    try:
        schema.check(tool.input_schema)
    except schema.InvalidSchema as error:
        message = f"{line.where}: input schema of tool {tool.name!r}: {error}"
        raise ToolDefinitionError(message) from error
    name = _NOT_IN_NAMES.sub("_", f"{wishes.prefix}{tool.name}")
    check_name(name, f"{line.where}: tool {tool.name!r}")
    hints = tool.annotations or types.ToolAnnotations()
    kind: Kind = wishes.kinds.get(tool.name, "read" if hints.read_only_hint else "write")
    return LoopTool(
        name=name,
        description=tool.description or tool.title or "",
        parameters=tool.input_schema,
        kind=kind,
        invoke=_Invoke(line, tool.name, kind),
        operation=wishes.operation.get(tool.name),
        deduplicates=kind == "write" and hints.idempotent_hint is True,
    )


@dataclass(frozen=True, slots=True)
class _Invoke:
    """Calls the tool. What it raises but ToolFailure leaves open whether it took effect."""

    line: Connection
    name: str
    kind: Kind

    async def __call__(
        self, arguments: JsonObject, *, call_id: str, operation_id: str | None
    ) -> str:
        try:
            session = await self.line.session()
        except ConnectionError as error:
            raise ToolFailure("server_unavailable", str(error), retryable=True) from error
        try:
            result = await session.call_tool(
                self.name, arguments, meta=_meta(call_id, operation_id)
            )
        except MCPError as error:
            raise self._raised(error) from error
        if result.is_error:
            raise _failed(text_of(result), self.kind)
        return content_of(result)

    def _raised(self, error: MCPError) -> Exception:
        if error.code == types.CONNECTION_CLOSED:
            self.line.lost()
            return ConnectionError(f"{self.line.where}: {error.message}")
        if error.code == types.REQUEST_TIMEOUT:
            return TimeoutError(f"{self.line.where}: {error.message}")
        if error.code in _REFUSED:
            return ToolFailure("refused_by_server", error.message)
        return error


def _meta(call_id: str, operation_id: str | None) -> types.RequestParamsMeta:
    meta = {CALL_ID: call_id}
    if operation_id is not None:
        meta[OPERATION_ID] = operation_id
    return cast(types.RequestParamsMeta, meta)  # an open map, which mypy does not know yet


def _failed(text: str, kind: Kind) -> Exception:
    """What a result that is marked as an error means. Servers mark so whatever a tool raised,
    also after its effect; a structured error was meant as an answer."""
    structured = _structured(text)
    if structured is not None:
        return structured
    return ToolFailure("tool_failed", text) if kind == "read" else McpToolError(text)


def _structured(text: str) -> ToolFailure | None:
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    error = value.get("error") if isinstance(value, dict) else None
    if not isinstance(error, dict):
        return None
    message = error.get("message")
    return ToolFailure(
        str(error.get("code", "tool_failed")),
        message if isinstance(message, str) else json.dumps(error, ensure_ascii=False),
        retryable=error.get("retryable") is True,
        retry_after=_seconds(error.get("retry_after")),
    )


def _seconds(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        return None
    return float(value)
