from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import anthropic
import pytest
from live_service import anthropic_client, improvising
from sample_answers import PROMPT, SEAT, VERSION, answer, call, read, refusals

from loopcheck.fake_providers.dialects import Memory
from loopcheck.fake_providers.dialects.messages import DIALECT
from loopcheck.fake_providers.script import Say
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
ASKED: dict[str, Any] = {
    "model": "claude-sonnet-5",
    "max_tokens": 99,
    "messages": [{"role": "user", "content": PROMPT}],
}
TOOL: JsonObject = {"name": "reserve_seat", "input_schema": {"type": "object"}}


def reading(
    messages: Sequence[JsonObject], memory: Memory | None = None, **fields: object
) -> Reading:
    body = {"model": "claude-sonnet-5", "max_tokens": 99, "messages": messages, **fields}
    return read("messages", body, memory)


def refusal_of(body: object, headers: dict[str, str] = HEADERS) -> tuple[str, ServiceError]:
    """The first rule that the request breaks, and the refusal."""
    return refusals(read("messages", body, headers=headers))[0]


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
        Item(kind="think", path="messages.1.content.0", text="A seat.", reply=0, seal="s"),
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
        Item(kind="think", path="messages.5.content.0", seal="x"),
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
    ("body", "rule", "message"),
    [
        ({}, "M27", "model: Field required"),
        ({"model": "m"}, "M27", "max_tokens: Field required"),
        ({"model": "m", "max_tokens": 1}, "M27", "messages: Field required"),
        ({**GOOD, "model": 3}, "M-types", "model: Input should be a valid string"),
        ({**GOOD, "max_tokens": "9"}, "M-types", "max_tokens: Input should be a valid integer"),
        ({**GOOD, "max_tokens": True}, "M-types", "max_tokens: Input should be a valid integer"),
        ({**GOOD, "system": 3}, "M-types", "system: Input should be a valid list"),
        ({**GOOD, "messages": "x"}, "M-types", "messages: Input should be a valid list"),
        ({**GOOD, "messages": []}, "M-empty", "messages: at least one message is required"),
        ({**GOOD, "messages": ["x"]}, "M-types", "messages.0: Input should be an object"),
        ({**GOOD, "messages": [{}]}, "M27", "messages.0.role: Field required"),
        ({**GOOD, "messages": [{"role": "user"}]}, "M27", "messages.0.content: Field required"),
        (with_content("x", role=3), "M-types", "messages.0.role: Input should be a valid string"),
        (
            with_content("x", role="tool"),
            "M-role",
            'messages: Unexpected role "tool". Allowed roles are "user" or "assistant".',
        ),
        (with_content(None), "M-types", "messages.0.content: Input should be a valid list"),
        (with_content(["x"]), "M-types", "messages.0.content.0: Input should be an object"),
        (with_content([{}]), "M27", "messages.0.content.0.type: Field required"),
        (
            with_content([{"type": "tool_use", "id": "t", "name": "f"}], role="assistant"),
            "M27",
            "messages.0.content.0.tool_use.input: Field required",
        ),
        (
            with_content([{"type": "tool_result"}]),
            "M27",
            "messages.0.content.0.tool_result.tool_use_id: Field required",
        ),
        (
            with_content([{"type": "tool_result", "tool_use_id": "t", "content": 12}]),
            "M-types",
            "messages.0.content.0.tool_result.content: Input should be a valid list",
        ),
        (
            with_content([{"type": "tool_result", "tool_use_id": None}]),
            "M-types",
            "messages.0.content.0.tool_result.tool_use_id: Input should be a valid string",
        ),
        (
            with_content([{"type": "thinking", "thinking": "Hm."}], role="assistant"),
            "M27",
            "messages.0.content.0.thinking.signature: Field required",
        ),
        (
            with_content([{"type": "redacted_thinking"}], role="assistant"),
            "M27",
            "messages.0.content.0.redacted_thinking.data: Field required",
        ),
        ({**GOOD, "tools": {}}, "M-types", "tools: Input should be a valid list"),
        ({**GOOD, "tools": ["f"]}, "M-types", "tools.0: Input should be an object"),
        ({**GOOD, "tools": [{"name": "f"}]}, "M27", "tools.0.custom.input_schema: Field required"),
        ({**GOOD, "tool_choice": "auto"}, "M-types", "tool_choice: Input should be an object"),
        ({**GOOD, "tool_choice": {}}, "M27", "tool_choice.type: Field required"),
        (
            {**GOOD, "tool_choice": {"type": "tool"}},
            "M27",
            "tool_choice.tool.name: Field required",
        ),
        (
            {**GOOD, "thread": {"type": "x"}},
            "M-types",
            "thread.type: Input should be 'create' or 'continue'",
        ),
        (
            {**GOOD, "thread": {"type": "continue"}},
            "M27",
            "thread.previous_message_id: Field required",
        ),
    ],
)
def test_malformed_requests_are_refused_in_the_service_s_style(
    body: object, rule: str, message: str
) -> None:
    name, error = refusal_of(body)
    assert (name, error.message) == (rule, message)
    assert (error.status, error.type) == (400, "invalid_request_error")


