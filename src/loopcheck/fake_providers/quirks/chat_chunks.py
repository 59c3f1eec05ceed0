"""Quirks of chat that change whole chunks, or add some; and those of whole chat bodies."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Final

from loopcheck.fake_providers.quirks.chat_deltas import entries, move_id
from loopcheck.fake_providers.quirks.parts import (
    begins,
    inserted,
    member,
    members,
    put,
    shaped,
)
from loopcheck.fake_providers.wire import Answer, Frame, JsonObject, Part

_PROMPT_FILTER: Final = [{"prompt_index": 0, "content_filter_results": {}}]


def finish(frames: Sequence[Frame], answer: Answer, value: object) -> list[Frame]:
    """This word as the finish reason; with `none`, the frame that has it is left out."""
    changed: list[Frame] = []
    for frame in frames:
        choice = next(iter(members(frame.data, "choices")), {})
        if choice.get("finish_reason") is not None:
            if value == "none" and not frame.text:
                continue
            choice["finish_reason"] = None if value == "none" else value
        changed.append(frame)
    return changed


def finish_on_last_delta(frames: Sequence[Frame], answer: Answer, value: object) -> list[Frame]:
    """The finish reason rides on the last delta, and has no chunk of its own."""
    finishes = (n for n, f in enumerate(frames) if f.part == "finish" and not _is_delta(f))
    place = next(finishes, None)
    deltas = [n for n, frame in enumerate(frames[:place]) if _is_delta(frame)]
    if place is None or not deltas:
        return list(frames)
    reason = members(frames[place].data, "choices")[0].get("finish_reason")
    members(frames[deltas[-1]].data, "choices")[0]["finish_reason"] = reason
    changed = list(frames)
    changed[deltas[-1]] = replace(frames[deltas[-1]], part="finish")
    del changed[place]
    return changed


def _is_delta(frame: Frame) -> bool:
    return frame.label is not None or bool(entries(frame))


def usage_frame(frames: Sequence[Frame], answer: Answer, value: object) -> list[Frame]:
    """A chunk with token counts and without choices, although nobody asked for one."""
    if any(frame.part == "usage" for frame in frames):
        return list(frames)
    usage = answer.usage
    counts = {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
    }
    extra = _chunk(frames[0], choices=[], part="usage", usage=counts)
    return [*frames[:-1], extra, *frames[-1:]]


def filter_frames(frames: Sequence[Frame], answer: Answer, value: object) -> list[Frame]:
    """Chunks of a content filter: without choices, or with a choice that has no delta."""
    places = value if isinstance(value, list | tuple) else [value]
    changed = list(frames)
    if "after" in places:
        ends = (n for n, frame in enumerate(changed) if frame.part == "finish")
        changed = inserted(changed, ends, _without_delta)
    if "between" in places:
        deltas = (n for n, frame in enumerate(changed) if entries(frame))
        changed = inserted(changed, deltas, _without_delta)
    if "first" in places:
        extra = _chunk(changed[0], choices=[], prompt_filter_results=deepcopy(_PROMPT_FILTER))
        changed.insert(0, extra)
    return changed


def _without_delta(frame: Frame) -> Frame:
    choice: JsonObject = {
        "index": 0,
        "finish_reason": None,
        "content_filter_results": {},
        "content_filter_offsets": {"check_offset": 0, "start_offset": 0, "end_offset": 0},
    }
    return _chunk(frame, choices=[choice])


def odd_field(frames: Sequence[Frame], answer: Answer, value: object) -> list[Frame]:
    """`logprobs` as text, beside each delta."""
    for frame in frames:
        if frame.label is not None:
            for choice in members(frame.data, "choices"):
                choice["logprobs"] = "off"
    return list(frames)


def unknown_event(frames: Sequence[Frame], answer: Answer, value: object) -> list[Frame]:
    """Chunks of another object type, behind the first chunk and inside each piece."""
    return inserted(
        frames,
        begins(frames),
        lambda frame: _chunk(frame, object="chat.completion.notice", choices=[], notice="here"),
    )


def _chunk(like: Frame, *, part: Part = "head", **fields: object) -> Frame:
    """A chunk with the envelope of this one and other fields."""
    data = like.data if isinstance(like.data, dict) else {}
    kept = ("id", "object", "created", "model")
    return Frame(data={**{key: data[key] for key in kept if key in data}, **fields}, part=part)


def whole_finish(body: JsonObject, answer: Answer, value: object) -> None:
    for choice in members(body, "choices"):
        put(choice, "finish_reason", (value, value != "none"))


def whole_arguments(body: JsonObject, answer: Answer, value: object) -> None:
    for entry, call in zip(_whole_calls(body), answer.calls, strict=False):
        shape = shaped(call, value)
        if shape is not None:
            put(member(entry, "function"), "arguments", shape)


def whole_id_in_function(body: JsonObject, answer: Answer, value: object) -> None:
    for entry in _whole_calls(body):
        move_id(entry)


def whole_odd_field(body: JsonObject, answer: Answer, value: object) -> None:
    for choice in members(body, "choices"):
        choice["logprobs"] = "off"


def _whole_calls(body: JsonObject) -> list[JsonObject]:
    choices = members(body, "choices")
    return [
        entry for choice in choices for entry in members(member(choice, "message"), "tool_calls")
    ]
