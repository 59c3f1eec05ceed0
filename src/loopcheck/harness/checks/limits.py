"""Checks that the loop stops: by itself, and at the limits it was given.

Seconds are not judged: nothing is judged by how long it took.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, TypeAlias

from loopcheck.harness.checks.evidence import Broken, Evidence, Response
from loopcheck.harness.checks.interface import Check, Unjudged, finding
from loopcheck.harness.checks.matching import is_visible
from loopcheck.harness.checks.wording import counted
from loopcheck.harness.results import Finding, Level

_KEPT = "the loop stops, and within the limit that it was given"
_EXACT = "the limit is kept exactly, in the target's own unit"

_Answer: TypeAlias = Finding | Unjudged | None


def _kept(evidence: Evidence) -> list[Finding] | Unjudged:
    hung = [_hung(one, evidence) for one in evidence.broken if one.fault == "hung"]
    if hung:
        return hung
    answers = list(_answers(evidence))
    if not answers:
        return Unjudged("not exercised", "no limit was given, or none that is counted")
    findings = [answer for answer in answers if isinstance(answer, Finding)]
    unjudged = [answer for answer in answers if isinstance(answer, Unjudged)]
    return unjudged[0] if len(unjudged) == len(answers) else findings


def _answers(evidence: Evidence) -> Iterator[_Answer]:
    """What is to be said of each limit that was given; None where it was kept."""
    given = evidence.scenario.limits
    for limit, needed, judge in (
        (given.rounds, "limits", _of_rounds),
        (given.tool_calls, "tool_call_limit", _of_tool_calls),
        (given.tokens, "token_limit", _of_tokens),
    ):
        if limit is not None and needed not in evidence.can:
            yield Unjudged("not declared", f"the target does not declare {needed}")
        elif limit is not None:
            yield judge(limit, evidence)


def _of_rounds(limit: int, evidence: Evidence) -> _Answer:
    rounds = _rounds(evidence)
    if len(rounds) > 2 * limit:
        entries = [response.n for response in rounds[limit:]]
        return _missed("must", limit, "round", len(rounds), entries)
    if evidence.limit_unit not in _UNITS:
        return Unjudged("not observable", f"the target's limit counts {evidence.limit_unit}")
    unit, count = _UNITS[evidence.limit_unit]
    entries = count(rounds, evidence)
    if len(entries) == limit:
        return None
    if len(entries) < limit and not _stopped(evidence):
        return Unjudged("not exercised", f"the run ended before {counted(limit, unit)}")
    beyond = entries[limit:] or [evidence.last_n]
    return _missed("should", limit, unit, len(entries), beyond)


def _of_tool_calls(limit: int, evidence: Evidence) -> _Answer:
    """Executions are counted. A loop may leave out the batch that would go beyond the limit."""
    asked = sum(is_visible(call) for response in _rounds(evidence) for call in response.calls)
    if asked <= limit and not _stopped(evidence):
        return Unjudged("not exercised", f"the model asked for {counted(asked, 'call')} only")
    ran = len(evidence.executions)
    beyond = [execution.n for execution in evidence.executions[limit:]]
    return _beyond(limit, "tool call", ran, beyond)


def _of_tokens(limit: int, evidence: Evidence) -> _Answer:
    """What was spent before the last request is counted: nobody knows what an answer will cost."""
    rounds = _rounds(evidence)
    if any(response.tokens is None for response in rounds):
        return Unjudged("not observable", "the journal does not say what responses cost")
    if _spent(rounds) <= limit and not _stopped(evidence):
        return Unjudged("not exercised", f"the run took {counted(_spent(rounds), 'token')} only")
    before = {
        request.n: _spent(response for response in rounds if response.n < request.n)
        for request in evidence.requests
    }
    beyond = [n for n, spent in before.items() if spent > limit]
    return _beyond(limit, "token", max(before.values(), default=0), beyond)


def _spent(rounds: Iterable[Response]) -> int:
    return sum(response.tokens or 0 for response in rounds)


def _stopped(evidence: Evidence) -> bool:
    return evidence.outcome is not None and evidence.outcome.state == "limit"


def _rounds(evidence: Evidence) -> list[Response]:
    """The model responses that the loop took: those it continued from, and the last one where it
    ended the run with it."""
    taken = [response for response in evidence.responses if response.accepted]
    last = evidence.responses[-1] if evidence.responses else None
    if last is not None and not last.accepted and last.ends != "failed":
        taken.append(last)
    return taken


def _of_responses(rounds: Sequence[Response], evidence: Evidence) -> list[int]:
    return [response.n for response in rounds]


def _with_calls(rounds: Sequence[Response], evidence: Evidence) -> list[int]:
    return [response.n for response in rounds if response.calls]


def _of_requests(rounds: Sequence[Response], evidence: Evidence) -> list[int]:
    return [request.n for request in evidence.requests]


# What a target may say that its limit counts, and the entries that are then counted. Any other
# unit is held to must alone.
_UNITS: Final[dict[str, tuple[str, Callable[[Sequence[Response], Evidence], list[int]]]]] = {
    "rounds": ("round", _of_responses),
    "tool_rounds": ("tool round", _with_calls),
    "requests": ("request", _of_requests),
}


def _hung(broken: Broken, evidence: Evidence) -> Finding:
    return finding(
        "limits.kept",
        "must",
        "the loop stops",
        expected="the run ends by itself",
        seen=f"{broken.what}; {counted(len(evidence.requests), 'request')} until then",
        entries=(broken.n,),
    )


def _beyond(limit: int, unit: str, seen: int, entries: list[int]) -> Finding | None:
    if seen <= limit:
        return None
    return _missed("must" if seen > 2 * limit else "should", limit, unit, seen, entries)


def _missed(level: Level, limit: int, unit: str, seen: int, entries: list[int]) -> Finding:
    twice = ", or twice as many at most" if level == "must" else ""
    return finding(
        "limits.kept",
        level,
        _KEPT if level == "must" else _EXACT,
        expected=f"{counted(limit, unit)}{twice}",
        seen=counted(seen, unit),
        entries=entries,
    )


KEPT = Check(
    id="limits.kept",
    sentence=_KEPT,
    should=_EXACT,
    rank=50,
    advice="Count accepted model responses, the final answer included, and check the count before "
    "each request. Bound retries and waits by a deadline of your own.",
    judge=_kept,
)
