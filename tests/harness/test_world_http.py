"""The world over HTTP, called as the server calls it."""

from __future__ import annotations

import asyncio
import json
import threading
from concurrent.futures import Future
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest
from worlds import Arguments, Staged, scenario

from loopcheck.fake_providers.server import Server
from loopcheck.fake_providers.wire import HttpRequest, JsonObject, Reply
from loopcheck.harness.journal import Entry, Journal
from loopcheck.harness.world import World
from loopcheck.harness.world.http import tool_app


def reserving(**keys: object) -> Staged:
    return Staged({"reserve": {"kind": "write", "args": {"seat": "integer"}, **keys}})


def ask(
    staged: Staged,
    path: str = "/tools/reserve",
    body: bytes = b'{"seat":12}',
    *,
    method: str = "POST",
    headers: dict[str, str] | None = None,
) -> tuple[int, JsonObject, str]:
    """Status, document and content type of the answer."""
    request = HttpRequest(method=method, path=path, headers=headers or {}, body=body)

    async def run() -> tuple[int, JsonObject, str]:
        reply = await tool_app(staged.world)(request)
        document = json.loads(b"".join(reply.segments))
        return reply.status, document, dict(reply.headers)["content-type"]

    return asyncio.run(run())


def reply_to(world: World, request: HttpRequest) -> Reply:
    async def run() -> Reply:
        return await tool_app(world)(request)

    return asyncio.run(run())


def test_result_is_handed_back_with_ids_journalled() -> None:
    staged = reserving()
    staged.issue(("book", "reserve", '{"seat":12}'))
    status, document, content_type = ask(
        staged, headers={"x-call-id": "call_book", "idempotency-key": "op-1"}
    )
    (token,) = staged.world.tokens(["book"])
    assert (status, content_type) == (200, "application/json")
    assert document == {"result": f'{{"ok":true,"token":"{token}"}}'}
    (execution,) = staged.entries("execution")
    assert execution["arguments"] == {"seat": 12}
    assert execution["label"] == "book"
    assert (execution["call_id"], execution["operation_id"]) == ("call_book", "op-1")


def test_error_result_is_a_result() -> None:
    status, document, _ = ask(reserving(behaves=["error-result"]))
    assert status == 200
    assert json.loads(str(document["result"]))["error"]["code"] == "tool_error"


@pytest.mark.parametrize(
    ("behaviour", "status", "title", "raises", "detail"),
    [
        ("raises", 500, "Internal Server Error", "RuntimeError", "reserve failed"),
        ("raises-timeout", 504, "Gateway Timeout", "TimeoutError", "reserve timed out"),
        (
            "rejects",
            403,
            "Forbidden",
            "PermissionError",
            "rejected by the executor: reserve is not allowed",
        ),
        (
            "commit-then-lose-response",
            502,
            "Bad Gateway",
            "ConnectionError",
            "connection closed before the response arrived",
        ),
    ],
)
def test_what_a_tool_raises_is_a_problem_that_names_it(
    behaviour: str, status: int, title: str, raises: str, detail: str
) -> None:
    assert ask(reserving(behaves=[behaviour])) == (
        status,
        {
            "type": "about:blank",
            "title": title,
            "status": status,
            "detail": detail,
            "raises": raises,
        },
        "application/problem+json",
    )


@pytest.mark.parametrize(
    ("path", "body", "method", "status", "detail"),
    [
        ("/tools/other", b"{}", "POST", 404, "there is no tool 'other'; tools here: reserve"),
        ("/tools", b"{}", "POST", 404, "nothing is served at /tools"),
        ("/tools/a/b", b"{}", "POST", 404, "nothing is served at /tools/a/b"),
        ("/tools/reserve", b"[1]", "POST", 400, "the body has to be a JSON object"),
        ("/tools/reserve", b'{"seat":', "POST", 400, "the body is not JSON"),
        ("/tools/reserve", b"\xff", "POST", 400, "the body is not JSON"),
        ("/tools/reserve", b"[" * 100_000, "POST", 400, "the body is not JSON"),
        ("/tools/reserve", b"{}", "GET", 405, "POST is served, not GET"),
        ("/operations", b"{}", "POST", 400, "'tool' and 'operation_id' have to be texts"),
        (
            "/operations",
            b'{"tool":"reserve","operation_id":"x"}',
            "POST",
            404,
            "reserve has no look-up of operations",
        ),
    ],
)
def test_request_that_reaches_no_body(
    path: str, body: bytes, method: str, status: int, detail: str
) -> None:
    staged = reserving()
    given, document, content_type = ask(staged, path, body, method=method)
    assert (given, document["status"], document["detail"]) == (status, status, detail)
    assert content_type == "application/problem+json"
    assert "raises" not in document
    assert staged.entries() == []


def test_tool_name_may_be_escaped_in_the_path() -> None:
    staged = Staged({"get seat/ü": {"kind": "read"}})
    status, _, _ = ask(staged, "/tools/get%20seat%2F%C3%BC", b"{}")
    assert status == 200
    assert staged.entries("execution")[0]["tool"] == "get seat/ü"


