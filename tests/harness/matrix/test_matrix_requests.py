"""What is kept of a request for comparison, and what is not."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from loopcheck.harness.journal import Entry
from loopcheck.harness.matrix.requests import WireLog, body_paths
from loopcheck.harness.matrix.results import Asked, Wire

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text(max_size=8), below),
    max_leaves=12,
)


def request(number: int = 1, **fields: object) -> Entry:
    plain: Entry = {
        "kind": "request",
        "n": number,
        "request": number,
        "method": "POST",
        "path": "/v1/chat/completions",
        "headers": {},
        "body": {},
        "role": "turn",
        "turn": 1,
        "attempt": number,
    }
    return {**plain, **fields}


def wire(*entries: Entry) -> Wire:
    log = WireLog()
    log.add("a[chat-whole]", "chat", entries)
    return log.wire()


def test_words_of_the_client_are_kept_and_texts_of_the_script_are_not() -> None:
    body = {
        "model": "gpt-4o",
        "stream": True,
        "max_tokens": 1024,
        "stop": None,
        "messages": [
            {"role": "user", "content": "Reserve seat 12 at event E1."},
            {"role": "assistant", "tool_calls": [{"id": "call_seat_8Hx2Yq1", "type": "function"}]},
            {"role": "tool", "tool_call_id": "call_seat_8Hx2Yq1", "content": "ok"},
        ],
        "tools": [],
    }
    assert body_paths(body) == {
        "max_tokens": ("1024",),
        "messages[assistant].role": ('"assistant"',),
        "messages[assistant].tool_calls[function].id": ("text",),
        "messages[assistant].tool_calls[function].type": ('"function"',),
        "messages[tool].content": ("text",),
        "messages[tool].role": ('"tool"',),
        "messages[tool].tool_call_id": ("text",),
        "messages[user].content": ("text",),
        "messages[user].role": ('"user"',),
        "model": ('"gpt-4o"',),
        "stop": ("null",),
        "stream": ("true",),
        "tools": ("[]",),
    }


def test_names_and_values_of_the_user_are_no_paths() -> None:
    schema = {"type": "object", "properties": {"seat": {"type": "integer"}}, "required": ["seat"]}
    body = {"input": {"seat": 12}, "tools": [{"input_schema": schema}]}
    assert body_paths(body) == {
        "input": ("object",),
        "tools[].input_schema.properties.*.type": ('"integer"',),
        "tools[].input_schema.required": ("array",),
        "tools[].input_schema.type": ('"object"',),
    }


@given(JSON)
def test_every_body_has_paths(body: object) -> None:
    found = body_paths(body)
    assert all(values for values in found.values())
    assert found == body_paths(body)


def test_addresses_and_made_up_ids_do_not_count() -> None:
    made_up = "stainless-3f2504e0-4f89-11d3-9a0c-0305e82c3301"
    headers = {
        "host": "127.0.0.1:4711",
        "content-length": "603",
        "user-agent": "X/1",
        "idempotency-key": made_up,
    }
    found = wire(request(headers=headers, secrets={"authorization": "Bearer ***"}))
    assert found.headers == (
        {
            "authorization": "Bearer ***",
            "idempotency-key": "stainless-…",
            "user-agent": "X/1",
        },
    )


def test_tries_are_told_with_what_was_answered() -> None:
    entries = [
        request(1),
        {"kind": "response", "request": 1, "status": 503, "fault": "http", "ends": "failed"},
        request(2),
        {"kind": "response", "request": 2, "status": 200, "fault": "close", "ends": "failed"},
        request(3),
        {"kind": "response", "request": 3, "status": 200, "fault": None, "ends": "well"},
    ]
    found = wire(*entries).cases[0].requests
    assert [(one.attempt, one.answered) for one in found] == [(1, "503"), (2, "close"), (3, "")]


def test_ids_in_an_endpoint_do_not_count() -> None:
    beside = request(path="/v1/responses/resp_0a1b2c3d4e5f/cancel", turn=None, attempt=None)
    assert wire(beside).cases[0].requests == (
        Asked(turn=None, attempt=1, endpoint="POST /v1/responses/*/cancel", headers=0, body=0),
    )


def test_equal_headers_and_bodies_are_held_once_also_when_they_are_taken_over() -> None:
    one = wire(request(1, headers={"a": "1"}), request(2, headers={"a": "1"}))
    assert (len(one.headers), len(one.bodies)) == (1, 1)
    log = WireLog()
    log.add("b[chat-whole]", "chat", [request(1, headers={"b": "2"})])
    log.take(one, cases=frozenset({"a[chat-whole]"}))
    both = log.wire()
    assert both.headers == ({"b": "2"}, {"a": "1"})
    assert [asked.headers for asked in both.cases[1].requests] == [1, 1]
    log.take(one, cases=frozenset())
    assert log.wire() == both
