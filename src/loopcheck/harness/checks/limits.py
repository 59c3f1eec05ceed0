"""Checks that the loop stops: by itself, and at the limit it was given."""

from __future__ import annotations

from loopcheck.harness.checks.evidence import Broken, Evidence, Response
from loopcheck.harness.checks.interface import Check, Unjudged, finding
from loopcheck.harness.checks.wording import counted
from loopcheck.harness.results import Finding, Level

_KEPT = "the loop stops, and within the limit that it was given"


def _kept(evidence: Evidence) -> list[Finding] | Unjudged:
    hung = [_hung(one, evidence) for one in evidence.broken if one.fault == "hung"]
    if hung:
        return hung
    limit = evidence.scenario.limits.rounds
    if limit is None:
        return Unjudged("not exercised", "no limit of rounds was given")
    if "limits" not in evidence.can:
        return Unjudged("not declared", "the target does not declare limits")
    rounds = _rounds(evidence)
    stopped = evidence.outcome is not None and evidence.outcome.state == "limit"
    if len(rounds) < limit and not stopped:
        return Unjudged("not exercised", f"the run ended before the limit of {limit} rounds")
    if len(rounds) == limit:
        return []
    return [_missed(limit, rounds, evidence)]


def _rounds(evidence: Evidence) -> list[Response]:
    """The model responses that the loop took: those it continued from, and the last one where it
    ended the run with it."""
    taken = [response for response in evidence.responses if response.accepted]
    last = evidence.responses[-1] if evidence.responses else None
    if last is not None and not last.accepted and last.ends != "failed":
        taken.append(last)
    return taken


def _hung(broken: Broken, evidence: Evidence) -> Finding:
    return finding(
        "limits.kept",
        "must",
        "the loop stops",
        expected="the run ends by itself",
        seen=f"{broken.what}; {counted(len(evidence.requests), 'request')} until then",
        entries=(broken.n,),
    )


def _missed(limit: int, rounds: list[Response], evidence: Evidence) -> Finding:
    level: Level = "must" if len(rounds) > 2 * limit else "should"
    beyond = rounds[limit:]
    return finding(
        "limits.kept",
        level,
        _KEPT if level == "must" else "the limit is kept exactly, in the target's own unit",
        expected=counted(limit, "round")
        + (", or twice as many at most" if level == "must" else ""),
        seen=f"{counted(len(rounds), 'round')}",
        entries=[response.n for response in beyond] or [evidence.last_n],
    )


KEPT = Check(
    id="limits.kept",
    sentence=_KEPT,
    should="the limit is kept exactly, in the target's own unit",
    rank=50,
    advice="Count accepted model responses, the final answer included, and check the count before "
    "each request. Bound retries and waits by a deadline of your own.",
    judge=_kept,
)
