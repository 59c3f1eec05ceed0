"""A recorded response as one body, also where its stream broke off or told of an error."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from loopcheck.fake_providers.recordings import Recording
from loopcheck.fake_providers.script import DialectName
from loopcheck.fake_providers.wire import JsonObject
from loopcheck.harness.importing.values import mapping, mappings, text

_TERMINAL: Final = ("response.completed", "response.incomplete", "response.failed")


@dataclass(frozen=True, slots=True)
class Joined:
    """What came of a response. `ended` says that its end came, `error` what it told instead."""

    body: JsonObject
    ended: bool
    error: JsonObject | None = None


def joined(recording: Recording) -> Joined:
    """The response as one body, of the same shape whether or not it was streamed."""
    if recording.events is None:
        body = mapping(recording.body)
        return Joined(body, bool(body), mapping(body.get("error")) or None)
    events = [mapping(event.data) for event in recording.events]
    return _JOIN[recording.protocol](events)


def _chat(chunks: Sequence[JsonObject]) -> Joined:
    said: dict[str, str] = {}
    calls: dict[str, JsonObject] = {}
    reason: object = None
    error: JsonObject | None = None
    for chunk in chunks:
        error = mapping(chunk.get("error")) or error
        choices = mappings(chunk.get("choices"))
        for choice in (one for one in choices if one.get("index", 0) == 0):
            reason = choice.get("finish_reason") or reason
            delta = mapping(choice.get("delta"))
            for key in ("content", "refusal"):
                if isinstance(part := delta.get(key), str):
                    said[key] = said.get(key, "") + part
            for part in mappings(delta.get("tool_calls")):
                _add_call(calls, part)
    message: JsonObject = {**said, "tool_calls": list(calls.values())}
    body: JsonObject = {"choices": [{"message": message, "finish_reason": reason}]}
    return Joined(body, reason is not None, error)


def _add_call(calls: dict[str, JsonObject], part: JsonObject) -> None:
    form = "custom" if part.get("type") == "custom" or "custom" in part else "function"
    key = "input" if form == "custom" else "arguments"
    known = calls.setdefault(str(part.get("index")), {"type": form, form: {key: ""}})
    holder, more = mapping(known.get(form)), mapping(part.get(form))
    known["id"] = known.get("id") or part.get("id")
    holder["name"] = holder.get("name") or more.get("name")
    holder[key] = text(holder.get(key)) + text(more.get(key))


def _messages(events: Sequence[JsonObject]) -> Joined:
    blocks: dict[str, JsonObject] = {}
    reason: object = None
    error: JsonObject | None = None
    for event in events:
        match event.get("type"):
            case "content_block_start":
                blocks[str(event.get("index"))] = dict(mapping(event.get("content_block")))
            case "content_block_delta":
                _add_to(blocks.setdefault(str(event.get("index")), {}), mapping(event.get("delta")))
            case "message_delta":
                reason = mapping(event.get("delta")).get("stop_reason") or reason
            case "error":
                error = mapping(event.get("error"))
    body: JsonObject = {"content": list(blocks.values()), "stop_reason": reason}
    return Joined(body, reason is not None, error)


def _add_to(block: JsonObject, delta: JsonObject) -> None:
    for key in ("text", "thinking", "partial_json"):
        if isinstance(part := delta.get(key), str):
            block[key] = text(block.get(key)) + part


def _responses(events: Sequence[JsonObject]) -> Joined:
    error: JsonObject | None = None
    for event in events:
        if event.get("type") in _TERMINAL:
            body = mapping(event.get("response"))
            told = error or mapping(body.get("error")) or None
            if body.get("output") or told is None:
                return Joined(body, True, told)
            return Joined(_so_far(events), True, told)
        if event.get("type") == "error":
            error = mapping(event.get("error")) or event
    return Joined(_so_far(events), False, error)


def _so_far(events: Iterable[JsonObject]) -> JsonObject:
    """What a response said that has no terminal event."""
    items: dict[str, JsonObject] = {}
    for event in events:
        number, kind = str(event.get("output_index")), event.get("type")
        if kind in ("response.output_item.added", "response.output_item.done"):
            items[number] = dict(mapping(event.get("item")))
        elif (item := items.get(number)) is not None and isinstance(event.get("delta"), str):
            _add_delta(item, text(kind), text(event.get("delta")))
    return {"output": list(items.values())}


def _add_delta(item: JsonObject, kind: str, delta: str) -> None:
    match kind:
        case "response.function_call_arguments.delta":
            item["arguments"] = text(item.get("arguments")) + delta
        case "response.custom_tool_call_input.delta":
            item["input"] = text(item.get("input")) + delta
        case "response.output_text.delta":
            _add_part(item, "content", "output_text", "text", delta)
        case "response.refusal.delta":
            _add_part(item, "content", "refusal", "refusal", delta)
        case "response.reasoning_summary_text.delta":
            _add_part(item, "summary", "summary_text", "text", delta)


def _add_part(item: JsonObject, holder: str, kind: str, key: str, delta: str) -> None:
    parts = mappings(item.get(holder)) or [{"type": kind, key: ""}]
    item[holder] = [*parts[:-1], {**parts[-1], key: text(parts[-1].get(key)) + delta}]


_JOIN: Final[Mapping[DialectName, Callable[[Sequence[JsonObject]], Joined]]] = {
    "chat": _chat,
    "messages": _messages,
    "responses": _responses,
}
