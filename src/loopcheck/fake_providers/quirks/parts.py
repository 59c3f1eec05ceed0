"""The parts of events and bodies that quirks change. All of it is untrusted JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from dataclasses import replace

from loopcheck.fake_providers.wire import Answer, Frame, IssuedCall, JsonObject


def member(holder: object, key: str) -> JsonObject:
    """The object under this key; an empty one that belongs to nothing where there is none."""
    value = holder.get(key) if isinstance(holder, dict) else None
    return value if isinstance(value, dict) else {}


def members(holder: object, key: str) -> list[JsonObject]:
    """The objects listed under this key."""
    values = holder.get(key) if isinstance(holder, dict) else None
    return [value for value in values if isinstance(value, dict)] if values else []


def twin(frame: Frame, *, text: str = "") -> Frame:
    """The same event again, with data of its own; what it carries counts once."""
    return replace(frame, data=deepcopy(frame.data), text=text)


def calls_by_label(answer: Answer) -> dict[str, IssuedCall]:
    return {call.label: call for call in answer.calls}


def of_label(frames: Iterable[Frame], label: str) -> list[int]:
    """The positions of the events of this call."""
    return [position for position, frame in enumerate(frames) if frame.label == label]


def begins(frames: Sequence[Frame]) -> list[int]:
    """The first event, and the first one of each piece."""
    return [n for n, frame in enumerate(frames) if n == 0 or frame.part == "open"]


def inserted(
    frames: Sequence[Frame], behind: Iterable[int], new: Callable[[Frame], Frame]
) -> list[Frame]:
    """The events with a new one, made from the one before it, behind each of these places."""
    places = set(behind)
    changed: list[Frame] = []
    for position, frame in enumerate(frames):
        changed.append(frame)
        if position in places:
            changed.append(new(frame))
    return changed


def as_object(text: str) -> JsonObject | None:
    """The JSON object that this text is."""
    try:
        value: object = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def says_nothing(call: IssuedCall) -> bool:
    """Whether it is a call without arguments."""
    return call.form == "function" and call.arguments.replace(" ", "") in ("", "{}")


def shaped(call: IssuedCall, how: object) -> tuple[object, bool] | None:
    """What stands for the call's arguments in this shape, and whether the key stands at all;
    None where the shape does not apply to this call."""
    if call.form != "function":
        return None
    if how == "object":
        value = as_object(call.arguments)
        return None if value is None else (value, True)
    if not says_nothing(call):
        return None
    return {"absent": (None, False), "empty": ("", True)}.get(str(how), (None, True))


def put(holder: JsonObject, key: str, shape: tuple[object, bool]) -> None:
    """Writes the shape under this key, or takes the key away."""
    value, stands = shape
    if stands:
        holder[key] = value
    else:
        holder.pop(key, None)
