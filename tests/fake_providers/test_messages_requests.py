from __future__ import annotations

import json
from collections.abc import Sequence

import anthropic
import httpx2
import pytest
from anthropic import beta_tool
from openai_answers import material
from sample_answers import PROMPT, SEAT, VERSION, answer, call, read

from loopcheck.fake_providers.dialects import Memory
from loopcheck.fake_providers.dialects.messages import DIALECT
from loopcheck.fake_providers.script import Say, Stop
from loopcheck.fake_providers.wire import (
    HttpRequest,
    Item,
    JsonObject,
    OfferedTool,
    Piece,
    Reading,
    ServiceError,
)

HEADERS = {**VERSION, "x-api-key": "test"}
TOOL: JsonObject = {"name": "reserve_seat", "input_schema": {"type": "object"}}


def reading(
    messages: Sequence[JsonObject], memory: Memory | None = None, **fields: object
) -> Reading:
    body = {"model": "claude-sonnet-5", "max_tokens": 99, "messages": messages, **fields}
    return read("messages", body, memory)


def refusal_of(body: object, headers: dict[str, str] = HEADERS) -> ServiceError:
    with pytest.raises(ServiceError) as caught:
        read("messages", body, headers=headers)
    return caught.value


# Requests


def test_a_conversation_becomes_neutral_items() -> None:
    conversation: list[JsonObject] = [
        {"role": "user", "content": PROMPT},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "A seat.", "signature": "s"},
                {"type": "text", "text": "I will."},
                {"type": "tool_use", "id": "t1", "name": "f", "input": {"b": [1], "é": 2.5}},
                {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "t1",
                    "is_error": True,
                    "content": [{"type": "text", "text": "no "}, {"type": "text", "text": "seat"}],
                },
                {"type": "text", "text": "Go on."},
                {"type": "image", "source": {}},
            ],
        },
        {"role": "assistant", "content": "Sorry."},
        {"role": "system", "content": [{"type": "text", "text": "Be brief."}]},
        {"role": "user", "content": [{"type": "redacted_thinking", "data": "x"}]},
    ]
    got = reading(conversation, system=[{"type": "text", "text": "You book."}])
    assert list(got.history) == conversation
    assert list(got.items) == [
        Item(kind="system", path="system", text="You book."),
        Item(kind="user", path="messages.0", text=PROMPT),
        Item(kind="think", path="messages.1.content.0", text="A seat.", reply=0),
        Item(kind="say", path="messages.1.content.1", text="I will.", reply=0),
        Item(
            kind="call",
            path="messages.1.content.2",
            call_id="t1",
            name="f",
            arguments='{"b":[1],"é":2.5}',
            reply=0,
        ),
        Item(kind="other", path="messages.1.content.3", reply=0),
        Item(
            kind="result",
            path="messages.2.content.0",
            call_id="t1",
            text="no seat",
            is_error=True,
        ),
        Item(kind="user", path="messages.2.content.1", text="Go on."),
        Item(kind="other", path="messages.2.content.2"),
        Item(kind="say", path="messages.3", text="Sorry.", reply=1),
        Item(kind="system", path="messages.4.content.0", text="Be brief."),
        Item(kind="think", path="messages.5.content.0"),
    ]


@pytest.mark.parametrize(
    ("fields", "text", "is_error"),
    [
        ({"content": "12"}, "12", None),
        ({}, "", None),
        ({"content": [], "is_error": False}, "", False),
        ({"content": [{"type": "image", "source": {}}], "is_error": None}, "", False),
    ],
)
def test_a_result_may_be_text_or_blocks_or_nothing(
    fields: JsonObject, text: str, is_error: bool | None
) -> None:
    result: JsonObject = {"type": "tool_result", "tool_use_id": "t1", **fields}
    [item] = reading([{"role": "user", "content": [result]}]).items
    assert (item.kind, item.call_id, item.text, item.is_error) == ("result", "t1", text, is_error)


def test_what_a_request_asks_for() -> None:
    server_tool = {"type": "web_search_20250305", "name": "web_search"}
    choice = {"type": "any"}
    got = reading(
        [{"role": "user", "content": "x"}],
        tools=[TOOL, server_tool],
        tool_choice=choice,
        stream=True,
        anything="else",
    )
    assert got.tools == (OfferedTool(name="reserve_seat", schema={"type": "object"}),)
    assert (got.model, got.stream, got.tool_choice) == ("claude-sonnet-5", True, choice)
    assert not reading([{"role": "user", "content": "x"}]).stream


