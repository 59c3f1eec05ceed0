"""Names of points in time, such as `book.started`, `turn2.asked` or `run.ended`."""

from __future__ import annotations

import re
from typing import Final

from loopcheck.harness.scenario.errors import did_you_mean
from loopcheck.harness.scenario.model import Scenario

_NAME: Final = re.compile(r"(?P<what>[^.]+)\.(?P<when>[a-z]+)(\.(?P<time>[0-9]+))?\Z")
_TURN: Final = re.compile(r"turn(?P<number>[0-9]+)\Z")
_OF_CALLS: Final = (
    "asked",
    "waiting",
    "approved",
    "denied",
    "answered",
    "started",
    "committed",
    "ended",
    "sent",
)
_OF_TURNS: Final = ("asked", "sent", "closed")
_OF_RUNS: Final = ("started", "paused", "cancelling", "ended")


def complaint(point: str, scenario: Scenario) -> tuple[str, str] | None:
    """What is wrong with a point, as message and hint; None for one that can come."""
    match = _NAME.match(point)
    if match is None:
        return f"{point!r} is no point", "points are written like book.started or turn2.asked"
    what, when = match["what"], match["when"]
    turn = _TURN.match(what)
    if what == "run":
        known: tuple[str, ...] = _OF_RUNS
    elif turn is not None:
        known = _OF_TURNS
        if not turn["number"].strip("0"):
            return f"{point!r}: turns are numbered from 1", ""
    elif what in scenario.labels:
        known = _OF_CALLS
    else:
        calls = ", ".join(scenario.labels) or "none"
        return f"{point!r} names no call; calls here: {calls}", ""
    if when not in known:
        return f"{point!r} is no point of {what!r}", did_you_mean(when, known)
    if match["time"] in ("0", "1"):
        return f"{point!r}: the first time has no number", f"write {what}.{when}"
    return None
