"""Finds the place in a response where a scripted fault strikes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from loopcheck.fake_providers.delivery import label_of, wire_text
from loopcheck.fake_providers.script import Place
from loopcheck.fake_providers.sse import data_offset
from loopcheck.fake_providers.wire import Answer, Frame, Piece


class FaultError(Exception):
    """A scripted fault that was reached and could not strike: the script is wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """All frames before `frame` are sent, and of that one the first `size` bytes."""

    frame: int
    size: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Body:
    answer: Answer
    frames: Sequence[Frame]
    encoded: Sequence[bytes]


def described(place: Place) -> str:
    """The place as a scenario writes it, for messages."""
    if place.frame is not None:
        size = "" if place.size is None else f", bytes: {place.size}"
        return f"{{frame: {place.frame}{size}}}"
    if place.inside is not None:
        where = f"after: {place.after!r}" if place.after is not None else f"bytes: {place.size}"
        return f"{{in: {place.inside}, {where}}}"
    if place.before is not None:
        return f"{{before: {place.before}}}"
    if place.behind is not None:
        return f"{{after: {place.behind}}}"
    return f"{{bytes: {place.size}}}" if place.size is not None else str(place.edge)


def cuts(places: Iterable[Place], content: Sequence[Piece]) -> Mapping[int, Collection[int]]:
    """The fragment boundaries that places inside arguments or text need, by piece."""
    found: dict[int, set[int]] = {}
    for place in places:
        if place.frame is None and place.inside is not None:
            index, offset = _inside(place, content)
            found.setdefault(index, set()).add(offset)
    return found


def spot(place: Place, answer: Answer, frames: Sequence[Frame], encoded: Sequence[bytes]) -> Spot:
    """Where the body ends. Raises FaultError when there is no such place in it."""
    body = _Body(answer=answer, frames=frames, encoded=encoded)
    if place.frame is not None:
        return _at_frame(place, body)
    if place.inside is not None:
        return _within(place, body)
    if place.before is not None:
        return Spot(frame=_labelled(place.before, place, body)[0])
    if place.behind is not None:
        return Spot(frame=_labelled(place.behind, place, body)[-1] + 1)
    if place.size is not None:
        return _at_byte(place.size, place, body)
    return Spot(frame=0 if place.edge == "start" else len(frames))


def success(frames: Sequence[Frame]) -> int:
    """The frame that tells a client that the response is complete and why it stopped.

    That is the terminal event; but where the terminal is a bare word (`[DONE]`), the frame with
    the stop reason, since everything that matters was said by then.
    """
    terminal = named_frame("terminal", frames)
    if terminal is not None and isinstance(frames[terminal].data, str):
        finish = named_frame("finish", frames)
        return terminal if finish is None else finish
    return len(frames) - 1 if terminal is None else terminal


def named_frame(name: str, frames: Sequence[Frame]) -> int | None:
    """The last frame of that part. One event that does both parts counts as either."""
    for part in (name, "terminal" if name == "finish" else "finish"):
        for index in range(len(frames) - 1, -1, -1):
            if frames[index].part == part:
                return index
    return None


def _at_frame(place: Place, body: _Body) -> Spot:
    index: int | None
    if isinstance(place.frame, int):
        index = place.frame - 1 if 1 <= place.frame <= len(body.frames) else None
    else:
        index = named_frame(str(place.frame), body.frames)
    if index is None:
        raise FaultError(f"there is no {described(place)} in {len(body.frames)} frames")
    if place.size is None:
        return Spot(frame=index)
    offset = data_offset(body.encoded[index], place.size)
    if offset is None:
        raise FaultError(f"the data of the frame is shorter than {described(place)}")
    return Spot(frame=index, size=offset)


def _at_byte(size: int, place: Place, body: _Body) -> Spot:
    start = 0
    for index, part in enumerate(body.encoded):
        if size < start + len(part):
            return Spot(frame=index, size=size - start)
        start += len(part)
    if size > start:
        raise FaultError(f"there is no {described(place)} in a body of {start} bytes")
    return Spot(frame=len(body.encoded))


def _within(place: Place, body: _Body) -> Spot:
    content = body.answer.content
    target, offset = _inside(place, content)
    before = (piece for piece in content[:target] if label_of(piece) == place.inside)
    wanted = offset + sum(len(wire_text(piece)) for piece in before)
    own = [index for index, frame in enumerate(body.frames) if frame.label == place.inside]
    if wanted == 0:
        return Spot(frame=(own[0] if own else 0) + 1)
    for index, total in zip(own, accumulate(len(body.frames[i].text) for i in own), strict=True):
        if total == wanted:
            return Spot(frame=index + 1)
    raise FaultError(f"no fragment ends at {described(place)}")


def _inside(place: Place, content: Sequence[Piece]) -> tuple[int, int]:
    candidates = [i for i, piece in enumerate(content) if label_of(piece) == place.inside]
    if not candidates:
        raise FaultError(f"there is no {place.inside!r} in this answer for {described(place)}")
    for index in candidates:
        offset = _offset(place, wire_text(content[index]))
        if offset is not None:
            return index, offset
    text = "".join(wire_text(content[index]) for index in candidates)
    raise FaultError(f"{described(place)} does not stand in {text!r}")


def _offset(place: Place, text: str) -> int | None:
    if place.after is not None:
        found = text.find(place.after)
        return None if found < 0 else found + len(place.after)
    encoded = text.encode()
    if place.size is None or place.size > len(encoded):
        return None
    # Fragments are text, so a place inside a character is the place before it.
    return len(encoded[: place.size].decode(errors="ignore"))


def _labelled(label: str, place: Place, body: _Body) -> list[int]:
    found = [index for index, frame in enumerate(body.frames) if frame.label == label]
    if not found:
        raise FaultError(f"no frame of {label!r} was rendered for {described(place)}")
    return found