GOOD: JsonObject = {
    "model": "m",
    "max_tokens": 0,
    "messages": [{"role": "user", "content": "x"}],
}


def with_content(content: object, role: object = "user") -> JsonObject:
    return {**GOOD, "messages": [{"role": role, "content": content}]}


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "model: Field required"),
        ({"model": "m"}, "max_tokens: Field required"),
        ({"model": "m", "max_tokens": 1}, "messages: Field required"),
        ({**GOOD, "model": 3}, "model: Input should be a valid string"),
        ({**GOOD, "max_tokens": "9"}, "max_tokens: Input should be a valid integer"),
        ({**GOOD, "max_tokens": True}, "max_tokens: Input should be a valid integer"),
        ({**GOOD, "messages": "x"}, "messages: Input should be a valid list"),
        ({**GOOD, "messages": []}, "messages: at least one message is required"),
        ({**GOOD, "messages": ["x"]}, "messages.0: Input should be an object"),
        ({**GOOD, "messages": [{}]}, "messages.0.role: Field required"),
        ({**GOOD, "messages": [{"role": "user"}]}, "messages.0.content: Field required"),
        (
            with_content("x", role="tool"),
            'messages: Unexpected role "tool". Allowed roles are "user" or "assistant".',
        ),
        (with_content(None), "messages.0.content: Input should be a valid list"),
        (with_content(["x"]), "messages.0.content.0: Input should be an object"),
        (with_content([{}]), "messages.0.content.0.type: Field required"),
        (
            with_content([{"type": "tool_use", "id": "t", "name": "f"}], role="assistant"),
            "messages.0.content.0.tool_use.input: Field required",
        ),
        (
            with_content([{"type": "tool_result"}]),
            "messages.0.content.0.tool_result.tool_use_id: Field required",
        ),
        ({**GOOD, "thread": {"type": "x"}}, "thread.type: Input should be 'create' or 'continue'"),
        (
            {**GOOD, "thread": {"type": "continue"}},
            "thread.previous_message_id: Field required",
        ),
        ([], "Input should be an object"),
    ],
)
def test_malformed_requests_are_refused_in_the_service_s_style(body: object, message: str) -> None:
    error = refusal_of(body)
    assert (error.status, error.type, error.message) == (400, "invalid_request_error", message)


def test_the_version_header_is_required() -> None:
    assert refusal_of(GOOD, {"x-api-key": "k"}).message == "anthropic-version: header is required"
    for version in ("2023-06-01", "2026-10-21"):
        assert read("messages", GOOD, headers={"anthropic-version": version}).model == "m"


def test_a_body_that_is_no_json_is_refused() -> None:
    for body in (b"{", b"\xff", b"[" * 100_000):
        request = HttpRequest(method="POST", path="/v1/messages", headers=HEADERS, body=body)
        with pytest.raises(ServiceError) as caught:
            DIALECT.read(request, Memory())
        assert caught.value.message.startswith("The request body is not valid JSON")


def test_a_body_over_32_megabytes_is_refused() -> None:
    body = b" " * (32 * 1024 * 1024 + 1)
    with pytest.raises(ServiceError) as caught:
        DIALECT.read(HttpRequest(method="POST", path="/", headers=HEADERS, body=body), Memory())
    assert (caught.value.status, caught.value.type) == (413, "request_too_large")


# Threads


CREATE: JsonObject = {"type": "create"}


def continues(previous: str) -> JsonObject:
    return {"type": "continue", "previous_message_id": previous}


def remember(to: Reading, content: Sequence[Piece], response_id: str, memory: Memory) -> None:
    DIALECT.remember(answer(content, to=to, response_id=response_id), memory)


