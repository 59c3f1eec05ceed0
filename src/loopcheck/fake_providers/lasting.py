"""Responses that the service goes on with when their connection breaks, and their events."""

from __future__ import annotations

from typing import Final

from loopcheck.fake_providers.dialects.interface import Dialect
from loopcheck.fake_providers.script import Attempt, FaultKind
from loopcheck.fake_providers.wire import Answer, Frame
from loopcheck.fake_providers.writing import Writing

# These strike the connection alone; the others are the service's own failures.
_CUTS: Final[tuple[FaultKind, ...]] = ("eof", "half-chunk", "reset", "stall")
_BREAKS: Final[tuple[FaultKind, ...]] = (*_CUTS, "headers-only", "empty")


def lasts(spoken: Dialect, answer: Answer, attempt: Attempt) -> bool:
    """Whether the whole response can be had from the service, whatever became of its sending."""
    fault = attempt.fault
    return spoken.outlives(answer.reading) and (fault is None or fault.kind in _BREAKS)


def events(spoken: Dialect, answer: Answer, attempt: Attempt, seed: int) -> tuple[Frame, ...]:
    """All events of its stream, numbered as they were sent."""
    fault = attempt.fault
    cut = fault.at if fault is not None and fault.kind in _CUTS else None
    return tuple(Writing(spoken, answer, attempt, "stream", seed).frames(cut))
