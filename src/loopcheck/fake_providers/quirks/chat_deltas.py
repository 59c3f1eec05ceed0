"""Quirks of chat streams that change the deltas of tool calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import replace
from itertools import pairwise, repeat

from loopcheck.fake_providers.quirks.parts import (
    calls_by_label,
    member,
    members,
    of_label,
    put,
    shaped,
)
from loopcheck.fake_providers.wire import Answer, Frame, JsonObject

_TEXT_KEYS = {"function": "arguments", "custom": "input"}


def entries(frame: Frame) -> list[JsonObject]:
    """The tool-call entries of a chunk."""
    return [
        entry
        for choice in members(frame.data, "choices")
        for entry in members(member(choice, "delta"), "tool_calls")
    ]


def index(frames: Sequence[Frame], answer: Answer, value: object) -> list[Frame]:
    """`index` as value says, over all deltas of the response."""
    count = 0
    for frame in frames:
        for entry in entries(frame):
            wanted = _index(value, entry.get("index"), count)
            if wanted == "absent":
                entry.pop("index", None)
            else:
                entry["index"] = wanted
            count += 1
    return list(frames)


def _index(value: object, given: object, count: int) -> object:
    own = given if isinstance(given, int) else 0
    match value:
        case "growing":
            return count
        case "mixed":
            return "absent" if count % 2 else own
        case dict():
            start = value.get("from")
            return own + start if isinstance(start, int) else own
        case list() | tuple():
            return value[own] if own < len(value) else value[-1]
        case _:
            return value


def continuation(frames: Sequence[Frame], answer: Answer, value: object) -> list[Frame]:
    """Fields of the head on every later delta of the call, too."""
    fields = value if isinstance(value, dict) else {}
    heads: dict[str | None, JsonObject] = {}
    for frame in frames:
        for position, entry in enumerate(entries(frame)):
            head = heads.setdefault(frame.label, entry)
            if head is not entry and position == 0:
                _continue(entry, head, fields)
    return list(frames)


def _continue(entry: JsonObject, head: JsonObject, fields: JsonObject) -> None:
    kind = _kind(head)
    for name, wanted in fields.items():
        inside = name == "name"
        source, target = (member(head, kind), member(entry, kind)) if inside else (head, entry)
        target[name] = source.get(name) if wanted == "same" else wanted


def late_id(frames: Sequence[Frame], answer: Answer, value: object) -> list[Frame]:
    """The id comes with the n-th delta of its call, or with the last one."""
    place = value if isinstance(value, int) else 2
    for label in calls_by_label(answer):
        own = [entry for n in of_label(frames, label) for entry in entries(frames[n])]
        if len(own) > 1 and "id" in own[0]:
            own[min(place, len(own)) - 1]["id"] = own[0].pop("id")
    return list(frames)


def batch_deltas(frames: Sequence[Frame], answer: Answer, value: object) -> list[Frame]:
    """Neighbouring deltas share one chunk's list, so many at a time."""
    sizes = _sizes(value)
    changed: list[Frame] = []
    room = 0
    for frame in frames:
        if not entries(frame):
            changed.append(frame)
            room = 0
        elif room == 0:
            changed.append(frame)
            room = next(sizes) - 1
        else:
            changed[-1] = _joined(changed[-1], frame)
            room -= 1
    return changed


def _sizes(value: object) -> Iterator[int]:
    """The numbers in their order, the last one for ever."""
    listed = value if isinstance(value, list | tuple) else [value]
    sizes = [size for size in listed if isinstance(size, int)]
    yield from sizes
    yield from repeat(sizes[-1])


def _joined(first: Frame, second: Frame) -> Frame:
    choice = members(first.data, "choices")[0]
    member(choice, "delta")["tool_calls"] = [*entries(first), *entries(second)]
    if first.label == second.label:
        return replace(first, text=first.text + second.text)
    # A chunk of two calls is neither's.
    return replace(first, label=None, text="")


