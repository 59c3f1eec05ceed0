"""Quirks of the Responses protocol."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
    shaped,
    twin,
)
from loopcheck.fake_providers.wire import Answer, Frame, IssuedCall, JsonObject

_KEPT: Final = ("status", "output", "error", "incomplete_details")
_CALLS: Final = ("function_call", "custom_tool_call")
_TEXT_KEYS: Final = ("arguments", "input")


def renumbered(frames: Sequence[Frame]) -> list[Frame]:
    """The events counted anew: what was left out leaves no gap."""
    for number, frame in enumerate(frames):
        if isinstance(frame.data, dict) and "sequence_number" in frame.data:
            frame.data["sequence_number"] = number
    return list(frames)


def drop(frames: Sequence[Frame], answer: Answer, value: object) -> list[Frame]:
    """Leaves out events of the calls, or the output of the terminal event. Arguments whose
    deltas are left out come with the first event that still states them."""
    dropped = (
        [value] if isinstance(value, str) else value if isinstance(value, list | tuple) else []
    )
    if "final-output" in dropped:
        for response in _terminal(frames):
            response["output"] = []
    labels = calls_by_label(answer)
    kept = [f for f in frames if f.label not in labels or _what(f) not in dropped]
    if "args-delta" in dropped:
        for label, call in labels.items():
            _carry(kept, label, call)
    return kept


def _what(frame: Frame) -> str:
    """What an event of a call is in the words of `drop`."""
    kind = frame.event or ""
    for ending, word in (("item.added", "item-added"), ("item.done", "item-done")):
        if kind.endswith(ending):
            return word
    return "args-delta" if kind.endswith(".delta") else "args-done"


def _carry(frames: list[Frame], label: str, call: IssuedCall) -> None:
    for position in of_label(frames, label):
        if _what(frames[position]) in ("args-done", "item-done"):
            frames[position] = replace(frames[position], text=call.arguments)
            return


def item_id(frames: Sequence[Frame], answer: Answer, value: object) -> list[Frame]:
    """The item id of each call: null, absent, or the call id."""
    labels = calls_by_label(answer)
    for frame in frames:
        call = labels.get(frame.label or "")
        if call is not None and isinstance(frame.data, dict):
            if "item_id" in frame.data:
                put(frame.data, "item_id", _id(value, call.call_id))
            _rename(member(frame.data, "item"), value)
    for response in _terminal(frames):
        whole_item_id(response, answer, value)
    return list(frames)


def whole_item_id(body: JsonObject, answer: Answer, value: object) -> None:
    for item in _calls_in(body):
        _rename(item, value)


def _rename(item: JsonObject, value: object) -> None:
    if "id" in item:
        put(item, "id", _id(value, item.get("call_id")))


def _id(value: object, call_id: object) -> tuple[object, bool]:
    return (call_id if value == "call-id" else None, value != "absent")


def repeat_item(frames: Sequence[Frame], answer: Answer, value: object) -> list[Frame]:
    """The item events of each call twice; with `empty`, the second `done` has no arguments."""
    labels = calls_by_label(answer)
    repeated = (
        n for n, f in enumerate(frames) if f.label in labels and _what(f).startswith("item-")
    )
    return inserted(frames, repeated, lambda frame: _again(frame, value))


def _again(frame: Frame, value: object) -> Frame:
    again = twin(frame)
    item = member(again.data, "item")
    for key in _TEXT_KEYS:
        if value == "empty" and key in item:
            item[key] = ""
    return again


def bare_terminal(frames: Sequence[Frame], answer: Answer, value: object) -> list[Frame]:
    """The terminal event without what a response may lack."""
    for response in _terminal(frames):
        whole_bare_terminal(response, answer, value)
    return list(frames)


def whole_bare_terminal(body: JsonObject, answer: Answer, value: object) -> None:
    for key in [key for key in body if key not in _KEPT or body[key] is None]:
        del body[key]


def item_status(frames: Sequence[Frame], answer: Answer, value: object) -> list[Frame]:
    """This word as the status of each call that is done."""
    labels = calls_by_label(answer)
    for frame in frames:
        if frame.label in labels and _what(frame) == "item-done":
            member(frame.data, "item")["status"] = value
    for response in _terminal(frames):
        whole_item_status(response, answer, value)
    return list(frames)


def whole_item_status(body: JsonObject, answer: Answer, value: object) -> None:
    for item in _calls_in(body):
        item["status"] = value


def arguments(frames: Sequence[Frame], answer: Answer, value: object) -> list[Frame]:
    """Arguments that are no text: without deltas, in the events that state them."""
    labels = calls_by_label(answer)
    shapes = {label: shaped(call, value) for label, call in labels.items()}
    changed: list[Frame] = []
    for frame in frames:
        shape = shapes.get(frame.label or "")
        if shape is None or not isinstance(frame.data, dict):
            changed.append(frame)
        elif _what(frame) != "args-delta":
            _shape(frame, frame.data, shape)
            changed.append(frame)
    for label, call in labels.items():
        if shapes[label] is not None:
            _carry(changed, label, call)
    for response in _terminal(frames):
        whole_arguments(response, answer, value)
    return changed


def _shape(frame: Frame, data: JsonObject, shape: tuple[object, bool]) -> None:
    what = _what(frame)
    # An item begins with an empty text, whatever it is going to hold.
    if what == "item-added" and shape[0] is not None:
        return
    put(data if what == "args-done" else member(data, "item"), "arguments", shape)


def whole_arguments(body: JsonObject, answer: Answer, value: object) -> None:
    left = list(answer.calls)
    for item in _calls_in(body):
        # Of calls that share an id, the first that is left: items stand in the order of the calls.
        call = next((one for one in left if one.call_id == item.get("call_id")), None)
        if call is not None:
            left.remove(call)
        shape = None if call is None else shaped(call, value)
        if shape is not None:
            put(item, "arguments", shape)


def repeat_args(frames: Sequence[Frame], answer: Answer, value: object) -> list[Frame]:
    """All arguments once more behind the last delta."""
    changed = list(frames)
    for label, call in calls_by_label(answer).items():
        deltas = [n for n in of_label(changed, label) if _what(changed[n]) == "args-delta"]
        if deltas:
            again = twin(changed[deltas[-1]])
            if isinstance(again.data, dict):
                again.data["delta"] = call.arguments
            changed.insert(deltas[-1] + 1, again)
    return changed


def odd_field(frames: Sequence[Frame], answer: Answer, value: object) -> list[Frame]:
    """The padding as a list of numbers, beside each delta."""
    for frame in frames:
        if frame.event is not None and frame.event.endswith(".delta"):
            assert isinstance(frame.data, dict)
            frame.data["obfuscation"] = [0]
    return list(frames)


def whole_odd_field(body: JsonObject, answer: Answer, value: object) -> None:
    body["metadata"] = "none"


def unknown_event(frames: Sequence[Frame], answer: Answer, value: object) -> list[Frame]:
    """Events of an unknown type, behind the first event and inside each item."""
    kind = "response.notice"

    def notice(frame: Frame) -> Frame:
        data: JsonObject = {"type": kind, "sequence_number": 0, "notice": "still here"}
        return Frame(event=kind, data=data)

    return inserted(frames, begins(frames), notice)


def _terminal(frames: Sequence[Frame]) -> Iterator[JsonObject]:
    """The response object of the terminal event."""
    for frame in frames:
        if frame.part == "terminal" and isinstance(frame.data, dict):
            yield member(frame.data, "response")


def _calls_in(response: JsonObject) -> list[JsonObject]:
    return [item for item in members(response, "output") if item.get("type") in _CALLS]
