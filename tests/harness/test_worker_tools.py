from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Iterator

import pytest

from loopcheck.fake_providers.server import Server
from loopcheck.fake_providers.wire import HttpRequest, Reply
from loopcheck.harness.task import Tool
from loopcheck.harness.worker.protocol import ToolDocument
from loopcheck.harness.worker.remote_tools import remote_tool


class Endpoint:
    """A tool's endpoint that answers what it is told and keeps what it was sent."""

    def __init__(self, server: Server) -> None:
        self.url = server.mount("k", self._answer) + "/tools/reserve_seat"
        self.seen: list[HttpRequest] = []
        self.status = 200
        self.body: object = {"result": "seat 12"}
        self.gate: int = 0
        self._waiting: list[asyncio.Future[None]] = []

    def _answer(self, request: HttpRequest) -> Reply | Awaitable[Reply]:
        self.seen.append(request)
        return self._gated() if self.gate else self._reply()

    def _reply(self) -> Reply:
        body = self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()
        return Reply(status=self.status, headers=(), segments=(body,))

    async def _gated(self) -> Reply:
        self._waiting.append(asyncio.get_running_loop().create_future())
        if len(self._waiting) == self.gate:
            for waiting in self._waiting:
                waiting.set_result(None)
        await self._waiting[-1]
        return self._reply()

    def tool(self, *, blocking: bool) -> Tool:
        schema = {"type": "object", "properties": {"seat": {"type": "integer"}}}
        document = ToolDocument(
            name="reserve_seat",
            description="Reserve a seat.",
            parameters={**schema, "required": ["seat"]},
            kind="write",
            operation=("seat",),
            invoke=self.url,
        )
        return remote_tool(document, blocking=blocking)


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with Server() as server:
        yield Endpoint(server)
        assert server.errors == ()


def test_a_function_posts_its_arguments(endpoint: Endpoint) -> None:
    tool = endpoint.tool(blocking=True)
    assert tool.function(seat=12) == "seat 12"
    assert (tool.name, tool.kind, tool.operation) == ("reserve_seat", "write", ("seat",))
    [request] = endpoint.seen
    assert (request.method, request.path) == ("POST", "/tools/reserve_seat")
    assert json.loads(request.body) == {"seat": 12}
    assert request.headers["content-type"] == "application/json"
    assert not {"x-call-id", "idempotency-key"} & request.headers.keys()


def test_a_coroutine_function_where_the_target_is_one(endpoint: Endpoint) -> None:
    tool = endpoint.tool(blocking=False)
    assert asyncio.iscoroutinefunction(tool.function)
    assert asyncio.run(tool.function(seat=12)) == "seat 12"


def test_ids_go_along(endpoint: Endpoint) -> None:
    tool = endpoint.tool(blocking=True)

    async def acall() -> str:
        return await tool.acall({"seat": 1}, call_id="call_1", operation_id="op-1")

    assert tool.call({"seat": 1}, call_id="call_1", operation_id="op-1") == asyncio.run(acall())
    for request in endpoint.seen:
        assert request.headers["x-call-id"] == "call_1"
        assert request.headers["idempotency-key"] == "op-1"


@pytest.mark.parametrize("kind", [RuntimeError, TimeoutError, PermissionError, ConnectionError])
def test_what_the_tool_raises_is_raised(endpoint: Endpoint, kind: type[Exception]) -> None:
    endpoint.status = 500
    endpoint.body = {"type": "about:blank", "detail": "no seats", "raises": kind.__name__}
    tool = endpoint.tool(blocking=True)
    with pytest.raises(kind, match=r"^no seats$") as raised:
        tool.call({"seat": 1})
    assert type(raised.value) is kind

    async def acall() -> str:
        return await tool.acall({"seat": 1})

    with pytest.raises(kind, match=r"^no seats$"):
        asyncio.run(acall())


@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        (500, {"detail": "x", "raises": "SystemExit"}, "tool reserve_seat: HTTP 500: {"),
        (200, {"result": 3}, "tool reserve_seat: HTTP 200: {'result': 3}"),
        (200, b"<html>", "tool reserve_seat: HTTP 200 without a JSON object"),
        (404, [], "tool reserve_seat: HTTP 404 without a JSON object"),
    ],
)
def test_an_answer_that_is_none(
    endpoint: Endpoint, status: int, body: object, message: str
) -> None:
    endpoint.status, endpoint.body = status, body
    with pytest.raises(RuntimeError) as raised:
        endpoint.tool(blocking=True).call({"seat": 1})
    assert str(raised.value).startswith(message)


def test_many_calls_wait_for_each_other(endpoint: Endpoint) -> None:
    """No pool of threads may be smaller than the number of calls that a model can make."""
    endpoint.gate = 60
    tool = endpoint.tool(blocking=False)

    async def all_at_once() -> list[str]:
        async with asyncio.timeout(10):
            return await asyncio.gather(*(tool.acall({"seat": n}) for n in range(60)))

    assert asyncio.run(all_at_once()) == ["seat 12"] * 60


def test_a_call_may_be_given_up(endpoint: Endpoint) -> None:
    endpoint.gate = 2
    tool = endpoint.tool(blocking=False)

    async def give_up() -> str:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(tool.acall({"seat": 1}), 0.01)
        return await tool.acall({"seat": 2})

    assert asyncio.run(give_up()) == "seat 12"


def test_an_endpoint_that_is_gone(endpoint: Endpoint) -> None:
    document = ToolDocument(name="t", parameters={}, invoke="http://127.0.0.1:1/c/k/tools/t")
    with pytest.raises(ConnectionRefusedError):
        remote_tool(document, blocking=True).call({})
