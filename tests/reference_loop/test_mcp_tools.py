"""Tools of MCP servers, through the official client and against official servers."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
from tool_desk import Runner, answer, call, error_of

pytest.importorskip("mcp")

from mcp import Client, ClientSession, MCPError, StdioServerParameters, types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server

from loopcheck.reference_loop.content import Content, ImagePart, Part, TextPart
from loopcheck.reference_loop.tool_sources.mcp import McpToolError, mcp_tools
from loopcheck.reference_loop.tool_sources.mcp_connection import connection
from loopcheck.reference_loop.tool_sources.mcp_content import content_of, text_of
from loopcheck.reference_loop.tools import LoopTool, ToolDefinitionError, ToolFailure

Context = ServerRequestContext[dict[str, object], object]
Reply = types.CallToolResult | Exception
SCHEMA = {
    "type": "object",
    "properties": {"n": {"type": "integer"}},
    "required": ["n"],
    "additionalProperties": False,
}
READS = types.ToolAnnotations(read_only_hint=True)
TEXT = types.TextContent(text="done")
DONE = types.CallToolResult(content=[TEXT])


def tool(name: str, hints: types.ToolAnnotations | None = None, **more: object) -> types.Tool:
    return types.Tool(name=name, annotations=hints, **{"input_schema": SCHEMA, **more})  # type: ignore[arg-type]


def failing(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=text)], is_error=True)


@dataclass
class Desk:
    """A server whose tools are listed in pages; `replies` are given to one call each."""

    pages: Sequence[Sequence[types.Tool]] = ((tool("reserve"),),)
    replies: list[Reply] = field(default_factory=list)
    calls: list[types.CallToolRequestParams] = field(default_factory=list)
    until: Callable[[], Awaitable[object]] | None = None
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)

    async def list_tools(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        page = int((params and params.cursor) or 0)
        more = str(page + 1) if page + 1 < len(self.pages) else None
        return types.ListToolsResult(tools=list(self.pages[page]), next_cursor=more)

    async def call_tool(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        self.calls.append(params)
        if self.until is not None:
            try:
                await self.until()
            except asyncio.CancelledError:
                self.cancelled.set()
                raise
        reply = self.replies.pop(0) if self.replies else DONE
        if isinstance(reply, Exception):
            raise reply
        return reply

    @asynccontextmanager
    async def session(self, *, mode: str = "legacy") -> AsyncIterator[ClientSession]:
        server = Server("desk", on_list_tools=self.list_tools, on_call_tool=self.call_tool)
        async with Client(server, mode=mode) as client:
            yield client.session

    @asynccontextmanager
    async def tools(self, **options: object) -> AsyncIterator[tuple[LoopTool, ...]]:
        async with self.session() as session, mcp_tools(session, **options) as tools:  # type: ignore[arg-type]
            yield tools


def ended(desk: Desk, **options: object) -> str | Exception:
    """What a call of the first tool gives or raises."""

    async def run() -> str | Exception:
        async with desk.tools(**options) as (first, *_):
            try:
                return await first.invoke({"n": 1}, call_id="c1", operation_id="op")
            except Exception as error:
                return error

    return asyncio.run(run())


def defined(desk: Desk, **options: object) -> tuple[LoopTool, ...]:
    async def run() -> tuple[LoopTool, ...] | ToolDefinitionError:
        async with desk.session() as session:
            try:
                async with mcp_tools(session, **options) as tools:  # type: ignore[arg-type]
                    return tools
            except ToolDefinitionError as error:
                return error  # what leaves a session comes in a group

    made = asyncio.run(run())
    if isinstance(made, ToolDefinitionError):
        raise made
    return made


def refusal(desk: Desk, **options: object) -> str:
    with pytest.raises(ToolDefinitionError) as refused:
        defined(desk, **options)
    return str(refused.value)


def test_a_tool_is_what_the_server_says_of_it() -> None:
    (made,) = defined(Desk([[tool("reserve", title="Reserves", description="A seat.")]]))
    assert (made.name, made.description, made.kind) == ("reserve", "A seat.", "write")
    assert made.parameters == SCHEMA
    assert (made.operation, made.deduplicates, made.look_up) == (None, False, None)


def test_the_title_stands_in_for_a_description() -> None:
    assert defined(Desk([[tool("reserve", title="Reserves")]]))[0].description == "Reserves"


@pytest.mark.parametrize(
    ("hints", "kind", "deduplicates"),
    [
        (None, "write", False),
        (types.ToolAnnotations(), "write", False),
        (READS, "read", False),
        (types.ToolAnnotations(read_only_hint=False), "write", False),
        (types.ToolAnnotations(destructive_hint=False), "write", False),
        (types.ToolAnnotations(idempotent_hint=True), "write", True),
        (types.ToolAnnotations(idempotent_hint=False), "write", False),
        (types.ToolAnnotations(read_only_hint=True, idempotent_hint=True), "read", False),
    ],
)
def test_hints_say_what_a_tool_does(
    hints: types.ToolAnnotations | None, kind: str, deduplicates: bool
) -> None:
    (made,) = defined(Desk([[tool("reserve", hints)]]))
    assert (made.kind, made.deduplicates) == (kind, deduplicates)


def test_the_application_knows_better_than_hints() -> None:
    desk = Desk([[tool("a", READS), tool("b")]])
    made = defined(desk, kinds={"a": "write", "b": "read"}, operation={"a": ("n",)})
    assert [(one.kind, one.operation) for one in made] == [("write", ("n",)), ("read", None)]


def test_every_page_is_read_and_what_is_wanted_is_chosen() -> None:
    desk = Desk([[tool("a"), tool("b")], [], [tool("c")]])
    assert [one.name for one in defined(desk)] == ["a", "b", "c"]
    assert [one.name for one in defined(desk, include={"c", "a"})] == ["a", "c"]


def test_a_list_without_an_end_is_given_up() -> None:
    desk = Desk([[tool(f"t{n}")] for n in range(102)])
    assert refusal(desk) == "MCP server desk lists more than 100 pages of tools"


def test_names_are_what_services_take_and_have_a_prefix() -> None:
    desk = Desk([[tool("files.read"), tool("stat")]])
    assert [one.name for one in defined(desk, prefix="home/")] == ["home_files_read", "home_stat"]
    clash = refusal(Desk([[tool("a.b"), tool("a_b")]]))
    assert clash == "MCP server desk: two of its tools would be named 'a_b'"


def test_a_name_that_no_service_takes_is_refused() -> None:
    message = f"MCP server desk: tool 'a': '{'b' * 64}a' is no name for a tool; "
    assert refusal(Desk([[tool("a")]]), prefix="b" * 64).startswith(message)


@pytest.mark.parametrize(
    "options",
    [{"kinds": {"reserv": "read"}}, {"operation": {"reserv": ()}}, {"include": ["reserv"]}],
)
def test_a_tool_that_is_not_there_is_named(options: dict[str, object]) -> None:
    assert refusal(Desk(), **options) == "MCP server desk has no tool 'reserv'; its tools: reserve"
    assert refusal(Desk([[]]), **options) == "MCP server desk has no tool 'reserv'; its tools: none"


def test_a_bad_schema_names_server_and_tool() -> None:
    bad = {"type": "object", "properties": {"n": {"minimum": "one"}}}
    assert refusal(Desk([[tool("reserve", input_schema=bad)]])) == (
        "MCP server desk: input schema of tool 'reserve': "
        "properties.n.minimum: 'one' is not of type 'number'"
    )


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_server_without_tools_says_so(mode: str) -> None:
    async def run() -> str:
        async with Client(Server("bare"), mode=mode) as client:
            try:
                async with mcp_tools(client.session):
                    return "offered"
            except ToolDefinitionError as error:
                return str(error)

    assert asyncio.run(run()) == "MCP server bare lists no usable tools: Method not found"


def test_a_call_carries_its_ids() -> None:
    desk = Desk()
    assert ended(desk) == "done"
    (made,) = desk.calls
    assert (made.name, made.arguments) == ("reserve", {"n": 1})
    meta = {key: value for key, value in (made.meta or {}).items() if "loopcheck" in key}
    assert meta == {"loopcheck/call-id": "c1", "loopcheck/operation-id": "op"}


def test_a_call_that_is_no_operation_carries_its_call_id_alone() -> None:
    desk = Desk()

    async def run() -> None:
        async with desk.tools() as (first,):
            await first.invoke({"n": 1}, call_id="c1", operation_id=None)

    asyncio.run(run())
    assert "loopcheck/operation-id" not in (desk.calls[0].meta or {})


@pytest.mark.parametrize(
    ("content", "structured", "text"),
    [
        ([], None, ""),
        ([TEXT, types.TextContent(text="twice")], None, "done\ntwice"),
        (
            [types.ImageContent(data="QUJDRA==", mime_type="image/png")],
            None,
            "[image image/png, 4 bytes]",
        ),
        (
            [types.AudioContent(data="QUJD", mime_type="audio/wav")],
            None,
            "[audio audio/wav, 3 bytes]",
        ),
        (
            [types.ResourceLink(uri="file:///a", name="a", title="A", size=9)],
            None,
            "[link to resource file:///a, A, 9 bytes]",
        ),
        (
            [types.ResourceLink(uri="file:///a", name="a", mime_type="text/plain")],
            None,
            "[link to resource file:///a, text/plain]",
        ),
        (
            [types.EmbeddedResource(resource=types.TextResourceContents(uri="a:b", text="words"))],
            None,
            "[resource a:b]\nwords",
        ),
        (
            [types.EmbeddedResource(resource=types.BlobResourceContents(uri="a:b", blob="QUI="))],
            None,
            "[resource a:b, 2 bytes]",
        ),
        ([], {"seat": 12}, '{"seat": 12}'),
        ([types.TextContent(text='{"seat":12}')], {"seat": 12}, '{"seat":12}'),
        ([types.TextContent(text="Seat 12.")], {"seat": 12}, 'Seat 12.\n{"seat": 12}'),
    ],
)
def test_content_becomes_text(
    content: list[types.ContentBlock], structured: object, text: str
) -> None:
    result = types.CallToolResult(content=content, structured_content=structured)
    assert text_of(result) == text


PNG = types.ImageContent(data="iVBORw==", mime_type="image/png")


@pytest.mark.parametrize(
    ("content", "structured", "given"),
    [
        ([TEXT, PNG], None, [TextPart("done"), ImagePart(b"\x89PNG")]),
        ([PNG], {"n": 1}, [ImagePart(b"\x89PNG"), TextPart('{"n": 1}')]),
        (
            [PNG, types.ImageContent(data="QUJD", mime_type="image/bmp")],
            None,
            [ImagePart(b"\x89PNG"), TextPart("[image image/bmp, 3 bytes]")],
        ),
    ],
)
def test_images_that_models_can_see_are_parts(
    content: list[types.ContentBlock], structured: object, given: list[Part]
) -> None:
    desk = Desk(replies=[types.CallToolResult(content=content, structured_content=structured)])
    result = ended(desk)
    assert isinstance(result, Content)
    assert result.parts == tuple(given)


@pytest.mark.parametrize(("data", "media_type"), [("?", "image/png"), ("QUJD", "image/bmp")])
def test_images_that_nobody_can_see_are_marks(data: str, media_type: str) -> None:
    image = types.ImageContent(data=data, mime_type=media_type)
    result = types.CallToolResult(content=[image])
    assert content_of(result) == text_of(result)
    assert not isinstance(content_of(result), Content)


STRUCTURED = '{"error":{"code":"taken","message":"Seat 12 is taken.","retryable":true}}'


@pytest.mark.parametrize("kind", ["read", "write"])
@pytest.mark.parametrize(
    ("text", "failure"),
    [
        (STRUCTURED, ToolFailure("taken", "Seat 12 is taken.", retryable=True)),
        ('{"error":{"code":7}}', ToolFailure("7", '{"code": 7}')),
        ('{"error":{"message":"No."}}', ToolFailure("tool_failed", "No.")),
        (
            '{"error":{"message":"Busy.","retryable":true,"retry_after":2}}',
            ToolFailure("tool_failed", "Busy.", retryable=True, retry_after=2.0),
        ),
        ('{"error":{"message":"No.","retry_after":true}}', ToolFailure("tool_failed", "No.")),
        ('{"error":{"message":"No.","retry_after":-1}}', ToolFailure("tool_failed", "No.")),
    ],
)
def test_a_structured_error_says_that_nothing_was_done(
    text: str, failure: ToolFailure, kind: str
) -> None:
    assert ended(Desk(replies=[failing(text)]), kinds={"reserve": kind}) == failure


@pytest.mark.parametrize("text", ["It broke.", "[1]", '{"error":"It broke."}', '{"ok":1}', "{" * 9])
def test_an_error_in_words_leaves_open_what_a_write_did(text: str) -> None:
    write = ended(Desk(replies=[failing(text)]))
    assert isinstance(write, McpToolError)
    assert str(write) == text
    read = ended(Desk(replies=[failing(text)]), kinds={"reserve": "read"})
    assert read == ToolFailure("tool_failed", text)


@pytest.mark.parametrize("code", [types.INVALID_PARAMS, types.METHOD_NOT_FOUND, -32022])
def test_a_refused_request_did_nothing(code: int) -> None:
    assert ended(Desk(replies=[MCPError(code, "No.")])) == ToolFailure("refused_by_server", "No.")


@pytest.mark.parametrize(
    ("code", "kind", "text"),
    [
        (types.CONNECTION_CLOSED, ConnectionError, "MCP server desk: No."),
        (types.REQUEST_TIMEOUT, TimeoutError, "MCP server desk: No."),
        (types.INTERNAL_ERROR, MCPError, "No."),
        (types.INVALID_REQUEST, MCPError, "No."),
        (types.PARSE_ERROR, MCPError, "No."),
        (0, MCPError, "No."),
    ],
)
def test_other_errors_leave_open_what_was_done(code: int, kind: type[Exception], text: str) -> None:
    error = ended(Desk(replies=[MCPError(code, "No.")]))
    assert type(error) is kind
    assert str(error) == text


def test_a_call_that_is_given_up_is_cancelled_at_the_server() -> None:
    async def run() -> object:
        desk = Desk(until=asyncio.Event().wait)
        async with desk.tools() as (first,):
            runner = Runner([LoopTool(**{**fields(first), "seconds": 0.01})])  # type: ignore[arg-type]
            (result,) = await answer(runner, call("reserve"))
            await desk.cancelled.wait()
            return error_of(result)["code"]

    assert asyncio.run(run()) == "outcome_unknown"


def fields(made: LoopTool) -> dict[str, object]:
    return {name: getattr(made, name) for name in LoopTool.__dataclass_fields__}


def test_what_a_server_tells_by_the_way_is_ignored() -> None:
    class Talkative(Desk):
        async def call_tool(
            self, context: Context, params: types.CallToolRequestParams
        ) -> types.CallToolResult:
            await context.session.send_notification(types.ToolListChangedNotification())
            return await super().call_tool(context, params)

    assert ended(Talkative()) == "done"


def test_a_connection_that_nobody_used_closes() -> None:
    async def run() -> None:
        async with connection("http://127.0.0.1:9/mcp"):
            pass

    asyncio.run(run())


def test_reads_of_one_session_run_together() -> None:
    async def run() -> list[str]:
        both = asyncio.Barrier(2)
        desk = Desk([[tool("look", READS)]], until=both.wait)
        async with desk.tools() as tools:
            results = await answer(Runner(tools), call("look", 1), call("look", 2))
        return [result.text for result in results]

    assert asyncio.run(run()) == ["done", "done"]


def test_an_idempotent_write_is_asked_again_under_the_same_operation() -> None:
    desk = Desk(
        [[tool("reserve", types.ToolAnnotations(idempotent_hint=True))]],
        replies=[MCPError(types.CONNECTION_CLOSED, "gone"), DONE],
    )

    async def run() -> list[str]:
        async with desk.tools(operation={"reserve": ("n",)}) as tools:
            runner = Runner(tools)
            first = await answer(runner, call("reserve"))
            second = await answer(runner, call("reserve", call_id="c2"))
        return [str(error_of(first[0])["code"]), second[0].text]

    assert asyncio.run(run()) == ["outcome_unknown", "done"]
    operations = {(made.meta or {}).get("loopcheck/operation-id") for made in desk.calls}
    assert len(desk.calls) == 2
    assert len(operations - {None}) == len(operations) == 1


# A server over stdio that dies in the midst of the call with n == 0, and lists what it is told.
DIES = """
import os, sys
import anyio
from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