@pytest.mark.parametrize(
    "fields",
    [
        {"system": None, "tools": None, "tool_choice": None, "thread": None},
        {"system": [{"type": "text", "text": "Be brief."}]},
        {"tools": [{"type": "bash_20250124", "name": "bash"}], "tool_choice": {"type": "any"}},
        {"tools": [{"type": "mcp_toolset", "mcp_server_name": "s"}]},
        {"messages": [{"role": "user", "content": [{"type": "new_kind"}]}]},
        {"anything": "else"},
    ],
)
def test_what_is_unknown_or_absent_is_no_flaw(fields: JsonObject) -> None:
    assert refusals(read("messages", {**GOOD, **fields})) == []


def test_the_version_header_is_required() -> None:
    name, error = refusal_of(GOOD, {"x-api-key": "k"})
    assert (name, error.message) == ("M-version", "anthropic-version: header is required")
    for version in ("2023-06-01", "2026-10-21"):
        for key in ({"x-api-key": "k"}, {"authorization": "Bearer k"}):
            headers = {"anthropic-version": version, **key}
            assert refusals(read("messages", GOOD, headers=headers)) == []
            assert DIALECT.authenticate(headers) == "k"


@pytest.mark.parametrize("version", ["2023-10-01", "2023-06-01, 2023-06-01", "latest", ""])
def test_a_version_that_there_is_not_is_refused(version: str) -> None:
    name, error = refusal_of(GOOD, {"x-api-key": "k", "anthropic-version": version})
    assert name == "M-known-version"
    assert error.message == f'anthropic-version: "{version}" is not a valid version'


def test_the_client_is_told_of_its_version() -> None:
    app = improvising("messages")
    for version in ("2023-01-01", "2023-06-01", "2026-10-21"):
        with anthropic_client(app, **{"anthropic-version": version}) as client:
            assert client.messages.create(**ASKED).stop_reason == "end_turn"
    with (
        anthropic_client(app, **{"anthropic-version": "2024-10-22"}) as client,
        pytest.raises(anthropic.BadRequestError, match="is not a valid version"),
    ):
        client.messages.create(**ASKED)


def test_a_body_that_is_no_json_is_refused() -> None:
    for body in (b"{", b"\xff", b"[" * 100_000):
        request = HttpRequest(method="POST", path="/v1/messages", headers=HEADERS, body=body)
        with pytest.raises(ServiceError) as caught:
            DIALECT.read(request, Memory())
        assert caught.value.message.startswith("The request body is not valid JSON")


def test_a_body_over_32_megabytes_is_refused() -> None:
    text = json.dumps(GOOD).encode()
    for size, broken in [(32 * 1024 * 1024, []), (32 * 1024 * 1024 + 1, ["M34"])]:
        body = text + b" " * (size - len(text))
        request = HttpRequest(method="POST", path="/", headers=HEADERS, body=body)
        found = refusals(DIALECT.read(request, Memory()), on=["M34"])
        assert [name for name, _ in found] == broken
        assert all((e.status, e.type) == (413, "request_too_large") for _, e in found)


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
    assert refusals(second, memory) == []

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
    assert not memory.conversations
    assert not memory.settings
