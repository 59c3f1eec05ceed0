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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from types import MappingProxyType
from typing import Final, Literal, TypeAlias, get_args

from loopcheck.fake_providers import delivery, places, sse
from loopcheck.fake_providers.dialects.interface import Dialect
from loopcheck.fake_providers.ids import digest
from loopcheck.fake_providers.places import FaultError, Spot
from loopcheck.fake_providers.script import (
    Attempt,
    DialectName,
    ErrorName,
    Fault,
    Mode,
    Stop,
)
from loopcheck.fake_providers.wire import Answer, Ending, Frame, Reading, ServiceError

__all__ = ["FaultError", "Rendered", "render"]

Sent: TypeAlias = Literal["whole", "cut", "none"]
Ends: TypeAlias = Literal["well", "marked", "unmarked", "failed"]
Headers: TypeAlias = tuple[tuple[str, str], ...]

_PINGS: Final[Mapping[DialectName, Frame]] = MappingProxyType(
    {"messages": Frame(event="ping", data={"type": "ping"}, part="ping")}
)
_JSON: Final[Headers] = (("content-type", "application/json"),)
_EVENTS: Final[Headers] = (("content-type", "text/event-stream; charset=utf-8"),)
_GOOD_STOPS: Final[frozenset[Stop]] = frozenset({"end", "calls", "pause"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """One response, ready for the transport.

    `streamed` asks for the chunked transfer coding: for event streams, and for whole bodies
    that are cut, which a content length would give away. `frame_texts` has the text of each
    frame of `body_frames`, then that of a frame of which only a part is sent; a whole body is
    one text. `status` is 0 when the connection closes without an answer.
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
    frame_texts: tuple[str, ...]


def render(
    dialect: Dialect, answer: Answer, attempt: Attempt, mode: Mode, *, seed: int
) -> Rendered:
    """The response to one request. Raises FaultError when its fault cannot strike."""
    request_id = dialect.request_id(digest(seed, "request", answer.response_id))
    job = _Job(dialect, answer, attempt, mode, seed, request_id)
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
        case "empty":
            return job.without_body(200, "complete", "unmarked")
        case "error-body":
            return job.error_body(fault)
        case "error-event" if mode == "whole":
            raise FaultError("the fault error-event needs a stream; this response is whole")
        case _:
            return job.cut_whole(fault) if mode == "whole" else job.cut_stream(fault)


@dataclass(frozen=True, slots=True)
class _Job:
    dialect: Dialect
    answer: Answer
    attempt: Attempt
    mode: Mode
    seed: int
    request_id: str

    def stream(self) -> Rendered:
        frames = self._frames(None)
        encoded = self._encoded(frames)
        return self._rendered(frames, encoded, ends=_undisturbed(self.answer))

    def whole(self) -> Rendered:
        body = self._body()
        return self._rendered(
            (), [body], streamed=False, sent=self._all("whole"), ends=_undisturbed(self.answer)
        )

    def http(self, fault: Fault) -> Rendered:
        error = _named(self.dialect, fault, self.answer.reading)
        headers = (*self._headers(streamed=False), *_retry_headers(error))
        return self._error(error, fault, error.status, headers)

    def error_body(self, fault: Fault) -> Rendered:
        error = _named(self.dialect, fault, self.answer.reading)
        return self._error(error, fault, 200, self._headers(streamed=False))

    def without_body(self, status: int, ending: Ending, ends: Ends) -> Rendered:
        return self._rendered(
            (),
            [],
            status=status,
            headers=self._headers(streamed=self.mode == "stream") if status else (),
            ending=ending,
            sent=self._all("none"),
            ends=ends,
        )

    def cut_whole(self, fault: Fault) -> Rendered:
        body = self._body()
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
            frames = self._frames(fault)
            encoded = self._encoded(frames)
            spot = places.spot(fault.at, self.answer, frames, encoded)
        except FaultError as error:
            raise FaultError(f"the fault {fault.kind} cannot strike: {error}") from None
        if fault.kind == "eof" and spot.frame == len(frames):
            raise FaultError(
                f"the fault eof at {places.described(fault.at)} cannot strike: nothing is missing"
            )
        sent_frames = frames[: spot.frame]
        sent_bytes = encoded[: spot.frame]
        partial = encoded[spot.frame][: spot.size] if spot.size else b""
        last, tail = self._tail(fault, len(sent_frames), partial)
        ending = _ending(fault.kind)
        return self._rendered(
            (*sent_frames, *last),
            [*sent_bytes, *tail],
            ending=ending,
            sent=self._sent(sent_frames),
            ends=self._ends(fault, frames, spot),
        )

    def _tail(
        self, fault: Fault, sent: int, partial: bytes
    ) -> tuple[tuple[Frame, ...], list[bytes]]:
        if fault.kind != "error-event":
            return (), [partial] if partial else []
        error = _named(self.dialect, fault, self.answer.reading)
        frames = tuple(self.dialect.error_frames(error, sent, answer=self.answer))
        plain = replace(self.attempt.delivery, comments=0, pings=0, bom=False)
        encoded = sse.encode(frames, plain)
        if partial:
            newline = b"\r\n" if plain.newline == "crlf" else b"\n"
            encoded = [partial + newline, *encoded]
        return frames, encoded

    def _ends(self, fault: Fault, frames: Sequence[Frame], spot: Spot) -> Ends:
        if spot.frame == len(frames):
            return _undisturbed(self.answer)
        if fault.kind != "eof":
            return "failed"
        signalled = spot.frame > places.success(frames)
        return _undisturbed(self.answer) if signalled else "unmarked"

    def _frames(self, fault: Fault | None) -> list[Frame]:
        cuts = places.cuts(fault.at, self.answer.content) if fault else {}
        ordered = delivery.steps(
            self.answer.content, self.attempt.delivery, seed=self.seed, cuts=cuts
        )
        return self.dialect.frames(self.answer, ordered)

    def _encoded(self, frames: Sequence[Frame]) -> list[bytes]:
        return sse.encode(frames, self.attempt.delivery, _PINGS.get(self.dialect.name))

    def _body(self) -> bytes:
        return sse.compact(self.dialect.whole(self.answer)).encode()

    def _headers(self, *, streamed: bool) -> Headers:
        kind = _EVENTS if streamed else _JSON
        return _merged(kind, self.dialect.headers(self.request_id, streamed=streamed))

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

    def _sent(self, frames: Sequence[Frame]) -> dict[str, Sent]:
        states: dict[str, Sent] = {}
        for call in self.answer.calls:
            own = [frame for frame in frames if frame.label == call.label]
            text = "".join(frame.text for frame in own if frame.part in ("open", "fragment"))
            whole = bool(own) and text == call.arguments
            states[call.label] = "whole" if whole else "cut" if own else "none"
        return states

    def _rendered(
        self,
        frames: Sequence[Frame],
        encoded: Sequence[bytes],
        *,
        ends: Ends,
        status: int = 200,
        headers: Headers | None = None,
        streamed: bool = True,
        ending: Ending = "complete",
        sent: Mapping[str, Sent] | None = None,
    ) -> Rendered:
        if headers is None:
            headers = self._headers(streamed=self.mode == "stream")
        how = self.attempt.delivery
        return Rendered(
            status=status,
            headers=headers,
            body_frames=tuple(frames),
            segments=tuple(sse.segments(encoded, how, self.seed)),
            streamed=streamed,
            ending=ending,
            keep_alive=how.keep_alive,
            sent=self._sent(frames) if sent is None else sent,
            ends=ends,
            frame_texts=tuple(part.decode(errors="replace") for part in encoded),
        )


def _undisturbed(answer: Answer) -> Ends:
    return "well" if answer.stop in _GOOD_STOPS else "marked"


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


def _named(dialect: Dialect, fault: Fault, reading: Reading) -> ServiceError:
    """The error in the dialect's words; a status alone picks the words that go with it."""
    error = dialect.named_error(fault.error, reading)
    if fault.status is not None and fault.status != error.status:
        names: tuple[ErrorName, ...] = get_args(ErrorName)
        fitting = (dialect.named_error(name, reading) for name in names)
        error = next((other for other in fitting if other.status == fault.status), error)
        error = replace(error, status=fault.status)
    if fault.retry_after_ms is not None:
        error = replace(error, retry_after_ms=fault.retry_after_ms)
    return error


def _retry_headers(error: ServiceError) -> Headers:
    """`retry-after` counts whole seconds, so it cannot announce less than one."""
    delay = error.retry_after_ms
    if delay is None:
        return ()
    exact = ("retry-after-ms", str(delay))
    return (exact, ("retry-after", str(ceil(delay / 1000)))) if delay >= 1000 else (exact,)


def _merged(headers: Headers, wins: Headers) -> Headers:
    names = {name.lower() for name, _ in wins}
    return (*(pair for pair in headers if pair[0].lower() not in names), *wins)
