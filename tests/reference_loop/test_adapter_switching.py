"""Going on with another provider: what comes along, what is lost, and where it cannot be done."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sdk_replies import Service, history

from loopcheck.reference_loop import (
    ImagePart,
    ReferenceLoop,
    Switched,
    SwitchError,
    TaskInfo,
    TextPart,
    ToolOffer,
    switch,
)
from loopcheck.reference_loop.adapters.chat import ChatAdapter
from loopcheck.reference_loop.adapters.conversation import (
    Conversation,
    ProviderName,
    ResponseRecord,
    begin,
)
from loopcheck.reference_loop.adapters.messages import MessagesAdapter
from loopcheck.reference_loop.adapters.parts import messages_parts
from loopcheck.reference_loop.adapters.responses import ResponsesAdapter
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


ANSWER = "Three and four."
ANSWERED: dict[ProviderName, list[JsonObject]] = {
    "chat": [*CHAT, {"role": "assistant", "content": ANSWER}],
    "responses": [*RESPONSES, {"role": "assistant", "content": ANSWER}],
    "messages": [
        *MESSAGES,
        {"role": "assistant", "content": [{"type": "text", "text": ANSWER}]},
    ],
}


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("to", PROVIDERS)
def test_behind_an_answer_the_user_goes_on(provider: ProviderName, to: ProviderName) -> None:
    result = switched(provider, ANSWERED[provider], to)
    followed = result.conversation.followed(TaskInfo(prompt="And five?"), to)
    assert list(followed.history) == [*ANSWERED[to], {"role": "user", "content": "And five?"}]


def test_what_stands_behind_an_answer_is_dropped_where_it_cannot_be_open_work() -> None:
    reasoning: JsonObject = {"type": "reasoning", "id": "rs_1", "summary": []}
    result = switched("responses", [*ANSWERED["responses"], reasoning], "chat")
    assert list(result.conversation.history) == ANSWERED["chat"]
    assert result.dropped == ("reasoning",)


SPEAK: dict[ProviderName, JsonObject] = {
    "chat": {
        "id": "c",
        "choices": [{"message": {"role": "assistant", "content": "Hi."}, "finish_reason": "stop"}],
    },
    "responses": {
        "id": "r",
        "status": "completed",
        "output": [
            {
                "type": "message",
                "id": "m",
                "role": "assistant",
                "content": [{"type": "output_text", "text": "Hi.", "annotations": []}],
            }
        ],
    },
    "messages": {
        "id": "m",
        "content": [{"type": "text", "text": "Hi."}],
        "stop_reason": "end_turn",
    },
}


def loop_of(provider: ProviderName, service: Service) -> ReferenceLoop[Conversation]:
    made: dict[ProviderName, Callable[[], ChatAdapter | ResponsesAdapter | MessagesAdapter]] = {
        "chat": lambda: ChatAdapter(client=service.openai(), model="m", stream=False),
        "responses": lambda: ResponsesAdapter(
            client=service.openai(), model="m", stream=False, state="server"
        ),
        "messages": lambda: MessagesAdapter(
            client=service.anthropic(), model="m", stream=False, state="server"
        ),
    }
    return ReferenceLoop(made[provider]())


@pytest.mark.asyncio
@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("to", PROVIDERS)
async def test_a_loop_goes_on_with_another_provider(
    provider: ProviderName, to: ProviderName
) -> None:
    service = Service([SPEAK[provider], SPEAK[to]])
    first = await loop_of(provider, service).run("Hello.")
    talk = cast("Conversation", first.conversation)
    other = loop_of(to, service)
    if provider != to:
        with pytest.raises(ValueError, match=f"one of {provider}, not of {to}: switch it"):
            await other.run("And now?", after=talk)
    ended = await other.run("And now?", after=switch(talk, to).conversation)
    assert (ended.state, ended.text) == ("completed", "Hi.")
    _, request = service.requests
    said = history(request, "input" if to == "responses" else "messages")
    is_held = provider == to != "chat"
    assert len(said) == (1 if is_held else 3)
    assert said[-1] == {"role": "user", "content": "And now?"}


IMAGE = ImagePart(b"\x89PNG")
SHOWN: dict[ProviderName, list[JsonObject]] = {
    "chat": [
        USER,
        {"role": "assistant", "content": None, "tool_calls": [chat_call("c1", 1)]},
        {"role": "tool", "tool_call_id": "c1", "content": "It.\n[image 1: see below]"},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "See:"},
                {"type": "image_url", "image_url": {"url": IMAGE.url}},
            ],
        },
    ],
    "responses": [
        USER,
        {"type": "function_call", "call_id": "c1", "name": "look", "arguments": '{"n": 1}'},
        {
            "type": "function_call_output",
            "call_id": "c1",
            "output": [
                {"type": "input_text", "text": "It."},
                {"type": "input_image", "image_url": IMAGE.url, "detail": "auto"},
            ],
        },
    ],
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "Go."}]},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "c1", "name": "look", "input": {"n": 1}}],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "c1",
                    "content": messages_parts([TextPart("It."), IMAGE]),
                }
            ],
        },
    ],
}


@pytest.mark.parametrize("provider", ["responses", "messages"])
@pytest.mark.parametrize("to", ["responses", "messages"])
def test_images_of_results_come_along(provider: ProviderName, to: ProviderName) -> None:
    shown = switched(provider, SHOWN[provider], to)
    assert list(shown.conversation.history) == SHOWN[to]


@pytest.mark.parametrize("provider", ["responses", "messages"])
def test_images_of_results_follow_them_on_chat(provider: ProviderName) -> None:
    *before, below = switched(provider, SHOWN[provider], "chat").conversation.history
    assert before == SHOWN["chat"][:3]
    content = cast("list[JsonObject]", below["content"])
    assert content[2] == {"type": "image_url", "image_url": {"url": IMAGE.url}}


def test_images_that_follow_results_stay_where_they_are() -> None:
    talk = talk_of_chat = switched("chat", SHOWN["chat"], "responses").conversation
    assert talk.history[-1] == {
        "role": "user",
        "content": [
            {"type": "input_text", "text": "See:"},
            {"type": "input_image", "image_url": IMAGE.url, "detail": "auto"},
        ],
    }
    talk = switch(talk_of_chat, "messages").conversation
    assert talk.history[-1] == {
        "role": "user",
        "content": messages_parts([TextPart("See:"), IMAGE]),
    }
    assert list(switch(talk, "chat").conversation.history) == SHOWN["chat"]


def test_a_message_of_nothing_but_blanks_is_left_out() -> None:
    blank: JsonObject = {"role": "assistant", "content": " "}
    result = switched("chat", [USER, blank, USER], "messages")
    assert list(result.conversation.history) == [MESSAGES[0], MESSAGES[0]]


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
        ("chat", [*CHAT[:2], CHAT[3]], "calls without a result: c1"),
        ("chat", [USER, CHAT[3]], "a result for 'c2', and no open call"),
        (
            "messages",
            [USER, {"role": "assistant", "content": [{"type": "server_tool_use"}]}],
            "not answered yet",
        ),
    ],
)
def test_only_where_nothing_is_open(
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
