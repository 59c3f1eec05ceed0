"""Quirks of the Messages protocol."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from loopcheck.fake_providers.quirks.parts import (
    begins,
    calls_by_label,
    inserted,
    member,
    members,
    of_label,
    put,
    says_nothing,
    twin,
)
from loopcheck.fake_providers.wire import Answer, Frame, JsonObject

_BLOCK: Final[JsonObject] = {"type": "notice", "notice": "still here"}


def repeat_args(frames: Sequence[Frame], answer: Answer, value: object) -> list[Frame]:
    """All arguments once more behind the last delta."""
    changed = list(frames)
    for label, call in calls_by_label(answer).items():
        own = [n for n in of_label(changed, label) if _is_input(changed[n])]
        if own and call.arguments:
            again = twin(changed[own[-1]])
            member(again.data, "delta")["partial_json"] = call.arguments
            changed.insert(own[-1] + 1, again)
    return changed


def arguments(frames: Sequence[Frame], answer: Answer, value: object) -> list[Frame]:
    """A call without arguments has no delta; with `absent`, its block has no input either."""
    bare = {label: call for label, call in calls_by_label(answer).items() if says_nothing(call)}
    changed: list[Frame] = []
    for frame in frames:
        call = bare.get(frame.label or "")
        if call is None:
            changed.append(frame)
        elif frame.part == "open":
            if value == "absent":
                member(frame.data, "content_block").pop("input", None)
            changed.append(replace(frame, text=call.arguments))
        elif not _is_input(frame):
            changed.append(frame)
    return changed


def whole_arguments(body: JsonObject, answer: Answer, value: object) -> None:
    bare = {call.call_id for call in answer.calls if says_nothing(call)}
    for block in members(body, "content"):
        if block.get("type") == "tool_use" and block.get("id") in bare:
            block.pop("input", None)


def finish(frames: Sequence[Frame], answer: Answer, value: object) -> list[Frame]:
    """This word as the stop reason; with `none`, the event that has it is left out."""
    kept = [frame for frame in frames if frame.part != "finish" or value != "none"]
    for frame in kept:
        if frame.part == "finish":
            member(frame.data, "delta")["stop_reason"] = value
    return kept


def whole_finish(body: JsonObject, answer: Answer, value: object) -> None:
    put(body, "stop_reason", (value, value != "none"))


def odd_field(frames: Sequence[Frame], answer: Answer, value: object) -> list[Frame]:
    """`usage` as text, beside each delta."""
    for frame in frames:
        if frame.event == "content_block_delta" and isinstance(frame.data, dict):
            frame.data["usage"] = "none"
    return list(frames)


def whole_odd_field(body: JsonObject, answer: Answer, value: object) -> None:
    body["container"] = "none"


def unknown_event(frames: Sequence[Frame], answer: Answer, value: object) -> list[Frame]:
    """Events of an unknown type, behind the first event and inside each block."""
    return inserted(
        frames,
        begins(frames),
        lambda frame: Frame(event="notice", data={"type": "notice", "notice": "still here"}),
    )


def unknown_block(frames: Sequence[Frame], answer: Answer, value: object) -> list[Frame]:
    """A block of an unknown type before all others, which move on by one."""
    for frame in frames:
        if isinstance(frame.data, dict) and isinstance(place := frame.data.get("index"), int):
            frame.data["index"] = place + 1
    return [*frames[:1], *_block(), *frames[1:]]


def _block() -> list[Frame]:
    start, stop = "content_block_start", "content_block_stop"
    begun: JsonObject = {"type": start, "index": 0, "content_block": dict(_BLOCK)}
    return [
        Frame(event=start, data=begun),
        Frame(event=stop, data={"type": stop, "index": 0}),
    ]


def whole_unknown_block(body: JsonObject, answer: Answer, value: object) -> None:
    body["content"] = [dict(_BLOCK), *members(body, "content")]


def bare_ping(frames: Sequence[Frame], answer: Answer, value: object) -> list[Frame]:
    """Pings without data, also behind the first event."""
    bare = Frame(event="ping", data="", part="ping")
    changed = [bare if frame.part == "ping" else frame for frame in frames]
    return [*changed[:1], bare, *changed[1:]]


def _is_input(frame: Frame) -> bool:
    return member(frame.data, "delta").get("type") == "input_json_delta"