async def listed(context, params):
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    return types.ListToolsResult(tools=[types.Tool(name="reserve", input_schema=schema)])

async def called(context, params):
    if params.arguments["n"] == 0:
        os._exit(1)
    return types.CallToolResult(content=[types.TextContent(text="done")])

async def main():
    server = Server("dies", on_list_tools=listed, on_call_tool=called)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())

anyio.run(main)
"""


def test_a_server_that_dies_leaves_the_outcome_open_and_is_started_again() -> None:
    async def run() -> list[object]:
        async with mcp_tools([sys.executable, "-c", DIES]) as (reserve,):
            with pytest.raises(ConnectionError) as lost:
                await reserve.invoke({"n": 0}, call_id="c1", operation_id=None)
            again = await reserve.invoke({"n": 1}, call_id="c2", operation_id=None)
        with pytest.raises(ToolFailure) as closed:
            await reserve.invoke({"n": 1}, call_id="c3", operation_id=None)
        return [str(lost.value), again, closed.value]

    where = f"MCP server {sys.executable}"
    assert asyncio.run(run()) == [
        f"{where}: Connection closed",
        "done",
        ToolFailure("server_unavailable", f"{where}: the connection was closed", retryable=True),
    ]


@pytest.mark.parametrize(
    ("server", "where", "reason"),
    [
        (["no-such-command"], "no-such-command", "FileNotFoundError: "),
        (StdioServerParameters(command="no-command"), "no-command", "FileNotFoundError: "),
        ((sys.executable, "-c", ""), sys.executable, "MCPError: Connection closed"),
        ("http://127.0.0.1:9/mcp", "http://127.0.0.1:9/mcp", "ConnectError: "),
    ],
)
def test_a_server_that_cannot_be_reached_is_named(
    server: str | Sequence[str] | StdioServerParameters, where: str, reason: str
) -> None:
    async def run() -> None:
        async with mcp_tools(server):
            pass

    with pytest.raises(ConnectionError) as failed:
        asyncio.run(run())
    assert str(failed.value).startswith(f"MCP server {where}: {reason}")


def test_opening_can_be_given_up() -> None:
    silent = [sys.executable, "-c", "import sys; sys.stdin.read()"]

    async def run() -> None:
        async with asyncio.timeout(0.05), mcp_tools(silent):
            pass

    with pytest.raises(TimeoutError):
        asyncio.run(run())
