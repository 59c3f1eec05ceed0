"""Tools that are operations of an HTTP service: what an answer means, and what none means."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import replace
from typing import Any

import httpx2
import pytest
from http_services import JsonObject, Service, failure, operation, problem, run
from tool_desk import Runner, answer, error_of

from loopcheck.fake_providers.server import Server
from loopcheck.fake_providers.wire import HttpRequest, Reply
from loopcheck.reference_loop import (
    CallResult,
    LookUp,
    LoopTool,
    OutcomeUnknownError,
    ProposedCall,
    Retries,
    ToolFailure,
    ToolLimits,
    openapi_tools,
)
from loopcheck.reference_loop.tools import AskAfter

READ = operation()
WRITE = operation(method="post")
NOW = 1_772_323_200.0  # Sun, 01 Mar 2026 00:00:00 GMT


def read(response: httpx2.Response | Exception, **options: Any) -> LoopTool:
    return Service([response]).tool(READ, now=lambda: NOW, **options)


def write(response: httpx2.Response | Exception, **options: Any) -> LoopTool:
    return Service([response]).tool(WRITE, now=lambda: NOW, **options)


def unknown(tool: LoopTool) -> str:
    with pytest.raises(OutcomeUnknownError) as error:
        run(tool)
    return str(error.value)


def response(
    status: int, content: bytes = b"", kind: str | None = None, **headers: str
) -> httpx2.Response:
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    if kind is not None:
        named["content-type"] = kind
    return httpx2.Response(status, content=content, headers=named)


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (response(200, b'{"a": 1}', "application/json"), '{"a": 1}'),
        (response(201, "\u00fc".encode(), "application/vnd.seat+json"), "\u00fc"),
        (response(200, b"\xfc", 'text/plain; format=flowed; charset="latin-1"'), "\u00fc"),
        (response(200, b"a,b", "Text/CSV"), "a,b"),
        (response(200, b"plain"), "plain"),
        (response(204), '{"status": 204}'),
        (response(202, b"", "application/json"), '{"status": 202}'),
        (response(200, b'{"error": "sold out"}', "application/json"), '{"error": "sold out"}'),
        (
            response(200, b'{"error": null, "id": 5}', "application/json"),
            '{"status": 200, "body": {"error": null, "id": 5}}',
        ),
    ],
)
def test_a_success_is_its_text(answer: httpx2.Response, text: str) -> None:
    assert run(read(answer)) == text


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (response(200, b"\x89PNG", "image/png"), "image/png"),
        (response(200, b"\xff", "application/json"), "application/json"),
        (response(200, b"a", "text/plain; charset=klingon"), "text/plain"),
        (response(200, b"\xff\xfe\x00"), "no content type"),
    ],
)
def test_what_is_no_text_fails_a_read_and_not_a_write(answer: httpx2.Response, kind: str) -> None:
    assert failure(read(answer)) == ToolFailure(
        "response_not_text", f"GET /seats succeeded (200), but it is not text ({kind})."
    )
    note = f"POST /seats succeeded (200), but it is not text ({kind})."
    assert json.loads(run(write(answer))) == {"status": 200, "note": note}


def test_so_does_what_is_too_large() -> None:
    answer = response(200, b"12345")
    assert run(read(answer, max_response_bytes=5)) == "12345"
    assert failure(read(answer, max_response_bytes=4)).code == "response_too_large"
    assert "more bytes than are read" in run(write(answer, max_response_bytes=4))


def test_an_endless_response_is_read_to_its_limit() -> None:
    read_so_far: list[int] = []

    class Endless(httpx2.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            while True:
                read_so_far.append(1)
                yield b"x" * 10

    tool = read(httpx2.Response(200, stream=Endless()), max_response_bytes=25)
    assert failure(tool).code == "response_too_large"
    assert len(read_so_far) == 3


PROBLEM: JsonObject = {
    "type": "https://seats.test/problems/sold-out",
    "title": "Sold out",
    "detail": "Seat 12 is taken.",
}


@pytest.mark.parametrize(
    ("answer", "code", "message"),
    [
        (problem(409, **PROBLEM), "sold_out", "409 Sold out: Seat 12 is taken."),
        (problem(404, type="about:blank"), "not_found", "404 Not Found"),
        (problem(404, title="None", detail="None"), "not_found", "404 None"),
        (problem(400, type="urn:x:bad-seat", detail=7), "bad_seat", "400 Bad Request"),
        (problem(400, type="https://x.test/p#seat"), "seat", "400 Bad Request"),
        (problem(400, type="https://x.test/p/"), "p", "400 Bad Request"),
        (problem(400, type="https://[x"), "bad_request", "400 Bad Request"),
        (problem(400, type="https://x.test"), "bad_request", "400 Bad Request"),
        (
            problem(
                400,
                title="Invalid",
                errors=[
                    {"pointer": "#/seat", "detail": "too high"},
                    {"detail": "closed"},
                    {"pointer": "#/x"},
                    "x",
                ],
            ),
            "bad_request",
            "400 Invalid; #/seat: too high; #: closed",
        ),
        (
            response(400, b"[1]", "application/problem+json"),
            "bad_request",
            "400 Bad Request",
        ),
        (response(400, b"{", "application/problem+json"), "bad_request", "400 Bad Request"),
        (response(400, b"no\n  seat", "text/plain"), "bad_request", "400 Bad Request: no seat"),
        (
            response(400, b'{"e": 1}', "application/json"),
            "bad_request",
            '400 Bad Request: {"e": 1}',
        ),
        (response(403, b"\x00", "image/png"), "forbidden", "403 Forbidden"),
        (
            response(418, b"x" * 600, "text/plain"),
            "i_m_a_teapot",
            f"418 I'm a Teapot: {'x' * 500}…",
        ),
        (response(499), "status_499", "499 Status 499"),
        (
            response(307, location="https://elsewhere.test"),
            "temporary_redirect",
            "307 Temporary Redirect",
        ),
    ],
)
def test_an_orderly_refusal_is_a_failure_with_nothing_done(
    answer: httpx2.Response, code: str, message: str
) -> None:
    for tool in (read(answer), write(answer)):
        assert failure(tool) == ToolFailure(code, message)


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "Sun, 01 Mar 2026 00:02:00 GMT"}, 120.0),
        ({"retry-after": "soon"}, None),
    ],
)
def test_not_now_may_be_asked_again(headers: Mapping[str, str], wait: float | None) -> None:
    for status in (408, 425, 429):
        for tool in (read(problem(status, headers)), write(problem(status, headers))):
            failed = failure(tool)
            assert (failed.retryable, failed.retry_after) == (True, wait)


@pytest.mark.parametrize("status", [500, 502, 503, 504, 501, 505, 301, 302, 303, 304])
def test_other_errors_leave_the_outcome_of_a_write_unknown(status: int) -> None:
    assert unknown(write(problem(status, detail="x"))).startswith(f"POST /seats: {status} ")
    assert failure(read(problem(status))).retryable == (status in (500, 502, 503, 504))


def test_a_server_that_says_when_to_come_again_did_nothing() -> None:
    failed = failure(write(problem(503, {"retry-after": "5"})))
    assert (failed.code, failed.retryable, failed.retry_after) == ("service_unavailable", True, 5.0)


@pytest.mark.parametrize(
    "error",
    [
        httpx2.ConnectError("refused"),
        httpx2.ConnectTimeout("slow"),
        httpx2.PoolTimeout("full"),
        httpx2.ProxyError("no"),
        httpx2.UnsupportedProtocol("gopher"),
    ],
)
def test_what_was_never_sent_did_nothing(error: httpx2.TransportError) -> None:
    for tool in (read(error), write(error)):
        failed = failure(tool)
        assert (failed.code, failed.retryable) == ("unreachable", True)
        assert f"/seats: {type(error).__name__}: {error}" in failed.message


@pytest.mark.parametrize(
    "error",
    [
        httpx2.ReadTimeout(""),
        httpx2.ReadError("reset"),
        httpx2.WriteError("broken pipe"),
        httpx2.RemoteProtocolError("disconnected"),
        httpx2.DecodingError("no gzip"),
    ],
)
def test_what_was_sent_and_not_answered_is_unknown(error: httpx2.RequestError) -> None:
    words = f"{type(error).__name__}: {error}".rstrip(": ")
    assert unknown(write(error)) == f"POST /seats: {words}"
    assert failure(read(error)) == ToolFailure(
        "no_response", f"GET /seats: {words}", retryable=True
    )


class Broken(httpx2.AsyncByteStream):
    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield b'{"detail"'
        raise httpx2.ReadError("reset")


def test_a_body_that_breaks_off_matters_only_after_a_success() -> None:
    assert unknown(write(httpx2.Response(200, stream=Broken()))) == "POST /seats: ReadError: reset"
    refused = httpx2.Response(400, stream=Broken(), headers={"content-type": "text/plain"})
    assert failure(write(refused)).message == '400 Bad Request: {"detail"'


class Seats:
    """A real server that books seats, and answers or does not, as `endings` says."""

    def __init__(self) -> None:
        self.booked: list[str] = []
        self.keys: list[str | None] = []
        self.endings: list[str] = []

    def __call__(self, request: HttpRequest) -> Reply:
        key = request.headers.get("idempotency-key")
        self.keys.append(key)
        if key is None or key not in self.keys[:-1]:
            self.booked.append(request.body.decode())
        ending = self.endings.pop(0) if self.endings else "complete"
        headers = (("content-type", "application/json"),)
        return Reply(
            status=200,
            headers=headers,
            segments=(b'{"ok"', b": true}"),
            ending=ending,  # type: ignore[arg-type]
        )


@pytest.fixture
def seats() -> Iterator[tuple[Seats, str]]:
    app = Seats()
    with Server() as server:
        yield app, server.mount("seats", app)


BODY: JsonObject = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
KEYED = operation(
    {"name": "Idempotency-Key", "in": "header", "schema": {}}, method="post", body=BODY
)
PLAIN = operation(method="post", body=BODY)


def asked(n: int) -> ProposedCall:
    return ProposedCall(call_id="c", name="call", arguments_text=json.dumps({"n": n}))


def rounds(
    described: JsonObject, root: str, look_up: AskAfter | None = None
) -> tuple[CallResult, CallResult]:
    """The results of the same call twice, in two rounds."""

    async def through() -> tuple[CallResult, CallResult]:
        async with httpx2.AsyncClient(trust_env=False) as client:
            (tool,) = openapi_tools(
                described, client=client, base_url=root, operation={"call": ("n",)}
            )
            runner = Runner([replace(tool, look_up=look_up)])
            (first,) = await answer(runner, asked(12))
            (second,) = await answer(runner, asked(12))
            return first, second

    return asyncio.run(through())


@pytest.mark.parametrize("ending", ["close", "half-chunk"])
def test_a_lost_response_is_looked_up(seats: tuple[Seats, str], ending: str) -> None:
    app, root = seats
    app.endings = [ending]
    asked_for: list[str] = []

    async def look_up(operation_id: str) -> LookUp:
        asked_for.append(operation_id)
        return LookUp("found", "It is booked.")

    first, second = rounds(PLAIN, root, look_up)
    assert (first.text, second.text) == ("It is booked.", "It is booked.")
    assert asked_for == app.keys
    assert app.booked == ['{"n": 12}']


def test_a_lost_response_is_asked_for_again_under_the_same_key(seats: tuple[Seats, str]) -> None:
    app, root = seats
    app.endings = ["close"]
    first, second = rounds(KEYED, root)
    assert error_of(first)["code"] == "outcome_unknown"
    assert second.text == '{"ok": true}'
    assert app.keys[0] == app.keys[1]
    assert app.booked == ['{"n": 12}']


def test_without_a_key_it_is_never_repeated(seats: tuple[Seats, str]) -> None:
    app, root = seats
    app.endings = ["close"]
    first, second = rounds(PLAIN, root)
    assert error_of(first)["code"] == error_of(second)["code"] == "outcome_unknown"
    assert app.booked == ['{"n": 12}']


def test_a_read_is_tried_again_after_the_time_that_was_asked_for() -> None:
    service = Service([problem(429, {"retry-after": "3"}), response(200, b"free")])
    runner = Runner([service.tool(READ)], limits=ToolLimits(retries=Retries(count=1)))
    call = ProposedCall(call_id="c", name="call", arguments_text="{}")
    (result,) = asyncio.run(answer(runner, call))
    assert (result.text, runner.waits) == ("free", [3.0])
