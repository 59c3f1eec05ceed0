"""Going on with another provider: what comes along, what is lost, and where it cannot be done."""

from __future__ import annotations

from typing import cast, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopcheck.reference_loop import TaskInfo, ToolOffer
from loopcheck.reference_loop.adapters.conversation import (
    Conversation,
    ProviderName,
    ResponseRecord,
    begin,
)
from loopcheck.reference_loop.adapters.neutral import SwitchError
from loopcheck.reference_loop.adapters.switching import Switched, switch
from loopcheck.reference_loop.arguments import JsonObject
from loopcheck.reference_loop.results import error_text

PROVIDERS: tuple[ProviderName, ...] = get_args(ProviderName)
LOOK = ToolOffer(name="look", description="Looks.", parameters={"type": "object"})
TASK = TaskInfo(prompt="Go.", tools=(LOOK,), tool_choice="none")
ERROR = error_text("tool_failed", "Broken.")
USER: JsonObject = {"role": "user", "content": "Go."}


def chat_call(call_id: str, n: int) -> JsonObject:
    function = {"name": "look", "arguments": f'{{"n": {n}}}'}
    return {"id": call_id, "type": "function", "function": function}


CHAT: list[JsonObject] = [
    USER,
    {
        "role": "assistant",
        "content": "Let me see.",
        "tool_calls": [chat_call("c1", 1), chat_call("c2", 2)],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "one"},
    {"role": "tool", "tool_call_id": "c2", "content": ERROR},
]
RESPONSES: list[JsonObject] = [
    USER,
    {"role": "assistant", "content": "Let me see."},
    {"type": "function_call", "call_id": "c1", "name": "look", "arguments": '{"n": 1}'},
    {"type": "function_call", "call_id": "c2", "name": "look", "arguments": '{"n": 2}'},
    {"type": "function_call_output", "call_id": "c1", "output": "one"},
    {"type": "function_call_output", "call_id": "c2", "output": ERROR},
]
MESSAGES: list[JsonObject] = [
    {"role": "user", "content": [{"type": "text", "text": "Go."}]},
    {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "Let me see."},
            {"type": "tool_use", "id": "c1", "name": "look", "input": {"n": 1}},
            {"type": "tool_use", "id": "c2", "name": "look", "input": {"n": 2}},
        ],
    },
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "c1", "content": "one"},
            {"type": "tool_result", "tool_use_id": "c2", "content": ERROR, "is_error": True},
        ],
    },
]
SAME = {"chat": CHAT, "responses": RESPONSES, "messages": MESSAGES}


def talk(provider: ProviderName, history: list[JsonObject]) -> Conversation:
    record = ResponseRecord(provider=provider, response_id="r1", state={})
    return Conversation(TASK, provider, tuple(history), "none", (record,))


def switched(provider: ProviderName, history: list[JsonObject], to: ProviderName) -> Switched:
    return switch(talk(provider, history), to)


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("to", PROVIDERS)
def test_what_was_said_comes_along(provider: ProviderName, to: ProviderName) -> None:
    given = talk(provider, SAME[provider])
    result = switch(given, to)
    assert list(result.conversation.history) == SAME[to]
    assert result.dropped == ()
    assert result.conversation.provider == to
    assert result.conversation.task == TASK
    assert result.conversation.tool_choice == "none"
    assert result.conversation.responses == given.responses


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("to", PROVIDERS)
def test_a_conversation_that_only_began(provider: ProviderName, to: ProviderName) -> None:
    [message] = switch(begin(TASK, provider), to).conversation.history
    changed = provider != to == "messages"
    assert message == (MESSAGES[0] if changed else USER)


