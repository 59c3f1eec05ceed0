"""Tools that are operations of an HTTP service: the trace and the credentials of a request."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import httpx2
import pytest
from http_services import (
    BASE,
    JsonObject,
    Service,
    document,
    failure,
    operation,
    parameter,
    run,
    sent,
)

from loopcheck.reference_loop import HttpCall, ToolFailure, openapi_tools, trace_headers

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def traced(described: JsonObject, **options: Any) -> dict[str, str]:
    headers = sent(described, {}, **options).headers
    return {
        name: headers[name] for name in ("traceparent", "tracestate", "baggage") if name in headers
    }


def test_the_trace_goes_on_as_the_context_says() -> None:
    given = {"Traceparent": PARENT, "tracestate": "a=1", "baggage": "secret=1"}
    token = trace_headers.set(given)
    try:
        assert traced(operation()) == {"traceparent": PARENT, "tracestate": "a=1"}
    finally:
        trace_headers.reset(token)
    assert traced(operation()) == {}


@pytest.mark.parametrize(
    "given",
    [
        {"tracestate": "a=1"},
        {"traceparent": PARENT.upper(), "tracestate": "a=1"},
        {"traceparent": "ff" + PARENT[2:]},
        {"traceparent": f"00-{'0' * 32}-b7ad6b7169203331-01"},
        {"traceparent": f"00-0af7651916cd43dd8448eb211c80319c-{'0' * 16}-01"},
    ],
)
def test_an_invalid_trace_is_not_passed_on(given: Mapping[str, str]) -> None:
    assert traced(operation(), trace=lambda: given) == {}


def test_an_invalid_state_is_left_out() -> None:
    given = {"traceparent": PARENT, "tracestate": "a=ü"}
    assert traced(operation(), trace=lambda: given) == {"traceparent": PARENT}


def test_the_span_of_opentelemetry_is_the_parent() -> None:
    trace = pytest.importorskip("opentelemetry.trace")
    context = trace.SpanContext(
        trace_id=int(PARENT[3:35], 16),
        span_id=int(PARENT[36:52], 16),
        is_remote=False,
        trace_flags=trace.TraceFlags(1),
    )
    with trace.use_span(trace.NonRecordingSpan(context)):
        assert traced(operation()) == {"traceparent": PARENT}


def test_without_opentelemetry_there_is_no_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    assert traced(operation()) == {}


def test_credentials_are_asked_for_with_each_call() -> None:
    asked: list[HttpCall] = []

    async def credentials(call: HttpCall) -> Mapping[str, str]:
        asked.append(call)
        return {"Authorization": f"Bearer token-{len(asked)}\n"}

    service = Service()
    described = operation(security=[{"bearer": [], "key": ["read"]}, {}])
    tool = service.tool(described, credentials=credentials)
    run(tool)
    run(tool)
    assert [one.headers["authorization"] for one in service.seen] == [
        "Bearer token-1",
        "Bearer token-2",
    ]
    security = (("bearer", "key"), ())
    assert asked[0] == HttpCall(tool="call", method="GET", base_url=BASE, security=security)


def test_credentials_never_come_back_in_a_result() -> None:
    async def credentials(call: HttpCall) -> Mapping[str, str]:
        return {"Authorization": "Bearer geheim-0815"}

    def echo(request: httpx2.Request) -> httpx2.Response:
        status = 200 if request.url.path.endswith("/ok") else 400
        return httpx2.Response(status, text=f"You sent {request.headers['authorization']}.")

    described = document({"/ok": {"get": {}}, "/bad": {"get": {}}})
    client = httpx2.AsyncClient(transport=httpx2.MockTransport(echo))
    good, bad = openapi_tools(described, client=client, base_url=BASE, credentials=credentials)
    assert run(good) == "You sent [credential]."
    assert failure(bad).message == "400 Bad Request: You sent [credential]."
    client.headers["authorization"] = "Basic Z2VoZWltOjA4MTU="
    (own, _) = openapi_tools(described, client=client, base_url=BASE)
    assert run(own) == "You sent [credential]."


def test_cookies_that_authorise_stand_before_those_of_the_arguments() -> None:
    async def credentials(call: HttpCall) -> Mapping[str, str]:
        return {"Cookie": "sid=geheim-0815; a=b"}

    echo = httpx2.Response(200, text="Cookies: a=b, sid=geheim-0815, theme=dark")
    service = Service([echo])
    tool = service.tool(operation(parameter("theme", "cookie")), credentials=credentials)
    assert run(tool, {"theme": "dark"}) == "Cookies: a=b, sid=[credential], theme=dark"
    assert service.seen[-1].headers["cookie"] == "sid=geheim-0815; a=b; theme=dark"


def test_without_credentials_nothing_is_sent_and_nothing_is_told() -> None:
    async def broken(call: HttpCall) -> Mapping[str, str]:
        raise LookupError("no password for geheim-0815")

    async def denied(call: HttpCall) -> Mapping[str, str]:
        raise PermissionError("not for you")

    service = Service()
    failed = failure(service.tool(operation(method="post"), credentials=broken))
    assert failed == ToolFailure("no_credentials", "no credentials could be had: LookupError")
    with pytest.raises(PermissionError, match="not for you"):
        run(service.tool(operation(method="post"), credentials=denied))
    assert service.seen == []