def test_a_thread_is_continued_from_what_the_service_stored() -> None:
    memory = Memory()
    first = reading(
        [{"role": "user", "content": PROMPT}], memory, thread=CREATE, tools=[TOOL], system="Book."
    )
    remember(first, [call("book", SEAT)], "msg_1", memory)
    result = {"type": "tool_result", "tool_use_id": "toolu_book", "content": "done"}
    second = reading([{"role": "user", "content": [result]}], memory, thread=continues("msg_1"))
    assert second.previous == "msg_1"
    assert second.tools == first.tools
    assert [(item.kind, item.origin, item.path, item.reply) for item in second.items] == [
        ("system", "stored", "system", None),
        ("user", "stored", "messages.0", None),
        ("call", "stored", "messages.1.content.0", 0),
        ("result", "sent", "messages.0.content.0", None),
    ]
    assert [message["role"] for message in second.history] == ["user", "assistant", "user"]
    assert all(rule.check(second.history, second.body, memory) is None for rule in DIALECT.rules)

    remember(second, [Say("Wait.")], "msg_2", memory)
    third = reading([], memory, thread=continues("msg_2"))
    assert third.tools == first.tools
    assert [item.reply for item in third.items if item.reply is not None] == [0, 1]
    assert [item.kind for item in third.items][-1] == "say"


def test_continuing_a_thread_changes_nothing_that_was_stored() -> None:
    memory = Memory()
    first = reading([{"role": "user", "content": PROMPT}], memory, thread=CREATE)
    remember(first, [Say("Hi.")], "msg_1", memory)
    stored = json.dumps(memory.conversations["msg_1"])
    for _ in range(2):
        more = reading([{"role": "user", "content": "More."}], memory, thread=continues("msg_1"))
        remember(more, [Say("Yes.")], "msg_2", memory)
    assert json.dumps(memory.conversations["msg_1"]) == stored


def test_without_a_thread_nothing_is_stored() -> None:
    memory = Memory()
    got = reading([{"role": "user", "content": PROMPT}], memory)
    remember(got, [Say("Hi.")], "msg_1", memory)
    assert (memory.conversations, memory.settings) == ({}, {})


def test_an_unknown_thread_is_not_found() -> None:
    with pytest.raises(ServiceError) as caught:
        reading([], thread=continues("msg_x"))
    body = DIALECT.error_body(caught.value, "req_1")
    assert caught.value.status == 404
    assert body["error"] == {
        "type": "not_found_error",
        "message": "thread: no thread was found for previous_message_id msg_x",
        "details": {"error_code": "thread_not_found"},
    }


def test_the_official_tool_runner_continues_its_thread() -> None:
    memory = Memory()
    contents: list[list[Piece]] = [[call("book", SEAT)], [Say("Seat 12 is yours.")]]
    asked: list[Reading] = []

    def respond(request: httpx2.Request) -> httpx2.Response:
        headers = {name.lower(): value for name, value in request.headers.items()}
        got = read("messages", json.loads(request.content), memory, headers)
        assert DIALECT.authenticate(headers) == "test"
        assert not [r for r in DIALECT.rules if r.check(got.history, got.body, memory)]
        content = contents[len(asked)]
        asked.append(got)
        stop: Stop = "calls" if len(asked) == 1 else "end"
        reply = answer(content, to=got, stop=stop, response_id=f"msg_{len(asked)}")
        DIALECT.remember(reply, memory)
        return httpx2.Response(200, json=DIALECT.whole(reply))

    @beta_tool
    def reserve_seat(event: str, seat: int) -> str:
        """Reserves a seat.

        Args:
            event: The event.
            seat: The seat.
        """
        return f"{event} {seat}"

    with anthropic.Anthropic(
        api_key="test", http_client=httpx2.Client(transport=httpx2.MockTransport(respond))
    ) as sdk:
        final = sdk.beta.messages.tool_runner(
            model="m",
            max_tokens=99,
            tools=[reserve_seat],
            messages=[{"role": "user", "content": PROMPT}],
        ).until_done()
    assert final.content[0].model_dump()["text"] == "Seat 12 is yours."
    first, second = asked
    assert second.previous == "msg_1"
    assert second.tools == first.tools
    assert "tools" not in second.body
    assert [(item.kind, item.origin) for item in second.items] == [
        ("user", "stored"),
        ("call", "stored"),
        ("result", "sent"),
    ]
    assert second.items[-1].text == "E1 12"


# Recorded requests


def test_recorded_requests_are_read_and_break_no_rule_when_the_service_took_them() -> None:
    checked = 0
    for path in sorted(material("recordings").glob("msg_*.json")):
        recorded = json.loads(path.read_text())
        body = recorded["request"]["body"]
        if not body or recorded["response"]["status"] != 200:
            continue
        got = read("messages", body)
        assert all(item.text or item.kind != "user" for item in got.items), path.name
        broken = [r.id for r in DIALECT.rules if r.check(got.history, got.body, Memory())]
        assert broken == [], path.name
        checked += 1
    assert checked > 10