def split_name(frames: Sequence[Frame], answer: Answer, value: object) -> list[Frame]:
    """The name in pieces, each in a delta of its own."""
    changed: list[Frame] = []
    for frame in frames:
        changed.append(frame)
        for entry in entries(frame):
            name = member(entry, _kind(entry)).get("name")
            if isinstance(name, str):
                first, *others = _pieces(name, value)
                member(entry, _kind(entry))["name"] = first
                changed.extend(_delta(frame, entry, {"name": piece}) for piece in others)
    return changed


def _pieces(name: str, value: object) -> list[str]:
    if isinstance(value, list | tuple):
        pieces = [str(piece) for piece in value]
        return pieces if "".join(pieces) == name else [name]
    count = min(value, len(name)) if isinstance(value, int) else 1
    bounds = [len(name) * part // count for part in range(count + 1)]
    return [name[start:end] for start, end in pairwise(bounds)]


def _delta(frame: Frame, entry: JsonObject, fields: JsonObject) -> Frame:
    """A later delta of the same call."""
    new = replace(frame, data=deepcopy(frame.data), part="fragment", text="")
    delta = member(members(new.data, "choices")[0], "delta")
    place = {"index": entry["index"]} if "index" in entry else {}
    delta["tool_calls"] = [{**place, _kind(entry): fields}]
    return new


def id_in_function(frames: Sequence[Frame], answer: Answer, value: object) -> list[Frame]:
    """The id stands inside `function`, and `type` is missing."""
    for frame in frames:
        for entry in entries(frame):
            move_id(entry)
    return list(frames)


def move_id(entry: JsonObject) -> None:
    """Moves the id of a call, whole or a delta, to where some servers keep it."""
    entry.pop("type", None)
    if "id" in entry and isinstance(entry.get("function"), dict):
        entry["function"] = {"id": entry.pop("id"), **member(entry, "function")}


def args_in_head(frames: Sequence[Frame], answer: Answer, value: object) -> list[Frame]:
    """The first fragment of the arguments rides on the head."""
    changed = list(frames)
    for label in calls_by_label(answer):
        own = of_label(changed, label)
        first = next((n for n in own if changed[n].part == "fragment" and changed[n].text), None)
        if first is None or changed[own[0]].part != "open" or changed[own[0]].text:
            continue
        head, fragment = changed[own[0]], changed.pop(first)
        entry = entries(head)[0]
        member(entry, _kind(entry))[_TEXT_KEYS[_kind(entry)]] = fragment.text
        changed[own[0]] = replace(head, text=fragment.text)
    return changed


def repeat_args(frames: Sequence[Frame], answer: Answer, value: object) -> list[Frame]:
    """All arguments once more behind the last fragment."""
    changed = list(frames)
    for label, call in calls_by_label(answer).items():
        own = of_label(changed, label)
        if not own or not call.arguments:
            continue
        entry = entries(changed[own[-1]])[-1]
        again: JsonObject = {_TEXT_KEYS[_kind(entry)]: call.arguments}
        changed.insert(own[-1] + 1, _delta(changed[own[-1]], entry, again))
    return changed


def arguments(frames: Sequence[Frame], answer: Answer, value: object) -> list[Frame]:
    """Arguments that are no text: all at once, on the head."""
    changed = list(frames)
    for label, call in calls_by_label(answer).items():
        shape = shaped(call, value)
        own = of_label(changed, label)
        if shape is None or not own:
            continue
        head = changed[own[0]]
        first, *_ = entries(head)
        put(member(first, "function"), "arguments", shape)
        member(members(head.data, "choices")[0], "delta")["tool_calls"] = [first]
        changed[own[0]] = replace(head, text=call.arguments)
        for position in reversed(own[1:]):
            del changed[position]
    return changed


def _kind(entry: JsonObject) -> str:
    return "custom" if "custom" in entry else "function"
