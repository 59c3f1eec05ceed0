"""Renders a prepared answer to the bytes of one response, and lets its fault strike.

How far a response got is said in two ways. `sent` tells for each call how much of its arguments
went out. `ends` tells how a client had to understand the end: `well`, or `marked` where the stop
reason itself says that the answer is not whole; `unmarked` where the body ended properly and the
success signal is missing; `failed` where the service reported an error or the connection broke.

A fault that strikes behind the success signal does not change what the answer was: behind the
terminal event it is `well` or `marked` as its stop reason says, whatever became of the
connection, since clients may stop reading there. Where only a bare `[DONE]` is missing that
holds for a proper end alone; a broken connection is `failed`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Final, Literal, TypeAlias, TypeVar

from loopcheck.fake_providers import error_replies, places, sse
from loopcheck.fake_providers.dialects import dialect as named
from loopcheck.fake_providers.dialects.interface import Dialect
from loopcheck.fake_providers.error_replies import Headers
from loopcheck.fake_providers.ids import digest
from loopcheck.fake_providers.places import FaultError, Spot
from loopcheck.fake_providers.script import Attempt, Delivery, DialectName, Fault, Mode
from loopcheck.fake_providers.wire import Answer, Ending, Frame, ServiceError
from loopcheck.fake_providers.writing import Ends, Writing

__all__ = ["FaultError", "Rendered", "render"]

Sent: TypeAlias = Literal["whole", "cut", "none"]
T = TypeVar("T")

HELD_MS: Final = 250
"""How long the writing waits at a marked place, so that a client can act on what happens there."""

_NO_ID: Final = "no request"
_JSON: Final[Headers] = (("content-type", "application/json"),)
_EVENTS: Final[Headers] = (("content-type", "text/event-stream; charset=utf-8"),)


@dataclass(slots=True, kw_only=True)
class Rendered:
    """One response, ready for the transport.

    `streamed` asks for the chunked transfer coding: for event streams, and for whole bodies
    that are cut, which a content length would give away. `frame_texts` has the text of each
    frame of `body_frames`, then that of a frame of which only a part is sent; a whole body is
    one text. `status` is 0 when the connection closes without an answer. `odd` says that the
    response is none that the service itself would send. `pauses` has the milliseconds to wait
    before the segment with that index, `marks` the name of the place that is reached there.
    """

    status: int
    headers: Headers
    body_frames: tuple[Frame, ...]
    segments: tuple[bytes, ...]
    streamed: bool
    ending: Ending
    keep_alive: bool
    sent: Mapping[str, Sent]
    ends: Ends
    frame_texts: Sequence[str]
    odd: bool = False
    pauses: Mapping[int, int] = field(default_factory=dict)
    marks: Mapping[int, str] = field(default_factory=dict)


def render(
    dialect: Dialect,
    answer: Answer,
    attempt: Attempt,
    mode: Mode,
    *,
    seed: int,
    now: Callable[[], float] = lambda: time.time(),
) -> Rendered:
    """The response to one request. Raises FaultError when its fault cannot strike. `now` is the
    clock (seconds since 1970) for dates that are announced to the client."""
    request_id = _request_id(dialect, answer, seed)
    job = _Job(Writing(dialect, answer, attempt, mode, seed), request_id, now)
    fault = attempt.fault
    if fault is None:
        return job.whole() if mode == "whole" else job.stream()
    match fault.kind:
        case "http":
            return job.http(fault)
        case "close":
            return job.without_body(0, "close", "failed")
        case "headers-only":
            ending = _ending(fault.then)
            return job.without_body(200, ending, _broken(ending))
        case "empty" if fault.terminal and mode == "stream":
            return job.terminal_alone()
        case "empty":
            return job.without_body(200, "complete", "unmarked")
        case "error-body":
            return job.error_body(fault)
        case "error-event" if mode == "whole":
            raise FaultError("the fault error-event needs a stream; this response is whole")
        case _:
            return job.cut_whole(fault) if mode == "whole" else job.cut_stream(fault)


def headers(dialect: Dialect, answer: Answer, mode: Mode, *, seed: int) -> Headers:
    """The headers of the undisturbed response to a request."""
    return _headers(dialect, _request_id(dialect, answer, seed), streamed=mode == "stream")


@dataclass(frozen=True, slots=True)
class _Job:
    writing: Writing
    request_id: str
    now: Callable[[], float]

    @property
    def dialect(self) -> Dialect:
        return self.writing.dialect

    @property
    def answer(self) -> Answer:
        return self.writing.answer

    @property
    def delivery(self) -> Delivery:
        return self.writing.attempt.delivery

    @property
    def streams(self) -> bool:
        return self.writing.mode == "stream"

    def stream(self) -> Rendered:
        frames = self.writing.frames()
        encoded = self.writing.encoded(frames)
        return self._rendered(
            frames, encoded, sent=self._all("whole"), ends=self.writing.ends(encoded)
        )

    def whole(self) -> Rendered:
        body = self.writing.body()
        return self._rendered(
            (), [body], streamed=False, sent=self._all("whole"), ends=self.writing.ends([body])
        )

    def http(self, fault: Fault) -> Rendered:
        error = error_replies.named(self.dialect, fault, self.answer.reading)
        announced = error_replies.retry_headers(error, fault, self.now())
        headers = (*self._headers(streamed=False), *announced)
        return self._error(error, fault, error.status, headers)

    def error_body(self, fault: Fault) -> Rendered:
        error = error_replies.named(self.dialect, fault, self.answer.reading)
        return self._error(error, fault, 200, self._headers(streamed=False))

    def without_body(self, status: int, ending: Ending, ends: Ends) -> Rendered:
        return self._rendered(
            (),
            [],
            status=status,
            headers=self._headers(streamed=self.streams) if status else (),
            ending=ending,
            sent=self._all("none"),
            ends=ends,
        )

    def terminal_alone(self) -> Rendered:
        """The last event of a response that says nothing. Only where that event is a response
        of its own does it end one."""
        nothing = replace(self.answer, content=(), item_ids=(), stop="end")
        last = self.dialect.frames(nothing, [])[-1]
        complete = isinstance(last.data, dict) and "response" in last.data
        encoded = sse.encode([last], self.delivery)
        ends: Ends = "well" if complete else "unmarked"
        return self._rendered([last], encoded, sent=self._all("none"), ends=ends)

    def cut_whole(self, fault: Fault) -> Rendered:
        body = self.writing.body()
        size = _whole_size(fault, body)
        if size > len(body) or (fault.kind == "eof" and size == len(body)):
            raise FaultError(
                f"the fault {fault.kind} at {places.described(fault.at)} cannot strike: "
                f"the body has {len(body)} bytes"
            )
        ending = _ending(fault.kind)
        complete: Sent = "whole" if size == len(body) else "cut" if size else "none"
        return self._rendered(
            (), [body[:size]], ending=ending, sent=self._all(complete), ends=_broken(ending)
        )

    def cut_stream(self, fault: Fault) -> Rendered:
        try:
            frames = self.writing.frames(fault.at)
            encoded = self.writing.encoded(frames)
            spot = places.spot(fault.at, self.answer, frames, encoded)
        except FaultError as error:
            raise FaultError(f"the fault {fault.kind} cannot strike: {error}") from None
        if fault.kind == "eof" and spot.frame == len(frames):
            raise FaultError(
                f"the fault eof at {places.described(fault.at)} cannot strike: nothing is missing"
            )
        sent_bytes = encoded[: spot.frame]
        partial = encoded[spot.frame][: spot.size] if spot.size else b""
        last, tail = self._tail(fault, frames, spot, partial)
        return self._rendered(
            (*frames[: spot.frame], *last),
            [*sent_bytes, *tail],
            ending=_ending(fault.kind),
            sent=self._sent(frames, spot),
            ends=self._ends(fault, frames, encoded, spot),
        )

    def _tail(
        self, fault: Fault, frames: Sequence[Frame], spot: Spot, partial: bytes
    ) -> tuple[Sequence[Frame], list[bytes]]:
        if fault.kind != "error-event":
            return (), [partial] if partial else []
        error = error_replies.in_stream(self.dialect, fault, self.answer, spot.frame, frames)
        plain = replace(self.delivery, comments=0, pings=0, bom=False)
        encoded = sse.encode(error, plain)
        if partial:
            newline = b"\r\n" if plain.newline == "crlf" else b"\n"
            encoded = [partial + newline, *encoded]
        return error, encoded

    def _ends(
        self, fault: Fault, frames: Sequence[Frame], encoded: Sequence[bytes], spot: Spot
    ) -> Ends:
        if spot.frame == len(frames):
            return self.writing.ends(encoded)
        if fault.kind != "eof":
            return "failed"
        return self.writing.ends(encoded) if spot.frame > places.success(frames) else "unmarked"

    def _headers(self, *, streamed: bool) -> Headers:
        return _headers(self.dialect, self.request_id, streamed=streamed)

    def _error(self, error: ServiceError, fault: Fault, status: int, headers: Headers) -> Rendered:
        body = fault.body
        if body is None:
            body = sse.compact(self.dialect.error_body(error, self.request_id))
        return self._rendered(
            (),
            [body.encode()],
            status=status,
            headers=_merged(headers, fault.headers),
            streamed=False,
            sent=self._all("none"),
            ends="failed",
        )

    def _all(self, state: Sent) -> dict[str, Sent]:
        return {call.label: state for call in self.answer.calls}

    def _sent(self, frames: Sequence[Frame], spot: Spot) -> dict[str, Sent]:
        if spot.frame > places.success(frames):
            return self._all("whole")
        if self.writing.is_raw:
            return self._all("cut" if spot.frame or spot.size else "none")
        states: dict[str, Sent] = {}
        for call in self.answer.calls:
            own = [frame for frame in frames[: spot.frame] if frame.label == call.label]
            whole = bool(own) and "".join(frame.text for frame in own) == call.arguments
            states[call.label] = "whole" if whole else "cut" if own else "none"
        return states

    def _rendered(
        self,
        frames: Sequence[Frame],
        encoded: Sequence[bytes],
        *,
        ends: Ends,
        sent: Mapping[str, Sent],
        status: int = 200,
        headers: Headers | None = None,
        streamed: bool = True,
        ending: Ending = "complete",
    ) -> Rendered:
        if headers is None:
            headers = self._headers(streamed=self.streams)
        how = self.delivery
        waits = dict(self.writing.waits(frames, encoded))
        marks = dict(self.writing.marks(frames, encoded))
        waits.update(dict.fromkeys(marks, HELD_MS))
        segments = sse.segments(encoded, how, self.writing.seed, waits)
        return Rendered(
            status=status,
            headers=headers,
            body_frames=tuple(frames),
            segments=tuple(segments),
            streamed=streamed,
            ending=ending,
            keep_alive=how.keep_alive,
            sent=sent,
            ends=ends,
            frame_texts=tuple(part.decode(errors="replace") for part in encoded),
            odd=self.writing.is_odd,
            pauses=dict(_before(segments, waits)),
            marks=dict(_before(segments, marks)),
        )


def _before(segments: Sequence[bytes], waits: Mapping[int, T]) -> Iterator[tuple[int, T]]:
    start = 0
    for index, segment in enumerate(segments):
        if start in waits:
            yield index, waits[start]
        start += len(segment)
    if start in waits:
        yield len(segments), waits[start]


def _ending(kind: str) -> Ending:
    match kind:
        case "half-chunk" | "reset" | "stall":
            return kind
        case _:
            return "complete"


def _broken(ending: Ending) -> Ends:
    return "unmarked" if ending == "complete" else "failed"


def _whole_size(fault: Fault, body: bytes) -> int:
    at = fault.at
    only_size = (at.frame, at.inside, at.before, at.behind) == (None, None, None, None)
    if only_size and at.size is not None:
        return at.size
    if only_size and at.edge is not None:
        return 0 if at.edge == "start" else len(body)
    return len(body) * 2 // 3


def _request_id(dialect: Dialect, answer: Answer, seed: int) -> str:
    return dialect.request_id(digest(seed, "request", answer.response_id))


def _headers(dialect: Dialect, request_id: str, *, streamed: bool) -> Headers:
    headers, place, name = _constant_headers(dialect.name, streamed)
    return (*headers[:place], (name, request_id), *headers[place + 1 :])


@cache
def _constant_headers(dialect: DialectName, streamed: bool) -> tuple[Headers, int, str]:
    """All headers of a dialect, and the place and the name of the one with the request's id."""
    kind = _EVENTS if streamed else _JSON
    headers = _merged(kind, named(dialect).headers(_NO_ID, streamed=streamed))
    place = [value for _, value in headers].index(_NO_ID)
    return headers, place, headers[place][0]


def _merged(headers: Headers, wins: Headers) -> Headers:
    names = {name.lower() for name, _ in wins}
    return (*(pair for pair in headers if pair[0].lower() not in names), *wins)
