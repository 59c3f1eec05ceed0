"""What all limits have in common: the responses that were taken, and what is said of too much."""

from __future__ import annotations

from typing import Final, TypeAlias

from loopcheck.harness.checks.evidence import Evidence, Response
from loopcheck.harness.checks.interface import Unjudged, finding
from loopcheck.harness.checks.wording import counted
from loopcheck.harness.results import Finding, Level

CHECK: Final = "limits.kept"
KEPT: Final = "the loop stops, and within the limit that it was given"
EXACT: Final = "the limit is kept exactly, in the target's own unit"

Answer: TypeAlias = Finding | Unjudged | None


def stopped(evidence: Evidence) -> bool:
    """Whether the loop says that a limit has ended the run."""
    return evidence.outcome is not None and evidence.outcome.state == "limit"


def rounds(evidence: Evidence) -> list[Response]:
    """The model responses that the loop took: those it continued from, and the last one where it
    ended the run with it."""
    taken = [response for response in evidence.responses if response.accepted]
    last = evidence.responses[-1] if evidence.responses else None
    if last is not None and not last.accepted and last.ends != "failed":
        taken.append(last)
    return taken


def beyond(limit: float, unit: str, seen: float, entries: list[int]) -> Finding | None:
    """The finding of so many where there should be no more than the limit; None for no more."""
    if seen <= limit:
        return None
    return missed("must" if seen > 2 * limit else "should", limit, unit, seen, entries)


def missed(level: Level, limit: float, unit: str, seen: float, entries: list[int]) -> Finding:
    """The finding of a limit that was not kept."""
    twice = ", or twice as many at most" if level == "must" else ""
    return finding(
        CHECK,
        level,
        KEPT if level == "must" else EXACT,
        expected=f"{counted(limit, unit)}{twice}",
        seen=counted(seen, unit),
        entries=entries,
    )
