"""What MCP clients are told of a tool's end, over either transport. Needs the package `mcp`."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from mcp import MCPError, types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server

from loopcheck.fake_providers.wire import JsonObject
from loopcheck.harness.tool_values import Parts, RateLimited
from loopcheck.harness.world.mcp_listing import CALL_ID, OPERATION_ID

Context: TypeAlias = ServerRequestContext[dict[str, object], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call as the client made it, with the ids that it sent along."""

    tool: str
    arguments: JsonObject
    call_id: str | None
    operation_id: str | None


Execute: TypeAlias = Callable[[Call, Context], Awaitable[str]]


def server(
    listed: Iterable[JsonObject], execute: Execute, *, lose: Callable[[Context], None]
) -> Server[dict[str, object]]:
    """A server of these tools. `execute` raises what the tool raises; `lose` sees to it that
    the client hears nothing of a call whose response is lost."""
    tools = [types.Tool.model_validate(tool) for tool in listed]
    names = {tool.name for tool in tools}

    async def list_tools(
        context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=tools)

    async def call_tool(
        context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        if params.name not in names:
            raise MCPError(types.INVALID_PARAMS, f"there is no tool {params.name!r}")
        try:
            return _result(await execute(_call(params), context))
        except ConnectionError as error:
            lose(context)
            return _error(str(error))
        except PermissionError as error:
            return _error(_structured("not_permitted", str(error)))
        except RateLimited as error:
            return _error(_structured("rate_limited", str(error), after=error.retry_after))
        except Exception as error:
            return _error(f"{type(error).__name__}: {error}")

    return Server("loopcheck", version="1", on_list_tools=list_tools, on_call_tool=call_tool)


def _call(params: types.CallToolRequestParams) -> Call:
    meta: Mapping[str, object] = params.meta or {}
    return Call(
        tool=params.name,
        arguments=params.arguments or {},
        call_id=_text(meta.get(CALL_ID)),
        operation_id=_text(meta.get(OPERATION_ID)),
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _result(text: str) -> types.CallToolResult:
    if isinstance(text, Parts):
        return types.CallToolResult.model_validate({"content": text.content})
    content = types.TextContent(text=text)
    return types.CallToolResult(content=[content], is_error=_is_error(text))


def _error(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=text)], is_error=True)


def _structured(code: str, message: str, *, after: float | None = None) -> str:
    """An error after which nothing was done; one with a time may be tried again then."""
    error: JsonObject = {"code": code, "message": message, "retryable": code == "rate_limited"}
    if after is not None:
        error["retry_after"] = after
    return json.dumps({"error": error})


def _is_error(text: str) -> bool:
    """Whether the tool's own result is a structured error."""
    try:
        value: object = json.loads(text)
    except ValueError:
        return False
    return isinstance(value, dict) and isinstance(value.get("error"), dict)