def test_look_up_of_an_operation() -> None:
    staged = reserving(lookup="found")
    ask(staged, headers={"idempotency-key": "op-1"})
    question = b'{"tool":"reserve","operation_id":"op-1"}'
    (execution,) = staged.entries("execution")
    assert ask(staged, "/operations", question)[:2] == (
        200,
        {
            "status": "found",
            "found": True,
            "result": f'{{"ok":true,"token":"{execution["token"]}"}}',
            "tool": "reserve",
            "arguments": {"seat": 12},
            "operation": None,
        },
    )
    assert staged.entries("lookup")[0]["answer"] == "found"


def test_operation_id_may_come_in_a_header_of_its_own() -> None:
    staged = reserving()
    ask(staged, headers={"x-operation-id": "op-2"})
    assert staged.entries("execution")[0]["operation_id"] == "op-2"


def test_busy_system_says_when_to_ask_again() -> None:
    request = HttpRequest(method="POST", path="/tools/reserve", body=b'{"seat":12}')
    staged = reserving(behaves=[{"rate-limited": "1500 ms"}])
    reply = reply_to(staged.world, request)
    assert json.loads(reply.segments[0]) == {
        "type": "about:blank",
        "title": "Too Many Requests",
        "status": 429,
        "detail": "reserve is busy: too many requests",
        "raises": "RateLimited",
        "retry_after": 1.5,
    }
    assert (reply.status, dict(reply.headers)["retry-after"]) == (429, "2")


def test_busy_system_may_leave_open_for_how_long() -> None:
    request = HttpRequest(method="POST", path="/tools/reserve", body=b'{"seat":12}')
    staged = reserving(behaves=["rate-limited"])
    reply = reply_to(staged.world, request)
    assert "retry_after" not in json.loads(reply.segments[0])
    assert "retry-after" not in dict(reply.headers)


def test_result_with_parts_has_them_beside_the_text() -> None:
    staged = reserving(returns_parts=[{"text": "Seat 12"}, {"image": "png"}])
    _, document, _ = ask(staged)
    token = staged.entries("execution")[0]["token"]
    assert document["result"] == f"Seat 12 {token}\n[image]"
    content = document["content"]
    assert isinstance(content, list)
    assert [part["type"] for part in content] == ["text", "image"]


def test_method_that_is_not_served_is_told_which_is() -> None:
    request = HttpRequest(method="PUT", path="/tools/reserve", body=b"{}")
    reply = reply_to(reserving().world, request)
    assert dict(reply.headers)["allow"] == "POST"


def test_caller_who_left_is_not_answered() -> None:
    staged = reserving(behaves=["never-answers"])

    left: Future[None] = Future()
    left.set_result(None)
    request = HttpRequest(method="POST", path="/tools/reserve", body=b'{"seat":12}', left=left)
    assert reply_to(staged.world, request).ending == "close"
    assert staged.entries("effect") == []


def test_closed_connection_ends_a_body_that_hangs() -> None:
    """Over a real server, which notices that the client is gone."""
    happened = {"execution": threading.Event(), "ended": threading.Event()}

    def watch(entry: Entry) -> None:
        if entry["kind"] in happened:
            happened[str(entry["kind"])].set()

    world = World(
        scenario({"reserve": {"kind": "read", "behaves": ["never-answers"]}}),
        seed=0,
        journal=Journal(watch),
    )
    with Server() as server:
        url = urlsplit(server.mount("case", tool_app(world)))
        connection = HTTPConnection(url.netloc)
        connection.request("POST", f"{url.path}/tools/reserve", b"{}")
        assert happened["execution"].wait(10)
        connection.close()
        assert happened["ended"].wait(10)
        world.close()
    assert server.errors == ()


def test_case_that_has_ended_is_unavailable() -> None:
    staged = reserving()
    staged.world.close()
    status, document, _ = ask(staged)
    assert (status, document["detail"]) == (503, "the case has ended")


def test_body_that_waits_does_not_block_the_loop() -> None:
    tools: dict[str, Arguments] = {
        "slow": {"kind": "read", "returns_after": ["quick.ended"]},
        "quick": {"kind": "read"},
    }
    staged = Staged(tools)
    staged.issue(("slow", "slow", "{}"), ("quick", "quick", "{}"))

    async def run() -> list[int]:
        app = tool_app(staged.world)
        requests = [HttpRequest(method="POST", path=f"/tools/{tool}", body=b"{}") for tool in tools]
        replies = await asyncio.gather(*map(app, requests))
        return [reply.status for reply in replies]

    assert asyncio.run(run()) == [200, 200]
    assert [entry["execution"] for entry in staged.entries("ended")] == [2, 1]


def test_error_of_the_harness_is_not_passed_off_as_the_tools() -> None:
    def fail(entry: Entry) -> None:
        raise RecursionError(str(entry["kind"]))

    world = World(scenario({"reserve": {"kind": "write"}}), seed=0, journal=Journal(fail))
    request = HttpRequest(method="POST", path="/tools/reserve", body=b'{"seat":12}')

    async def run() -> None:
        await tool_app(world)(request)

    with pytest.raises(RecursionError, match="execution"):
        asyncio.run(run())