def test_what_only_the_old_provider_understands_is_dropped_and_named() -> None:
    items: list[JsonObject] = [
        USER,
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"},
        {"type": "web_search_call", "id": "ws_1"},
        {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "Let me see."}],
        },
        {"type": "message", "id": "msg_2", "role": "assistant", "content": []},
        *RESPONSES[2:],
    ]
    result = switched("responses", items, "messages")
    assert list(result.conversation.history) == MESSAGES
    assert result.dropped == ("reasoning", "web_search_call")
    blocks = [
        {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
        *cast("list[JsonObject]", MESSAGES[1]["content"]),
    ]
    result = switched(
        "messages", [MESSAGES[0], {**MESSAGES[1], "content": blocks}, MESSAGES[2]], "chat"
    )
    assert list(result.conversation.history) == CHAT
    assert result.dropped == ("thinking",)


def test_the_state_of_responses_is_void() -> None:
    record = ResponseRecord(provider="messages", response_id="r1", state={"container": "c"})
    given = Conversation(TASK, "messages", tuple(MESSAGES), "auto", (record,))
    result = switch(given, "chat")
    assert result.dropped == ("container",)
    assert result.conversation.state == {}
    assert result.conversation.responses[0].response_id == "r1"
    assert switch(given, "messages") == Switched(given, ())


def test_custom_calls() -> None:
    custom: JsonObject = {"id": "c1", "type": "custom", "custom": {"name": "look", "input": "x y"}}
    chat: list[JsonObject] = [
        USER,
        {"role": "assistant", "content": None, "tool_calls": [custom]},
        {"role": "tool", "tool_call_id": "c1", "content": "one"},
    ]
    responses: list[JsonObject] = [
        USER,
        {"type": "custom_tool_call", "call_id": "c1", "name": "look", "input": "x y"},
        {"type": "custom_tool_call_output", "call_id": "c1", "output": "one"},
    ]
    assert list(switched("chat", chat, "responses").conversation.history) == responses
    assert list(switched("responses", responses, "chat").conversation.history) == chat
    [_, asked, _] = switched("chat", chat, "messages").conversation.history
    block = {"type": "tool_use", "id": "c1", "name": "look", "input": {"input": "x y"}}
    assert asked == {"role": "assistant", "content": [block]}


@pytest.mark.parametrize(
    ("provider", "history", "why"),
    [
        ("chat", CHAT[:2], "the last response is not answered yet"),
        ("chat", [USER, {"role": "assistant", "content": "Hi."}], "not answered yet"),
        ("chat", [*CHAT[:2], CHAT[3]], "calls without a result: c1"),
        ("chat", [USER, CHAT[3]], "a result for 'c2', and no open call"),
        (
            "messages",
            [USER, {"role": "assistant", "content": [{"type": "server_tool_use"}]}],
            "not answered yet",
        ),
    ],
)
def test_only_where_the_model_is_to_speak(
    provider: ProviderName, history: list[JsonObject], why: str
) -> None:
    with pytest.raises(SwitchError, match=why):
        switched(provider, history, "responses")


@given(
    st.lists(st.lists(st.sampled_from(["", "c1", "c.1", "x" * 41, "y"]), min_size=1, max_size=3))
)
def test_ids_become_unique_and_well_formed_and_pairs_stay(rounds: list[list[str]]) -> None:
    history: list[JsonObject] = [USER]
    for number, ids in enumerate(rounds):
        calls = [chat_call(call_id, n) for n, call_id in enumerate(ids)]
        history.append({"role": "assistant", "content": None, "tool_calls": calls})
        for n, call_id in enumerate(ids):
            history.append({"role": "tool", "tool_call_id": call_id, "content": f"{number}:{n}"})
    items = list(switched("chat", history, "responses").conversation.history)
    asked = {item["call_id"]: item for item in items if item.get("type") == "function_call"}
    answers = [item for item in items if item.get("type") == "function_call_output"]
    assert len(asked) == len(answers) == sum(map(len, rounds))
    assert all(0 < len(str(call_id)) <= 40 and "." not in str(call_id) for call_id in asked)
    for answer in answers:
        written = str(answer["output"]).partition(":")[2]
        assert asked[answer["call_id"]]["arguments"] == f'{{"n": {written}}}'
