"""What the service keeps of its responses, and what it says about threads of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from loopcheck.fake_providers.dialects.interface import Memory
from loopcheck.fake_providers.dialects.messages import render
from loopcheck.fake_providers.dialects.messages.blocks import text_of
from loopcheck.fake_providers.wire import Answer, JsonObject

# What a request that continues a thread leaves out and the service takes from the thread.
THREAD_SETTINGS: Final = ("system", "tools")

_PREVIOUS: Final = "previous_message_id"


def remember(answer: Answer, memory: Memory) -> None:
    """Keeps the response, and the conversation where the request asked for a thread."""
    memory.responses.later(answer.response_id, render.whole, answer)
    for call in answer.calls:
        memory.issued |= {call.call_id, call.tool}
    reading = answer.reading
    kept = _given(("thinking",), reading.body)
    if reading.body.get("thread") is not None:
        _keep_thread(answer, memory.responses[answer.response_id]["content"], memory)
        kept.update(_given(THREAD_SETTINGS, memory.settings.get(reading.previous or "", {})))
        kept.update(_given(THREAD_SETTINGS, reading.body))
        kept[_PREVIOUS] = reading.previous
    if kept:
        memory.settings[answer.response_id] = kept


def previous_id(body: JsonObject) -> str | None:
    """The response whose thread this request continues."""
    thread = body.get("thread")
    if not isinstance(thread, dict) or thread.get("type") != "continue":
        return None
    return text_of(thread, _PREVIOUS)


def stored(body: JsonObject, memory: Memory) -> Sequence[JsonObject]:
    """The conversation that this request continues; nothing where there is none."""
    previous = previous_id(body)
    return [] if previous is None else memory.conversations.get(previous, [])


def setting(name: str, body: JsonObject, memory: Memory) -> object:
    """A field that the request has, or that its thread was created with."""
    if body.get(name) is not None:
        return body[name]
    return memory.settings.get(previous_id(body) or "", {}).get(name)


def is_continued(response_id: str, memory: Memory) -> bool:
    return any(kept.get(_PREVIOUS) == response_id for kept in memory.settings.values())


def _keep_thread(answer: Answer, content: object, memory: Memory) -> None:
    reply: list[JsonObject] = [{"role": "assistant", "content": content}] if content else []
    memory.conversations[answer.response_id] = [*answer.reading.history, *reply]


def _given(names: Sequence[str], fields: JsonObject) -> JsonObject:
    return {name: fields[name] for name in names if name in fields}
