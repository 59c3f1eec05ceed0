"""What is kept of responses, and conversations that are stored and loaded."""

from __future__ import annotations

import json
from typing import TypeAlias

import pytest
from sdk_replies import Answer, JsonObject, Service

from loopcheck.reference_loop import CallResult, Calls, StorableAdapter, TaskInfo, ToolOffer
from loopcheck.reference_loop.adapters.chat import ChatAdapter
from loopcheck.reference_loop.adapters.conversation import (
    Conversation,
    ProviderName,
    ResponseRecord,
    begin,
)
from loopcheck.reference_loop.adapters.messages import MessagesAdapter
from loopcheck.reference_loop.adapters.responses import ResponsesAdapter

pytestmark = pytest.mark.asyncio

PROVIDERS: tuple[ProviderName, ...] = ("chat", "responses", "messages")
LOOK = ToolOffer(name="look", description="Looks.", parameters={"type": "object"})
TASK = TaskInfo(prompt="Go.", tools=(LOOK,), tool_choice="look")
CUT = '{"n":1'

CHAT_CALL: JsonObject = {
    "id": "c1",
    "type": "function",
    "function": {"name": "look", "arguments": CUT},
}
CHAT_MESSAGE: JsonObject = {
    "role": "assistant",
    "content": "Let me see.",
    "tool_calls": [CHAT_CALL],
}
REASONING: JsonObject = {
    "id": "rs_1",
    "type": "reasoning",
    "summary": [],
    "encrypted_content": "opaque",
}
FUNCTION_CALL: JsonObject = {
    "id": "fc_1",
    "type": "function_call",
    "call_id": "c1",
    "name": "look",
    "arguments": CUT,
}
THINKING: JsonObject = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
TOOL_USE: JsonObject = {"type": "tool_use", "id": "c1", "name": "look", "input": ["no object"]}
ANSWERS: dict[ProviderName, JsonObject] = {
    "chat": {
        "id": "chatcmpl-1",
        "choices": [{"message": CHAT_MESSAGE, "finish_reason": "tool_calls"}],
    },
    "responses": {"id": "resp_1", "status": "completed", "output": [REASONING, FUNCTION_CALL]},
    "messages": {
        "id": "msg_1",
        "content": [THINKING, TOOL_USE],
        "stop_reason": "tool_use",
        "container": {"id": "container_1"},
    },
}
TOOL_USE_AS_TEXT: JsonObject = {**TOOL_USE, "input": '["no object"]'}
RECORDS: dict[ProviderName, ResponseRecord] = {
    "chat": ResponseRecord(
        provider="chat", api_version="v1", response_id="chatcmpl-1", items=(CHAT_MESSAGE,)
    ),
    "responses": ResponseRecord(
        provider="responses",
        api_version="v1",
        response_id="resp_1",
        items=(REASONING, FUNCTION_CALL),
    ),
    "messages": ResponseRecord(
        provider="messages",
        api_version="2026-10-21",
        response_id="msg_1",
        items=(THINKING, TOOL_USE_AS_TEXT),
        state={"container": "container_1"},
    ),
}
CALLS: dict[ProviderName, JsonObject] = {
    "chat": CHAT_CALL,
    "responses": FUNCTION_CALL,
    "messages": TOOL_USE_AS_TEXT,
}


ReadyMade: TypeAlias = ChatAdapter | ResponsesAdapter | MessagesAdapter


def adapter(provider: ProviderName, *answers: Answer) -> ReadyMade:
    service = Service(list(answers))
    if provider == "chat":
        return ChatAdapter(client=service.openai(), model="m", stream=False)
    if provider == "responses":
        return ResponsesAdapter(client=service.openai(), model="m", stream=False)
    return MessagesAdapter(client=service.anthropic(), model="m", stream=False)


async def proposed(provider: ProviderName) -> tuple[Conversation, Calls]:
    speaker = adapter(provider, ANSWERS[provider])
    talk = begin(TASK, provider)
    calls = await speaker.request(talk)
    assert isinstance(calls, Calls)
    return talk, calls


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_of_a_response_its_origin_and_its_calls_are_kept(provider: ProviderName) -> None:
    talk, calls = await proposed(provider)
    record = RECORDS[provider]
    assert calls.turn == record
    result = CallResult(call_id="c1", text="?", is_error=True)
    after = adapter(provider).append(talk, calls, [result])
    [kept] = after.responses
    assert kept.items == (CALLS[provider],)
    assert (kept.provider, kept.api_version, kept.response_id, kept.state) == (
        record.provider,
        record.api_version,
        record.response_id,
        record.state,
    )
    assert after.state == record.state


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_the_ready_made_adapters_can_be_stored(provider: ProviderName) -> None:
    assert isinstance(adapter(provider), StorableAdapter)


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_conversation_survives_as_json(provider: ProviderName) -> None:
    talk, calls = await proposed(provider)
    speaker = adapter(provider)
    stored = json.loads(json.dumps(speaker.dump(talk, calls.turn)))
    assert speaker.load(stored) == (talk, calls.turn)
    result = CallResult(call_id="c1", text="?", is_error=True)
    after = speaker.append(talk, calls, [result])
    stored = json.loads(json.dumps(speaker.dump(after)))
    assert speaker.load(stored) == (after, None)


@pytest.mark.parametrize(
    "value",
    [
        None,
        {},
        {"task": {}},
        {"task": {}, "provider": "chat", "history": ["x"]},
        {"task": {"tools": [{}]}, "provider": "chat"},
        {"task": {}, "provider": "chat", "responses": [{}]},
        {"task": {}, "provider": "chat", "responses": [{"provider": "chat"}]},
        {"task": {}, "provider": "fax"},
    ],
)
async def test_what_is_no_stored_conversation(value: object) -> None:
    with pytest.raises(ValueError, match="no stored conversation"):
        adapter("chat").load(value)


async def test_a_conversation_of_another_provider_has_to_be_switched() -> None:
    stored = adapter("chat").dump(begin(TASK, "chat"))
    with pytest.raises(ValueError, match="is one of chat, not of messages: switch it"):
        adapter("messages").load(stored)
