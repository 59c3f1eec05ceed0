"""Writes an answer out in full, as the events of a stream or as one body, before any fault."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from loopcheck.fake_providers import delivery, places, quirks, raw, sse
from loopcheck.fake_providers.dialects.interface import Dialect
from loopcheck.fake_providers.places import FaultError
from loopcheck.fake_providers.script import Attempt, DialectName, Mode, Place, Stop
from loopcheck.fake_providers.wire import Answer, Frame

Ends: TypeAlias = Literal["well", "marked", "unmarked", "failed"]

_PINGS: Final[Mapping[DialectName, Frame]] = MappingProxyType(
    {"messages": Frame(event="ping", data={"type": "ping"}, part="ping")}
)
_GOOD_STOPS: Final[frozenset[Stop]] = frozenset({"end", "calls", "pause"})


@dataclass(frozen=True, slots=True)
class Writing:
    """An answer with the way in which it is to be written."""

    dialect: Dialect
    answer: Answer
    attempt: Attempt
    mode: Mode
    seed: int

    @property
    def is_raw(self) -> bool:
        """Whether the scenario wrote out the events or the body itself."""
        written = self.attempt.raw if self.mode == "stream" else self.attempt.raw_body
        return written is not None

    @property
    def is_odd(self) -> bool:
        """Whether it is none that the service itself would send."""
        woven = (
            self.mode == "stream"
            and self.dialect.name == "messages"
            and self.attempt.delivery.interleave is not False
            and len(self.answer.calls) > 1
        )
        nameless = any(call.call_id == "" for call in self.answer.calls)
        bent = bool(self.attempt.quirks) or self.is_raw or self.attempt.delivery.bom
        return bent or woven or nameless or self._is_uninvited()

    def _is_uninvited(self) -> bool:
        """Whether a custom call comes although the request offers no custom tool."""
        if not any(call.form == "custom" for call in self.answer.calls):
            return False
        tools = self.answer.reading.body.get("tools")
        offered = tools if isinstance(tools, list) else []
        return not any(isinstance(t, dict) and t.get("type") == "custom" for t in offered)

    def frames(self, cut: Place | None = None) -> list[Frame]:
        """The events. A fragment ends at `cut`, whatever the fragments are, and at each pause.
        Raises FaultError when there is no such place."""
        written = self.attempt.raw
        if isinstance(written, bytes):
            return [Frame(data="")]
        spots = [cut] if cut is not None and written is None else []
        how = self.attempt.delivery
        named = [place for place, _ in (*how.pauses, *how.marks)]
        pauses = [place for place in named if self._stands(place)]
        ordered = delivery.steps(
            self.answer.content,
            self.attempt.delivery,
            seed=self.seed,
            cuts=places.cuts([*spots, *pauses], self.answer.content),
        )
        frames = self.dialect.frames(self.answer, ordered)
        if written is not None:
            return raw.frames(written, frames, self.dialect.name)
        if not self.attempt.quirks:
            return frames
        return quirks.apply(frames, self.answer, self.attempt.quirks)

    def _stands(self, place: Place) -> bool:
        try:
            places.cuts([place], self.answer.content)
        except FaultError:
            return False
        return True

    def encoded(self, frames: Sequence[Frame]) -> list[bytes]:
        """The bytes of each event."""
        if isinstance(self.attempt.raw, bytes):
            return [self.attempt.raw]
        return sse.encode(frames, self.attempt.delivery, _PINGS.get(self.dialect.name))

    def body(self) -> bytes:
        """The body of a response that is not streamed."""
        body = self.dialect.whole(self.answer)
        if self.attempt.raw_body is not None:
            return raw.body(self.attempt.raw_body, body)
        # A response that is still worked on says nothing yet that could be odd.
        if self.attempt.quirks and not self.dialect.outlives(self.answer.reading):
            body = quirks.apply_whole(body, self.answer, self.attempt.quirks)
        return sse.compact(body).encode()

    def ends(self, encoded: Sequence[bytes]) -> Ends:
        """How it ends when all of these bytes are sent."""
        written = self.mode == "stream" and self.is_raw
        if written and not raw.signals_end(b"".join(encoded), self.dialect.name):
            return "unmarked"
        own: quirks.Told = "well" if self.answer.stop in _GOOD_STOPS else "marked"
        return quirks.told_end(self.attempt.quirks, otherwise=own)

    def waits(self, frames: Sequence[Frame], encoded: Sequence[bytes]) -> Iterator[tuple[int, int]]:
        """The pauses, in milliseconds, by their place in the bytes of these events."""
        for place, milliseconds in self.attempt.delivery.pauses:
            for position in self._position(place, frames, encoded):
                yield position, milliseconds

    def marks(self, frames: Sequence[Frame], encoded: Sequence[bytes]) -> Iterator[tuple[int, str]]:
        """The names of marked places, by their place in the bytes of these events."""
        for place, name in self.attempt.delivery.marks:
            for position in self._position(place, frames, encoded):
                yield position, name

    def _position(
        self, place: Place, frames: Sequence[Frame], encoded: Sequence[bytes]
    ) -> Iterator[int]:
        """None where it is not in this answer, or behind the place of a fault."""
        try:
            spot = places.spot(place, self.answer, frames, encoded)
        except FaultError:
            return
        yield sum(map(len, encoded[: spot.frame])) + spot.size
