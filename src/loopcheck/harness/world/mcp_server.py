"""The world as an MCP server over streamable HTTP. Needs the package `mcp`.

The official server speaks ASGI; here its answers become replies of the case's own server, which
can also break a stream off, as a lost response wants it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, MutableMapping
from typing import Any, Final

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import Request

from loopcheck.fake_providers.wire import HttpRequest, Reply
from loopcheck.harness.scenario.model import ToolModel
from loopcheck.harness.world.mcp_answers import Call, Context, server
from loopcheck.harness.world.mcp_listing import listing
from loopcheck.harness.world.world import World

_LOST: Final = "loopcheck.lost"
_LEFT: Final = "loopcheck.left"
# Seen from the client, the response began and never came.
_BROKEN_OFF: Final = Reply(
    status=200,
    headers=(("content-type", "text/event-stream"), ("cache-control", "no-cache")),
    segments=(b": the response follows\n\n",),
    streamed=True,
    ending="half-chunk",
)


class McpServer:
    """An app that serves `mcp` to MCP clients, and the list of tools as JSON at `mcp/tools`.

    It has no streams of its own to offer, so GET is refused, as the protocol allows. Sessions
    live until `close`, which may be called from any thread.
    """

    def __init__(self, world: World, tools: Mapping[str, ToolModel]) -> None:
        self._world = world
        self._listing = listing(tools)
        app = server(self._listing, self._execute, lose=_lose)
        self._manager = StreamableHTTPSessionManager(app, json_response=True)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._running = asyncio.Event()
        self._over = asyncio.Event()

    async def __call__(self, request: HttpRequest) -> Reply:
        if request.path.rstrip("/") == "/mcp/tools":
            return _json(200, {"tools": self._listing})
        if request.method == "GET":
            return Reply(status=405, headers=(("allow", "POST, DELETE"),), segments=())
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
            self._sessions = self._loop.create_task(self._run())
        await self._running.wait()
        return await _asked(self._manager, request)

    def close(self) -> None:
        """Ends all sessions."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._over.set)

    async def _run(self) -> None:
        async with self._manager.run():
            self._running.set()
            await self._over.wait()

    async def _execute(self, call: Call, context: Context) -> str:
        ending = await self._world.aperform(
            call.tool,
            call.arguments,
            call_id=call.call_id,
            operation_id=call.operation_id,
            left=_scope_of(context)[_LEFT],
        )
        if ending.exception is not None:
            raise ending.exception
        return ending.text


def _lose(context: Context) -> None:
    _scope_of(context)[_LOST] = True


def _scope_of(context: Context) -> MutableMapping[str, Any]:
    """The scope of the HTTP request that this call came with."""
    assert isinstance(context.request, Request)
    return context.request.scope


async def _asked(manager: StreamableHTTPSessionManager, request: HttpRequest) -> Reply:
    """The official server's reply to this request."""
    # Any, as in ASGI itself: each message is a mapping of its own shape.
    sent: list[Any] = []
    bodies = [request.body]

    async def receive() -> Any:
        if not bodies:
            await asyncio.Event().wait()  # that the client leaves concerns the body alone
        return {"type": "http.request", "body": bodies.pop(), "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = _scope(request)
    await manager.handle_request(scope, receive, send)
    return _BROKEN_OFF if _LOST in scope else _reply(sent)


def _scope(request: HttpRequest) -> dict[str, Any]:
    headers = [(name.encode(), value.encode("latin-1")) for name, value in request.headers.items()]
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": "http",
        "path": request.path,
        "raw_path": request.path.encode(),
        "query_string": request.query.encode(),
        "root_path": "",
        "headers": headers,
        "client": None,
        "server": None,
        _LEFT: request.left,
    }


def _reply(sent: list[Any]) -> Reply:
    start, *rest = sent
    headers = ((name.decode(), value.decode("latin-1")) for name, value in start["headers"])
    return Reply(
        status=start["status"],
        # The length is announced by who writes it.
        headers=tuple((name, value) for name, value in headers if name != "content-length"),
        segments=(b"".join(message.get("body", b"") for message in rest),),
    )


def _json(status: int, document: object) -> Reply:
    return Reply(
        status=status,
        headers=(("content-type", "application/json"),),
        segments=(json.dumps(document, ensure_ascii=False).encode(),),
    )
