"""The check of what a scenario itself expects, at each of its levels."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from loopcheck.harness.checks.evidence import Evidence
from loopcheck.harness.checks.expected_history import history_findings
from loopcheck.harness.checks.expected_requests import request_findings
from loopcheck.harness.checks.expected_results import result_findings
from loopcheck.harness.checks.interface import Check, Unjudged, finding
from loopcheck.harness.checks.quantities import CHECK, tool_findings
from loopcheck.harness.results import Finding, Level
from loopcheck.harness.scenario.expectations import ExpectLevel

_LEVELS: Final[tuple[Level, ...]] = ("must", "should", "may")
_EXPLAINS: Final = frozenset({"limit", "refused", "paused", "cancelled"})


def _expects(evidence: Evidence) -> list[Finding] | Unjudged:
    expect = evidence.scenario.expect
    unreached = list(_unreached(evidence))
    if not unreached and all(expect.level(level) == ExpectLevel() for level in _LEVELS):
        return Unjudged("not exercised", "the scenario has no expectations of its own")
    findings = [
        found for level in _LEVELS for found in _of_level(level, expect.level(level), evidence)
    ]
    return [*findings, *unreached]


def _of_level(level: Level, expected: ExpectLevel, evidence: Evidence) -> Iterator[Finding]:
    yield from tool_findings("executions", expected.executions, level, evidence)
    yield from tool_findings("effects", expected.effects, level, evidence)
    yield from result_findings(expected.results, level, evidence)
    yield from _order(expected.order, level, evidence)
    if expected.requests is not None:
        yield from request_findings(expected.requests, level, evidence)
    yield from history_findings(expected.history, level, evidence)
    yield from _outcomes(expected, level, evidence)


def _order(chains: tuple[str, ...], level: Level, evidence: Evidence) -> Iterator[Finding]:
    for chain in chains:
        points = [point.strip() for point in chain.split("<")]
        # A gate that nobody could open was let go: the order was ours, not the loop's.
        if any(point in gate for gate in evidence.forced for point in points):
            continue
        came = [(point, evidence.points[point]) for point in points if point in evidence.points]
        for (first, n), (second, other) in pairwise(came):
            if other < n:
                yield finding(
                    CHECK,
                    level,
                    evidence.scenario.title,
                    expected=f"{first} before {second}",
                    seen=f"{second} at entry {other}, {first} at entry {n}",
                    entries=(other, n),
                )


def _outcomes(expected: ExpectLevel, level: Level, evidence: Evidence) -> Iterator[Finding]:
    """Each part of the case ends as expected; where several processes went on with it, one of
    them does."""
    for wanted, ends in zip(expected.outcomes, evidence.ends, strict=False):
        seen = [f"{end.state}/{end.reason}" for end in ends]
        if ends and not {*(end.state for end in ends), *seen}.intersection(wanted):
            yield finding(
                CHECK,
                level,
                evidence.scenario.title,
                expected=f"outcome {' or '.join(wanted)}",
                seen=", ".join(one.rstrip("/") for one in seen),
                entries=[end.n for end in ends],
            )


def _unreached(evidence: Evidence) -> Iterator[Finding]:
    """Turns that had to be asked for. A fault, an end that says why, or a death behind which the
    run is not said to be completed, explains their lack."""
    outcome = evidence.outcome
    last = evidence.responses[-1] if evidence.responses else None
    if outcome is None or outcome.state in _EXPLAINS or (last and last.ends != "well"):
        return
    if evidence.deaths and outcome.state != "completed":
        return
    asked = {request.turn for request in evidence.requests}
    for number, turn in enumerate(evidence.scenario.turns, 1):
        if turn.must_reach and number not in asked:
            yield finding(
                CHECK,
                "must",
                evidence.scenario.title,
                expected=f"turn {number} is asked for",
                seen=f"the run ended before: {outcome.state}/{outcome.reason}".rstrip("/"),
                entries=(outcome.n,),
            )


EXPECTS = Check(
    id=CHECK,
    sentence="what the scenario expects of executions, effects, results, order and outcome",
    should="what the scenario says under should",
    rank=60,
    advice="Read the scenario's rule. The general checks of the same case, where any failed, say "
    "more about the cause.",
    judge=_expects,
)
