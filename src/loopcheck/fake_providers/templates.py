"""Answers that were given before, given again under other ids, at the cost of filling these in.

Loops retry, and load tests ask for one thing a thousand times. What differs between two answers
of one attempt to equal requests are ids, times and padding: the rest is rendered once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, overload

from loopcheck.fake_providers import faults
from loopcheck.fake_providers.blanks import Blanks
from loopcheck.fake_providers.cutting import Cut
from loopcheck.fake_providers.dialects.interface import Dialect
from loopcheck.fake_providers.error_replies import Headers
from loopcheck.fake_providers.faults import Rendered
from loopcheck.fake_providers.padding import STAND_IN
from loopcheck.fake_providers.script import Attempt, Mode
from loopcheck.fake_providers.wire import Answer, IssuedCall, Piece

_MOST_KEPT: Final = 64
# From 128 KiB on, memory is mapped anew each time, which takes longer than to fill it.
_FRAMES: Final = 64
_TIME: Final = 8_888_888_888_888_001


@dataclass(frozen=True, slots=True)
class _Template:
    """An answer without its ids, in parts of so many frames that none of them is large.
    `frames` cuts where the frames of `first` end, the answer that it was made from."""

    first: Rendered
    parts: tuple[Blanks, ...]
    frames: Cut

    @classmethod
    def of(cls, blank: Rendered, blanks: Sequence[str], first: Rendered) -> _Template:
        """The template for what was rendered with these blanks, and with values as `first`."""
        frames, segments = first.frame_texts, first.segments
        by_frame = list(map(len, segments)) == [len(frame.encode()) for frame in frames]
        size = _FRAMES if by_frame else len(frames)
        parts = [
            Blanks(
                "".join(blank.frame_texts[start : start + size]),
                blanks,
                segments[start : start + size] if by_frame else segments,
            )
            for start in range(0, len(frames), size)
        ]
        return cls(first, tuple(parts), Cut(map(len, frames)))

    def body(self, values: Sequence[str]) -> bytes:
        """All that is sent of an answer with these values, of which the first is its id."""
        return b"".join([part.filled(values) for part in self.parts])

    def filled(self, answer: Answer, headers: Headers) -> Rendered | None:
        """The answer with its own ids; None where these have other lengths."""
        values = _values(answer)
        segments: list[bytes] = []
        for part in self.parts:
            body = part.filled(values)
            if len(body) != part.size:
                return None
            segments += part.segments(body)
        first = self.first
        return Rendered(
            status=first.status,
            headers=headers,
            body_frames=(),
            segments=tuple(segments),
            streamed=first.streamed,
            ending=first.ending,
            keep_alive=first.keep_alive,
            sent=first.sent,
            ends=first.ends,
            frame_texts=_Texts(self, values),
            odd=first.odd,
        )


@dataclass(slots=True)
class _Texts(Sequence[str]):
    """The texts of the frames, made when they are read: a journal keeps them of every answer."""

    template: _Template
    values: tuple[str, ...]

    def _made(self) -> Sequence[str]:
        return self.template.frames(self.template.body(self.values).decode())

    def __iter__(self) -> Iterator[str]:
        return iter(self._made())

    def __len__(self) -> int:
        return len(self.template.first.frame_texts)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...
    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        return self._made()[index]


@dataclass(slots=True)
class _Entry:
    attempt: Attempt
    answer: Answer
    mode: Mode
    template: _Template | None = None
    fits: bool = True


@dataclass(slots=True)
class Templates:
    """The latest answers of one provider. `body_frames` of what they render is empty."""

    dialect: Dialect
    seed: int
    _entries: dict[int, _Entry] = field(default_factory=dict)

    def latest(self, turn: int, attempt: Attempt) -> Answer | None:
        """An answer that this attempt gave to an earlier request for the turn."""
        entry = self._entries.get(turn)
        return entry.answer if entry is not None and entry.attempt is attempt else None

    def render(self, answer: Answer, attempt: Attempt, mode: Mode, *, turn: int) -> Rendered:
        """The response to one request, as `faults.render` gives it."""
        if not _repeats(attempt):
            return faults.render(self.dialect, answer, attempt, mode, seed=self.seed)
        entry = self._entries.get(turn)
        if entry is None or not _alike(entry, answer, attempt, mode):
            self._keep(turn, _Entry(attempt, answer, mode))
            return faults.render(self.dialect, answer, attempt, mode, seed=self.seed)
        if entry.template is not None:
            headers = faults.headers(self.dialect, answer, mode, seed=self.seed)
            filled = entry.template.filled(answer, headers)
            if filled is not None:
                return filled
        if entry.fits and entry.template is None:
            entry.template = self._template(entry, answer)
            entry.fits = entry.template is not None
        return faults.render(self.dialect, answer, attempt, mode, seed=self.seed)

    def _keep(self, turn: int, entry: _Entry) -> None:
        self._entries.pop(turn, None)
        self._entries[turn] = entry
        if len(self._entries) > _MOST_KEPT:
            del self._entries[next(iter(self._entries))]

    def _template(self, entry: _Entry, answer: Answer) -> _Template | None:
        """What gives just the same again for two answers, which tells whether it always does."""
        blank = _blank(answer)
        first, written = self._rendered(entry, answer), self._rendered(entry, blank)
        made = _Template.of(written, _values(blank), first)
        for known in (answer, entry.answer):
            rendered = replace(self._rendered(entry, known), body_frames=())
            filled = made.filled(known, rendered.headers)
            if filled is None or rendered != replace(filled, frame_texts=tuple(filled.frame_texts)):
                return None
        return made

    def _rendered(self, entry: _Entry, answer: Answer) -> Rendered:
        return faults.render(self.dialect, answer, entry.attempt, entry.mode, seed=self.seed)


def _repeats(attempt: Attempt) -> bool:
    """Whether the next answer of this attempt is the same but for its ids."""
    disturbed = attempt.fault or attempt.quirks or attempt.raw or attempt.raw_body
    return not disturbed and not attempt.delivery.pauses and not attempt.delivery.marks


def _alike(entry: _Entry, answer: Answer, attempt: Attempt, mode: Mode) -> bool:
    before, now = entry.answer, answer
    return (
        entry.mode == mode
        and (entry.attempt is attempt or entry.attempt == attempt)
        and (before.usage is now.usage or before.usage == now.usage)
        and (before.reading is now.reading or before.reading.body == now.reading.body)
    )


def _values(answer: Answer) -> tuple[str, ...]:
    """All that differs from one answer to the next, but for the padding."""
    return (
        answer.response_id,
        str(answer.created),
        str(answer.created + 1),
        *filter(None, answer.item_ids),
        *[call.call_id for call in answer.calls if call.call_id],
    )


def _blank(answer: Answer) -> Answer:
    """The answer with values that nothing else in it looks like."""
    return replace(
        answer,
        response_id=STAND_IN,
        item_ids=tuple(_item(n) if own else "" for n, own in enumerate(answer.item_ids)),
        created=_TIME,
        content=tuple(_blank_piece(n, piece) for n, piece in enumerate(answer.content)),
    )


def _blank_piece(number: int, piece: Piece) -> Piece:
    if not isinstance(piece, IssuedCall):
        return piece
    return replace(
        piece,
        call_id=f"~call-{number}~" if piece.call_id else "",
        item_id=_item(number) if piece.item_id else "",
    )


def _item(number: int) -> str:
    return f"~item-{number}~"
