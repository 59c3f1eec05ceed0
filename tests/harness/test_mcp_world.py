"""The world as an MCP server, over both transports, with the official client and the reference
loop."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest
from trial_cases import case
from worlds import Arguments, Staged, scenario

pytest.importorskip("mcp")
pytest.importorskip("openai")

from mcp import Client, MCPError, StdioServerParameters, types
from openai import AsyncOpenAI

from loopcheck.fake_providers.server import App, Server
from loopcheck.fake_providers.wire import HttpRequest, JsonObject, Reply
from loopcheck.harness.journal import Entry
from loopcheck.harness.scenario.tool_model import ToolModel
from loopcheck.harness.stage import Stage
from loopcheck.harness.world import World
from loopcheck.harness.world.http import tool_app
from loopcheck.harness.world.mcp_listing import CALL_ID, OPERATION_ID, listing
from loopcheck.harness.world.mcp_server import McpServer
from loopcheck.harness.world.mcp_stdio import main
from loopcheck.reference_loop import ReferenceLoop
from loopcheck.reference_loop.adapters.chat import ChatAdapter
from loopcheck.reference_loop.outcome import LoopOutcome
from loopcheck.reference_loop.tool_sources import mcp as client_side
from loopcheck.reference_loop.tool_sources.mcp import mcp_tools
from loopcheck.reference_loop.tools import LoopTool, ToolDefinitionError

TRANSPORTS = ("http", "stdio")
# Both eras of the protocol: the newest revision, and the handshake of those before.
MODES = ("auto", "legacy")


def reserve(**keys: object) -> dict[str, Arguments]:
    return {"reserve": {"kind": "write", "args": {"seat": "integer"}, **keys}}


@contextmanager
def serving(world: World, tools: dict[str, ToolModel]) -> Iterator[str]:
    """The root of the case, below which the world is served in all ways."""
    with Server() as server:
        app, plain = McpServer(world, tools), tool_app(world)
        root = server.mount("case", _either(app, plain))
        try:
            yield root
        finally:
            app.close()
    assert server.errors == ()


def _either(app: App, plain: App) -> App:
    return lambda request: (app if request.path.startswith("/mcp") else plain)(request)


@contextmanager
def staged(tools: dict[str, Arguments]) -> Iterator[tuple[Staged, str]]:
    case = Staged(tools)
    with serving(case.world, scenario(tools).client_tools) as root:
        yield case, root


def stdio(root: str) -> list[str]:
    return [sys.executable, "-m", "loopcheck.harness.world.mcp_stdio", root]


@asynccontextmanager
async def connected(transport: str, root: str, *, mode: str = "auto") -> AsyncIterator[Client]:
    command, *arguments = stdio(root)
    parameters = StdioServerParameters(command=command, args=arguments)
    async with Client(f"{root}/mcp" if transport == "http" else parameters, mode=mode) as client:
        yield client


def texts(result: types.CallToolResult) -> list[str]:
    return [block.text for block in result.content if isinstance(block, types.TextContent)]


def test_nothing_of_it_is_loaded_before_it_is_asked_for() -> None:
    rooms = "loopcheck, loopcheck.harness.stage, loopcheck.reference_loop"
    code = f"import sys, {rooms}; sys.exit('mcp' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_tools_are_listed_with_true_hints() -> None:
    tools: dict[str, Arguments] = {
        **reserve(description="Reserves.", deduplicates=True),
        "look": {"kind": "read", "args": {}},
        "ask": {"kind": "ask", "args": {}},
    }
    listed = listing(scenario(tools).client_tools)
    assert [tool["name"] for tool in listed] == ["reserve", "look"]
    assert listed[0] == {
        "name": "reserve",
        "description": "Reserves.",
        "inputSchema": {
            "type": "object",
            "properties": {"seat": {"type": "integer"}},
            "required": ["seat"],
            "additionalProperties": False,
        },
        "annotations": {"readOnlyHint": False, "idempotentHint": True, "openWorldHint": False},
    }
    assert listed[1]["annotations"] == {
        "readOnlyHint": True,
        "idempotentHint": False,
        "openWorldHint": False,
    }


def test_both_sides_name_the_ids_alike() -> None:
    assert (CALL_ID, OPERATION_ID) == (client_side.CALL_ID, client_side.OPERATION_ID)


BEHAVIOURS = ["normal", "error-result", "raises", "raises-timeout", "rejects", "empty"]
NOT_PERMITTED = "rejected by the executor: reserve is not allowed"


@pytest.mark.parametrize(
    ("transport", "mode"), [("http", "auto"), ("http", "legacy"), ("stdio", "auto")]
)
def test_each_end_of_a_tool_reaches_the_client(transport: str, mode: str) -> None:
    async def run(root: str) -> list[tuple[bool, list[str]]]:
        ends = []
        async with connected(transport, root, mode=mode) as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == ["reserve"]
            for seat, _ in enumerate(BEHAVIOURS):
                result = await client.session.call_tool("reserve", {"seat": seat})
                ends.append((result.is_error, texts(result)))
            with pytest.raises(MCPError, match="there is no tool 'sell'") as unknown:
                await client.session.call_tool("sell", {})
            assert unknown.value.code == types.INVALID_PARAMS
        return ends

    with staged(reserve(behaves=BEHAVIOURS)) as (world, root):
        ends = asyncio.run(run(root))
        first = world.entries("ended")[0]["result"]
    assert [is_error for is_error, _ in ends] == [False, True, True, True, True, False]
    (good, error, raised, late, rejected, empty) = [text for _, (text,) in ends]
    assert (good, empty) == (first, "")
    assert json.loads(error)["error"]["code"] == "tool_error"
    assert (raised, late) == ("RuntimeError: reserve failed", "TimeoutError: reserve timed out")
    refused = {"code": "not_permitted", "message": NOT_PERMITTED, "retryable": False}
    assert json.loads(rejected) == {"error": refused}


def test_a_busy_system_says_when_to_come_back() -> None:
    async def run(root: str) -> list[object]:
        async with connected("http", root) as client:
            results = [await client.session.call_tool("reserve", {"seat": 1}) for _ in range(2)]
        return [json.loads(text)["error"] for result in results for text in texts(result)]

    with staged(reserve(behaves=[{"rate-limited": "1500ms"}, "rate-limited"])) as (_, root):
        error = {
            "code": "rate_limited",
            "message": "reserve is busy: too many requests",
            "retryable": True,
        }
        assert asyncio.run(run(root)) == [{**error, "retry_after": 1.5}, error]


def test_images_are_image_content() -> None:
    parts = [{"text": "Seat 12."}, {"image": "png"}]

    async def run(root: str) -> types.CallToolResult:
        async with connected("http", root) as client:
            return await client.session.call_tool("look", {})

    with staged({"look": {"kind": "read", "args": {}, "returns_parts": parts}}) as (_, root):
        content = asyncio.run(run(root)).content
    assert [block.type for block in content] == ["text", "image"]


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_ids_reach_the_world_where_they_are_sent(transport: str) -> None:
    meta: JsonObject = {CALL_ID: "call_book", OPERATION_ID: "op-1"}

    async def run(root: str) -> None:
        async with connected(transport, root) as client:
            await client.call_tool("reserve", {"seat": 12}, meta=meta)  # type: ignore[arg-type]
            await client.call_tool("reserve", {"seat": 13}, meta={CALL_ID: 7})  # type: ignore[arg-type]

    with staged(reserve()) as (world, root):
        world.issue(("book", "reserve", '{"seat":12}'))
        asyncio.run(run(root))
        told, silent = world.entries("execution")
    assert (told["call_id"], told["operation_id"], told["label"]) == ("call_book", "op-1", "book")
    assert (silent["call_id"], silent["operation_id"]) == (None, None)


@pytest.mark.parametrize("mode", MODES)
def test_a_lost_response_over_http_loses_nothing_else(mode: str) -> None:
    async def run(root: str) -> list[str]:
        async with connected("http", root, mode=mode) as client:
            with pytest.raises(MCPError) as lost:
                await client.call_tool("reserve", {"seat": 12})
            assert lost.value.code == types.CONNECTION_CLOSED
            return texts(await client.session.call_tool("reserve", {"seat": 13}))

    with staged(reserve(behaves=["commit-then-lose-response", "normal"])) as (world, root):
        (text,) = asyncio.run(run(root))
        assert text.startswith('{"ok":true')
        assert [effect["arguments"] for effect in world.entries("effect")] == [
            {"seat": 12},
            {"seat": 13},
        ]


def test_a_lost_response_over_stdio_is_the_end_of_the_server() -> None:
    async def run(root: str) -> None:
        async with connected("stdio", root) as client:
            for _ in range(2):
                with pytest.raises(MCPError) as lost:
                    await client.call_tool("reserve", {"seat": 12})
                assert lost.value.code == types.CONNECTION_CLOSED

    with staged(reserve(behaves=["commit-then-lose-response"])) as (world, root):
        asyncio.run(run(root))
        assert len(world.entries("effect")) == 1


TOGETHER: dict[str, Arguments] = {
    "look": {"kind": "read", "args": {"at": "string"}, "returns_after": ["a.started", "b.started"]}
}


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_two_calls_run_at_once(transport: str) -> None:
    async def run(root: str) -> None:
        async with connected(transport, root) as client, asyncio.timeout(20):
            await asyncio.gather(
                *(client.call_tool("look", {"at": where}) for where in ("here", "there"))
            )

    with staged(TOGETHER) as (world, root):
        world.issue(("a", "look", '{"at":"here"}'), ("b", "look", '{"at":"there"}'))
        asyncio.run(run(root))
        assert [entry["how"] for entry in world.entries("gate")] == ["opened"]  # by the other one


def recorded(staged: Staged, kind: str) -> asyncio.Event:
    """Is set once an entry of that kind is recorded."""
    event, loop, watch = asyncio.Event(), asyncio.get_running_loop(), staged.world.watch

    def seen(entry: Entry) -> None:
        watch(entry)
        if entry["kind"] == kind:
            loop.call_soon_threadsafe(event.set)

    staged.world.watch = seen  # type: ignore[method-assign]
    return event


def test_a_cancelled_call_ends_the_body() -> None:
    async def run(world: Staged, root: str) -> None:
        begun, ended = recorded(world, "execution"), recorded(world, "ended")
        async with asyncio.timeout(20), connected("http", root, mode="legacy") as client:
            called = asyncio.create_task(client.call_tool("look", {"at": "here"}))
            await begun.wait()
            called.cancel()
            await ended.wait()

    with staged(TOGETHER) as (world, root):
        world.issue(("a", "look", '{"at":"here"}'))
        with suppress(ExceptionGroup):  # the client trips over answers that come while it closes
            asyncio.run(run(world, root))
        (end,) = world.entries("ended")
    assert end["how"] == "raised"
    assert str(end["result"]).startswith("CancelledError")


def test_a_body_that_hangs_is_given_up_when_the_client_leaves() -> None:
    async def run(world: Staged, root: str) -> None:
        begun, ended = recorded(world, "execution"), recorded(world, "ended")
        async with asyncio.timeout(20):
            async with connected("http", root) as client:
                called = asyncio.create_task(client.call_tool("reserve", {"seat": 12}))
                await begun.wait()
                called.cancel()
            await ended.wait()

    with staged(reserve(behaves=["commit-then-hang"])) as (world, root):
        asyncio.run(run(world, root))
        assert len(world.entries("effect")) == 1
        assert "CallerLeft" in str(world.entries("ended")[0]["result"])


def asked(root: str, method: str, path: str) -> tuple[int, str | None, bytes]:
    url = urlsplit(root)
    connection = HTTPConnection(url.netloc)
    try:
        connection.request(method, f"{url.path}{path}")
        answer = connection.getresponse()
        return answer.status, answer.getheader("allow"), answer.read()
    finally:
        connection.close()


def test_the_server_offers_no_stream_and_lists_its_tools_as_json() -> None:
    tools = reserve()
    with staged(tools) as (_, root):
        assert asked(root, "GET", "/mcp") == (405, "POST, DELETE", b"")
        status, _, body = asked(root, "GET", "/mcp/tools")
    assert status == 200
    assert json.loads(body) == {"tools": listing(scenario(tools).client_tools)}


def test_the_stdio_server_wants_to_know_where_the_world_is() -> None:
    with pytest.raises(SystemExit) as usage:
        main([])
    assert str(usage.value) == "usage: python -m loopcheck.harness.world.mcp_stdio ROOT"


def where(transport: str, root: str) -> str | list[str]:
    return f"{root}/mcp" if transport == "http" else stdio(root)


HEAD = """\
format: 1
title: A seat is reserved
rule: A rule.
prompt: Reserve seat 12.
tools:
  reserve: {kind: write, args: {seat: integer}, operation: [seat], deduplicates: true, behaves: %s}
  look: {kind: read, args: {at: string}}
