"""Conversations that go on when their run is over."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from sdk_replies import Answer, JsonObject, Service, history
from tool_desk import Desk

from loopcheck.reference_loop import (
    CallResult,
    Calls,
    Final,
    FollowableAdapter,
    ReferenceLoop,
    Reply,
    RunTakenError,
    SqliteStore,
    StoreError,
    TaskInfo,
)
from loopcheck.reference_loop.adapters.chat import ChatAdapter
from loopcheck.reference_loop.adapters.conversation import Conversation, ProviderName
from loopcheck.reference_loop.adapters.messages import MessagesAdapter
from loopcheck.reference_loop.adapters.responses import ResponsesAdapter
from loopcheck.reference_loop.store.interface import Lease

pytestmark = pytest.mark.asyncio

PROVIDERS: tuple[ProviderName, ...] = ("chat", "responses", "messages")
HISTORY: dict[ProviderName, str] = {
    "chat": "messages",
    "responses": "input",
    "messages": "messages",
}
REASONING: JsonObject = {"id": "rs_1", "type": "reasoning", "summary": []}
MESSAGE: JsonObject = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "status": "completed",
    "content": [{"type": "output_text", "text": "One.", "annotations": []}],
}
THINKING: JsonObject = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
SAID: JsonObject = {"type": "text", "text": "One."}
FIRST: dict[ProviderName, JsonObject] = {
    "chat": {
        "id": "chatcmpl-1",
        "choices": [{"message": {"role": "assistant", "content": "One."}, "finish_reason": "stop"}],
    },
    "responses": {"id": "resp_1", "status": "completed", "output": [REASONING, MESSAGE]},
    "messages": {"id": "msg_1", "content": [THINKING, SAID], "stop_reason": "end_turn"},
}
ANSWERED: dict[ProviderName, list[JsonObject]] = {
    "chat": [{"role": "assistant", "content": "One."}],
    "responses": [REASONING, MESSAGE],
    "messages": [{"role": "assistant", "content": [THINKING, SAID]}],
}


def adapter(provider: ProviderName, service: Service) -> FollowableAdapter[Conversation]:
    if provider == "chat":
        return ChatAdapter(client=service.openai(), model="m", stream=False)
    if provider == "responses":
        return ResponsesAdapter(client=service.openai(), model="m", stream=False)
    return MessagesAdapter(client=service.anthropic(), model="m", stream=False)


def loop_of(
    provider: ProviderName, answers: Sequence[Answer], store: SqliteStore | None = None
) -> tuple[ReferenceLoop[Conversation], Service]:
    service = Service(list(answers))
    speaker = adapter(provider, service)
    assert isinstance(speaker, ChatAdapter | ResponsesAdapter | MessagesAdapter)
    return ReferenceLoop(speaker, [Desk().tool("look", "read")], store=store), service


@contextmanager
def opened(path: Path) -> Iterator[SqliteStore]:
    store = SqliteStore(path)
    try:
        yield store
    finally:
        store.close()


def user(text: str) -> JsonObject:
    return {"role": "user", "content": text}


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_the_answer_stands_in_the_history_that_goes_on(provider: ProviderName) -> None:
    loop, service = loop_of(provider, [FIRST[provider], FIRST[provider]])
    first = await loop.run("Go.")
    second = await loop.run("And then?", after=first.conversation)

    assert (first.text, second.text) == ("One.", "One.")
    sent = history(service.requests[1], HISTORY[provider])
    assert list(sent) == [user("Go."), *ANSWERED[provider], user("And then?")]
    assert "tools" in service.requests[1]


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_stored_conversation_goes_on_in_another_process(
    provider: ProviderName, tmp_path: Path
) -> None:
    with opened(tmp_path / "runs.sqlite") as store:
        loop, _ = loop_of(provider, [FIRST[provider]], store)
        await loop.run("Go.", run_id="one")
    with opened(tmp_path / "runs.sqlite") as store:
        loop, service = loop_of(provider, [FIRST[provider]], store)
        await loop.run("And then?", run_id="two", after=loop.conversation("one"))
        assert list(history(service.requests[0], HISTORY[provider]))[-1] == user("And then?")
        kept = loop.conversation("two")
    assert list(kept.history[:1]) == [user("Go.")]
    assert list(kept.history[-len(ANSWERED[provider]) :]) == ANSWERED[provider]


async def test_a_run_that_is_worked_on_is_not_read(tmp_path: Path) -> None:
    with opened(tmp_path / "runs.sqlite") as store:
        loop, _ = loop_of("chat", [FIRST["chat"]], store)
        await loop.run("Go.", run_id="one")
        store.acquire(Lease("one", "somebody"))
        with pytest.raises(RunTakenError):
            loop.conversation("one")


async def test_a_run_is_free_again_once_its_conversation_was_read(tmp_path: Path) -> None:
    with opened(tmp_path / "runs.sqlite") as store:
        loop, _ = loop_of("chat", [FIRST["chat"]], store)
        await loop.run("Go.", run_id="one")
        assert loop.conversation("one") == loop.conversation("one")


async def test_without_a_store_there_is_nothing_to_read() -> None:
    loop, _ = loop_of("chat", [])
    with pytest.raises(StoreError, match="no runs to read"):
        loop.conversation("one")


class _Silent:
    """An adapter that keeps nothing of its answers, and cannot go on."""

    def start(self, task: TaskInfo) -> str:
        return task.prompt

    async def request(self, conversation: str) -> Reply:
        return Final("One.")

    def append(self, conversation: str, calls: Calls, results: Sequence[CallResult]) -> str:
        raise AssertionError("there is nothing to append")


async def test_an_adapter_need_not_keep_its_answers() -> None:
    loop: ReferenceLoop[str] = ReferenceLoop(_Silent())
    ended = await loop.run("Go.")
    assert (ended.text, ended.conversation) == ("One.", "Go.")
    with pytest.raises(TypeError, match=r"_Silent has no follow\(\)"):
        await loop.run("And then?", after=ended.conversation)


async def test_a_cancelled_run_leaves_a_conversation_to_go_on_with() -> None:
    stop = asyncio.Event()
    stop.set()
    loop, service = loop_of("chat", [FIRST["chat"]])
    cancelled = await loop.run("Go.", stop=stop)
    ended = await loop.run("And then?", after=cancelled.conversation)
    assert (cancelled.state, ended.state) == ("cancelled", "completed")
    assert list(history(service.requests[0], "messages")) == [user("Go."), user("And then?")]
