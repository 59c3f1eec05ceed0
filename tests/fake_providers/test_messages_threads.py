"""Message threads: what is stored, and what is refused with which code."""

from __future__ import annotations

import anthropic
import httpx2
import pytest
from messages_cases import TOOL, USER, answers, asks, calls, said, text
from sample_answers import VERSION, answer, call, hosted, read, refusals

from loopcheck.fake_providers.dialects import Memory
from loopcheck.fake_providers.dialects.messages import DIALECT
from loopcheck.fake_providers.script import Say, Stop
from loopcheck.fake_providers.wire import JsonObject, Piece, ServiceError

CREATE: JsonObject = {"type": "create"}
CACHED: JsonObject = {"cache_control": {"type": "ephemeral"}}


def continues(previous: str = "msg_1") -> JsonObject:
    return {"type": "continue", "previous_message_id": previous}


def created(
    *pieces: Piece, stop: Stop = "calls", response_id: str = "msg_1", **fields: object
) -> Memory:
    """The memory of a service that has answered the first request of a thread."""
    memory = Memory()
    first = read("messages", asks(USER, **{"thread": CREATE, **fields}))
    content = pieces or (call("a", "{}", tool="f"),)
    DIALECT.remember(answer(content, to=first, stop=stop, response_id=response_id), memory)
    return memory


def more(*messages: JsonObject, **fields: object) -> JsonObject:
    """A request that continues the thread and leaves out what the service holds."""
    sent = messages or (answers("toolu_a"),)
    body = {"model": "m", "max_tokens": 9, "messages": list(sent), "thread": continues()}
    return {**body, **fields}


def refused(body: JsonObject, memory: Memory, *on: str) -> list[tuple[str, ServiceError]]:
    return refusals(read("messages", body, memory), memory, on=on)


def client_error(error: ServiceError) -> anthropic.APIStatusError:
    """The refusal as the official client raises it."""
    transport = httpx2.MockTransport(
        lambda request: httpx2.Response(error.status, json=DIALECT.error_body(error, "req_1"))
    )
    http = httpx2.Client(transport=transport)
    with (
        anthropic.Anthropic(api_key="k", max_retries=0, http_client=http) as sdk,
        pytest.raises(anthropic.APIStatusError) as caught,
    ):
        sdk.messages.create(model="m", max_tokens=1, messages=[{"role": "user", "content": "x"}])
    return caught.value


@pytest.mark.parametrize(
    ("rule", "body", "code", "status", "message", "details"),
    [
        (
            "M38-not-found",
            more(thread=continues("msg_x")),
            "thread_not_found",
            404,
            "thread: no thread was found for previous_message_id msg_x",
            {},
        ),
        (
            "M38-fingerprint",
            more(system="Be brief."),
            "thread_fingerprint_mismatch",
            400,
            "thread: `system` differs from the value stored with the thread",
            {},
        ),
        (
            "M38-fingerprint",
            more(tools=[TOOL]),
            "thread_fingerprint_mismatch",
            400,
            "thread: `tools` differs from the value stored with the thread",
            {},
        ),
        (
            "M38-unsupported",
            more(context_management={}, fallbacks=[]),
            "thread_unsupported_request",
            400,
            "thread: context_management, fallbacks cannot be used when thread is set",
            {"unsupported": ["context_management", "fallbacks"]},
        ),
        (
            "M38-organization",
            asks(USER, thread=CREATE),
            "thread_unsupported_request",
            400,
            "thread: threads are not available to this organization",
            {"unsupported": ["hipaa"]},
        ),
        (
            "M39",
            asks(
                {"role": "user", "content": [{**text("x"), **CACHED}] * 2},
                thread=CREATE,
                system=[{**text("x"), **CACHED}],
                tools=[{**TOOL, **CACHED}],
            ),
            "thread_unsupported_request",
            400,
            "thread: a maximum of 3 blocks with cache_control may be provided when thread is set",
            {"unsupported": ["cache_control"]},
        ),
    ],
)
def test_threads_are_refused_with_their_codes(
    rule: str, body: JsonObject, code: str, status: int, message: str, details: JsonObject
) -> None:
    found = dict(refused(body, created(), rule))[rule]
    assert (found.status, found.message, found.param) == (status, message, "thread")
    assert found.details == {"error_code": code, **details}
    assert DIALECT.error_body(found, "req_1")["error"] == {
        "type": "not_found_error" if status == 404 else "invalid_request_error",
        "message": message,
        "details": {"error_code": code, **details},
    }
    raised = client_error(found)
    assert (raised.status_code, raised.error_code) == (status, code)


@pytest.mark.parametrize(
    "body",
    [
        more(),
        more(system=None, tools=None),
        more(tools=asks()["tools"]),
        more(system=[{**text("x"), **CACHED}]),
        more(tools=[{**TOOL, **CACHED}, {"type": "web_search_20250305", "name": "web_search"}]),
        more(answers("toolu_a"), {"role": "user", "content": [{**text("x"), **CACHED}] * 3}),
        asks(USER, context_management={}, fallbacks=[]),
        asks({"role": "user", "content": [{**text("x"), **CACHED}] * 4}),
    ],
)
def test_what_may_be_sent_in_a_thread_or_without_one(body: JsonObject) -> None:
    memory = created(system=[text("x")])
    assert refused(body, memory, "M38-unsupported") == []


def test_a_response_is_continued_only_once() -> None:
    memory = created()
    second = read("messages", more(), memory)
    assert refusals(second, memory) == []
    DIALECT.remember(answer([Say("Done.")], to=second, stop="end", response_id="msg_2"), memory)
    [(rule, error)] = refusals(read("messages", more(), memory), memory)
    assert (rule, error.status) == ("M38-continued", 400)
    assert error.message == "thread: the response msg_1 has already been continued"
    assert client_error(error).error_code == "thread_already_continued"
    assert refusals(read("messages", more(USER, thread=continues("msg_2")), memory), memory) == []


def test_a_request_whose_answer_was_lost_may_be_sent_again() -> None:
    memory = created()
    for _ in range(2):
        assert refusals(read("messages", more(), memory), memory) == []


def test_a_paused_turn_goes_on_without_new_messages() -> None:
    memory = created(hosted("look"), stop="pause", model="claude-opus-5-5")
    body = {**more(), "messages": [], "model": "claude-opus-5-5"}
    got = read("messages", body, memory)
    assert refusals(got, memory) == []
    assert [message["role"] for message in got.history] == ["user", "assistant"]
    assert got.tools == read("messages", asks(USER)).tools


def test_calls_of_the_thread_have_to_be_answered() -> None:
    memory = created()
    assert [rule for rule, _ in refusals(read("messages", more(USER), memory), memory)] == ["M1"]
    assert [r for r, _ in refusals(read("messages", more(answers("x")), memory), memory)] == [
        "M1",
        "M2",
    ]


def test_without_its_rule_an_unknown_thread_is_read_as_empty() -> None:
    got = read("messages", more(USER, thread=continues("msg_x")), headers=VERSION)
    assert list(got.history) == [USER]
    assert [rule for rule, _ in refusals(got)] == ["M38-not-found"]


def test_a_replay_of_the_whole_conversation_starts_a_new_thread() -> None:
    memory = created()
    history = [USER, calls("toolu_a"), answers("toolu_a")]
    again = read("messages", asks(*history, thread=CREATE), memory)
    assert refusals(again, memory) == []
    DIALECT.remember(answer([Say("Hi.")], to=again, stop="end", response_id="msg_2"), memory)
    assert memory.conversations["msg_2"] == [*history, said(text("Hi."))]