"""
TWICE = """\
turns:
  - calls: [{as: seat, tool: reserve, args: {seat: 12}}]
  - calls:
      - {as: again, tool: reserve, args: {seat: 12}}
      - {as: here, tool: look, args: {at: here}}
      - {as: there, tool: look, args: {at: there}}
  - say: Done.
"""


@pytest.mark.parametrize(
    ("transport", "behaves"),
    [
        ("http", "[normal]"),
        ("http", "[commit-then-lose-response, normal]"),
        ("stdio", "[commit-then-lose-response, normal]"),
    ],
)
def test_the_reference_loop_reserves_one_seat(transport: str, behaves: str) -> None:
    """Also where the first response is lost: asked again, the server knows the operation."""
    spec = case(TWICE, head=HEAD % behaves)

    async def run(base_url: str, api_key: str, root: str) -> tuple[LoopOutcome, list[LoopTool]]:
        client = AsyncOpenAI(base_url=base_url, api_key=api_key, max_retries=0)
        async with (
            client,
            mcp_tools(where(transport, root), operation={"reserve": ("seat",)}) as (tools),
        ):
            adapter = ChatAdapter(client=client, model="gpt-4o", stream=False)
            return await ReferenceLoop(adapter, tools).run("Reserve seat 12."), list(tools)

    with Stage() as stage, stage.open(spec, target="mcp") as opened:
        with serving(opened.world, spec.scenario.client_tools) as root:
            outcome, tools = asyncio.run(run(f"{opened.root}/v1", opened.api_key, root))
        entries = list(opened.journal)
    assert (outcome.state, outcome.text) == ("completed", "Done.")
    assert [(tool.name, tool.kind, tool.deduplicates) for tool in tools] == [
        ("reserve", "write", True),
        ("look", "read", False),
    ]
    effects = [entry for entry in entries if entry["kind"] == "effect"]
    assert [entry["deduplicated"] for entry in effects].count(False) == 1
    executions = [entry for entry in entries if entry["kind"] == "execution"]
    reserving = [entry for entry in executions if entry["tool"] == "reserve"]
    assert {entry["label"] for entry in executions} >= {"seat", "here", "there"}
    assert len({entry["operation_id"] for entry in reserving}) == 1
    assert len(reserving) == (1 if behaves == "[normal]" else 2)


def test_a_transport_that_breaks_is_made_again() -> None:
    """A connection that is refused cancels whoever opened the transport: the next call opens
    another one."""

    async def run(root: str, breaking: list[HttpRequest]) -> list[str]:
        said = []
        async with mcp_tools(f"{root}/mcp") as (tool,):
            for _ in range(3):
                try:
                    said.append(await tool.invoke({"seat": 1}, call_id="c", operation_id=None))
                except ConnectionError:
                    said.append("lost")
        return said

    broken: list[HttpRequest] = []
    staged_world = Staged(reserve())
    app = McpServer(staged_world.world, scenario(reserve()).client_tools)

    async def once(request: HttpRequest) -> Reply:
        if b'"tools/call"' in request.body and not broken:
            broken.append(request)
            return Reply(status=200, headers=(), segments=(), ending="close")
        return await app(request)

    with Server() as server:
        first, *later = asyncio.run(run(server.mount("case", once), broken))
        app.close()
    assert first == "lost"
    assert all(text.startswith('{"ok":true') for text in later)


def test_a_listing_that_is_none_is_refused() -> None:
    def app(request: HttpRequest) -> Reply:
        asked = json.loads(request.body)
        known = {
            "initialize": {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "odd", "version": "1"},
            },
            "tools/list": {"tools": [{"name": "reserve"}]},
        }
        if "id" not in asked:
            return Reply(status=202, headers=(), segments=())
        answer: JsonObject = {"jsonrpc": "2.0", "id": asked["id"]}
        if asked["method"] in known:
            answer["result"] = known[asked["method"]]
        else:
            answer["error"] = {"code": -32601, "message": "Method not found"}
        return Reply(
            status=200,
            headers=(("content-type", "application/json"),),
            segments=(json.dumps(answer).encode(),),
        )

    async def run(url: str) -> None:
        async with mcp_tools(url):
            pass

    with Server() as server:
        url = server.mount("odd", app)
        with pytest.raises(ToolDefinitionError, match=r"lists no usable tools: [^$]*inputSchema"):
            asyncio.run(run(url))
