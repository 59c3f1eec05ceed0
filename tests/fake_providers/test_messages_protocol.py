from __future__ import annotations

import json
import re
from typing import cast

import anthropic
import pytest
from hypothesis import given
from hypothesis import strategies as st
from messages_client import client, created, streamed
from sample_answers import rendered

from loopcheck.fake_providers.dialects import Memory
from loopcheck.fake_providers.dialects.messages import DIALECT
from loopcheck.fake_providers.faults import Rendered
from loopcheck.fake_providers.ids import digest
from loopcheck.fake_providers.script import ErrorName, Fault, Place
from loopcheck.fake_providers.wire import HttpRequest, JsonObject, ServiceError


def test_where_it_is_served() -> None:
    assert DIALECT.base_url("http://127.0.0.1:1/c/k") == "http://127.0.0.1:1/c/k"
    for method, path, kind in [
        ("POST", "/v1/messages", "generate"),
        ("POST", "/v1/messages/count_tokens", "side"),
        ("GET", "/v1/models", "side"),
        ("GET", "/v1/models/claude-sonnet-5", "side"),
        ("GET", "/v1/messages", None),
        ("POST", "/v1/models", None),
        ("POST", "/messages", None),
    ]:
        assert DIALECT.serves(method, path) == kind


@pytest.mark.parametrize(
    ("headers", "key"),
    [
        ({"x-api-key": "old"}, "old"),
        ({"authorization": "Bearer new"}, "new"),
        ({"authorization": "bearer new"}, "new"),
        ({"authorization": "Basic new"}, None),
        ({"authorization": "Bearer "}, None),
        ({"x-api-key": ""}, None),
        ({}, None),
    ],
)
def test_both_generations_of_keys(headers: dict[str, str], key: str | None) -> None:
    assert DIALECT.authenticate(headers) == key


def side(method: str, path: str, body: bytes = b"") -> Rendered:
    request = HttpRequest(method=method, path=path, body=body)
    text = json.dumps(DIALECT.side(request))
    return Rendered(
        status=200,
        headers=(("content-type", "application/json"),),
        body_frames=(),
        segments=(text.encode(),),
        streamed=False,
        ending="complete",
        keep_alive=True,
        sent={},
        ends="well",
        frame_texts=(text,),
    )


def test_what_side_requests_ask_for_may_not_be_there() -> None:
    memory = Memory(models=frozenset({"claude-x"}))
    known = DIALECT.side(HttpRequest(method="GET", path="/v1/models"), memory)
    assert [model["id"] for model in cast("list[JsonObject]", known["data"])] == ["claude-x"]
    with pytest.raises(ServiceError) as caught:
        DIALECT.side(HttpRequest(method="GET", path="/v1/models/claude-y"), memory)
    assert (caught.value.status, caught.value.message) == (404, "model: claude-y")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"{", "The request body is not valid JSON"),
        (b"[]", "Input should be an object"),
        (b"{}", "model: Field required"),
        (b'{"model":"m"}', "messages: Field required"),
    ],
)
def test_what_cannot_be_counted_is_refused(body: bytes, message: str) -> None:
    with pytest.raises(ServiceError) as caught:
        DIALECT.side(HttpRequest(method="POST", path="/v1/messages/count_tokens", body=body))
    assert caught.value.status == 400
    assert caught.value.message.startswith(message)


def test_side_requests_get_answers_the_official_client_reads() -> None:
    short, long = (
        DIALECT.side(HttpRequest(method="POST", path="/v1/messages/count_tokens", body=body))
        for body in (
            b'{"model":"m","messages":[]}',
            b'{"model":"m","messages":[%s]}' % (b" " * 800),
        )
    )
    assert short["input_tokens"] == 7
    assert long["input_tokens"] == 207
    with client(side("GET", "/v1/models")) as sdk:
        assert [model.id for model in sdk.models.list()][-1] == "claude-haiku-4-5"
    with client(side("GET", "/v1/models/claude-x")) as sdk:
        assert sdk.models.retrieve("claude-x").display_name == "claude-x"


@pytest.mark.parametrize(
    ("name", "status", "kind", "message"),
    [
        ("invalid", 400, "invalid_request_error", "Invalid request"),
        ("auth", 401, "authentication_error", "invalid x-api-key"),
        ("quota", 402, "billing_error", "Your credit balance is too low"),
        ("not_found", 404, "not_found_error", "model: claude-sonnet-5"),
        ("conflict", 409, "conflict_error", "The request conflicts"),
        ("rate_limit", 429, "rate_limit_error", "This request would exceed your organization's"),
        ("server", 500, "api_error", "Internal server error"),
        ("unavailable", 503, "api_error", "Service unavailable"),
        ("timeout", 504, "timeout_error", "Request timed out"),
        ("overloaded", 529, "overloaded_error", "Overloaded"),
        ("context", 400, "invalid_request_error", "prompt is too long: "),
    ],
)
def test_errors_reach_the_official_client(
    name: ErrorName, status: int, kind: str, message: str
) -> None:
    response = rendered(Fault(kind="http", error=name))
    with pytest.raises(anthropic.APIStatusError) as caught:
        created(response)
    error = caught.value
    assert (error.status_code, error.type) == (status, kind)
    assert error.api_message is not None
    assert error.api_message.startswith(message)
    assert error.request_id == json.loads(response.segments[0])["request_id"]


def test_an_error_event_reaches_the_official_client() -> None:
    fault = Fault(kind="error-event", error="overloaded", at=Place(before="mail"))
    response = rendered(fault)
    with pytest.raises(anthropic.APIStatusError) as caught:
        streamed(response)
    assert (caught.value.status_code, caught.value.type) == (200, "overloaded_error")


def test_headers() -> None:
    headers = dict(DIALECT.headers("req_1", streamed=True))
    assert headers["request-id"] == "req_1"
    assert headers["cache-control"] == "no-cache"
    assert headers["anthropic-ratelimit-input-tokens-limit"] == "400000"
    assert headers["anthropic-ratelimit-requests-reset"] == "2026-11-30T12:00:00Z"
    assert "cache-control" not in dict(DIALECT.headers("req_1", streamed=False))
    assert "content-type" not in headers


@given(st.text(max_size=40), st.integers())
def test_a_call_id_shows_its_label_in_the_service_s_shape(label: str, seed: int) -> None:
    call_id = DIALECT.call_id(label, digest(seed))
    assert re.fullmatch(r"toolu_01[a-zA-Z0-9_-]{22}", call_id)
    assert call_id != DIALECT.call_id(label, digest(seed, "again"))


def test_ids() -> None:
    mark = digest(1, "x")
    assert DIALECT.call_id("book seat!", mark).startswith("toolu_01bookseat")
    assert re.fullmatch(r"msg_01[1-9A-HJ-NP-Za-km-z]{22}", DIALECT.response_id(mark))
    assert re.fullmatch(r"req_01[1-9A-HJ-NP-Za-km-z]{22}", DIALECT.request_id(mark))
    assert DIALECT.item_id("call", mark) == ""
