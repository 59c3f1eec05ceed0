"""Checks of what people decide: approvals are bound to what was approved, and a run that was
cancelled starts nothing new."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from loopcheck.fake_providers.wire import JsonObject
from loopcheck.harness.checks.evidence import Decided, Evidence, Execution
from loopcheck.harness.checks.interface import Check, Unjudged, finding
from loopcheck.harness.checks.matching import Match, Matching, match, schema_of
from loopcheck.harness.checks.values import reading
from loopcheck.harness.checks.wording import entered, executions
from loopcheck.harness.results import Finding

_BOUND = (
    "what runs is what was approved; nothing is executed and nothing further is asked of the "
    "model while a decision is pending"
)
_UNAPPROVED = "no call runs that was denied, disabled or not approved"
_STOPS = "after a cancellation was confirmed nothing new starts"


def unapproved_findings(evidence: Evidence, matching: Matching) -> Iterator[Finding]:
    """Executions of calls that a person had to approve and did not, and of disabled tools."""
    for found in matching.matches:
        tool = evidence.scenario.tools.get(found.call.tool)
        approval = "allow" if tool is None else tool.approval
        if approval == "disabled":
            yield _unapproved(found, "the tool is disabled", [])
        elif approval == "ask":
            decided = _about(found, evidence)
            if not any(one.decide == "approve" for one in decided):
                why = "denied by a person" if decided else "nobody approved it"
                yield _unapproved(found, why, decided)


def _unapproved(found: Match, why: str, decided: Iterable[Decided]) -> Finding:
    return finding(
        "execution.allowed",
        "must",
        _UNAPPROVED,
        expected=f"0 executions for call {found.call.name}: {why}",
        seen=executions([found.execution]),
        entries=(found.execution.n, *(one.n for one in decided), found.call.n),
        why="the approval is asked for, and the call runs without waiting for it",
    )


def _about(found: Match, evidence: Evidence) -> list[Decided]:
    """What was decided about this call before it ran, and while it waited: a word about a call
    that has been decided changes nothing. Of a target that never said so, all that was decided."""
    about = [
        one
        for one in evidence.decisions
        if one.label == found.call.label and one.n < found.execution.n
    ]
    return [one for one in about if one.pending] or about


def _bound(evidence: Evidence) -> list[Finding] | Unjudged:
    if not evidence.pauses and not evidence.decisions:
        return Unjudged("not exercised", "no call waited for a person")
    return [*_changed(evidence), *_while_pending(evidence)]


def _changed(evidence: Evidence) -> Iterator[Finding]:
    for found in match(evidence).matches:
        approved = [one for one in _about(found, evidence) if one.decide == "approve"]
        if approved and not any(_is(found.execution, one.arguments, evidence) for one in approved):
            yield finding(
                "approval.bound",
                "must",
                "what runs is what was approved",
                expected=entered(found.call.tool, approved[-1].arguments),
                seen=entered(found.call.tool, found.execution.arguments),
                entries=(found.execution.n, approved[-1].n),
                why="the decision is kept by the call's id, and not by what was approved",
            )


def _is(execution: Execution, approved: JsonObject, evidence: Evidence) -> bool:
    schema = schema_of(evidence.scenario, execution.tool)
    return reading(approved, execution.arguments, schema) is not None


def _while_pending(evidence: Evidence) -> Iterator[Finding]:
    for pause in evidence.pauses:
        started = _between(pause.n, pause.until, evidence)
        if started:
            calls = ", ".join(str(call.get("tool")) for call in pause.calls)
            yield finding(
                "approval.bound",
                "must",
                "nothing is executed and nothing is asked of the model while a decision is pending",
                expected=f"nothing new while {calls} waits for a person",
                seen=_in_words(started),
                entries=(*(n for n, _ in started), pause.n),
                why="the run went on in the background after it had said that it was paused",
            )


def _stops(evidence: Evidence) -> list[Finding] | Unjudged:
    cancelled = evidence.cancelled_n
    if cancelled is None:
        return Unjudged("not exercised", "nothing was cancelled")
    # A run that pauses has not ended: it is told once more when it is resumed.
    ends = (end for end in evidence.told if end.state != "paused")
    confirmed = next((end for end in ends if end.n > cancelled), None)
    if confirmed is None:
        return Unjudged("not exercised", "the run did not end behind the cancellation")
    until = next((n for n in evidence.legs if n > confirmed.n), None)
    started = _between(confirmed.n, until, evidence)
    if not started:
        return []
    return [
        finding(
            "cancel.stops",
            "must",
            _STOPS,
            expected=f"nothing new behind the outcome {confirmed.state}/{confirmed.reason}",
            seen=_in_words(started),
            entries=(*(n for n, _ in started), confirmed.n, cancelled),
            why="the caller's wait was given up, and the work behind it went on",
        )
    ]


def _between(start: int, end: int | None, evidence: Evidence) -> list[tuple[int, str]]:
    """What began between two entries: bodies of tools, and requests for a turn."""
    began = [(one.n, entered(one.tool, one.arguments)) for one in evidence.executions]
    began += [(one.n, f"request {one.number}") for one in evidence.requests]
    return sorted(one for one in began if start < one[0] and (end is None or one[0] < end))


def _in_words(started: Iterable[tuple[int, str]]) -> str:
    return "; ".join(what for _, what in started)


BOUND = Check(
    id="approval.bound",
    sentence=_BOUND,
    should=None,
    rank=14,
    advice="Keep what was asked (tool and exact arguments) with the question, run just that once "
    "it is approved, and end the run's own work while it waits.",
    judge=_bound,
)
STOPS = Check(
    id="cancel.stops",
    sentence=_STOPS,
    should=None,
    rank=15,
    advice="Carry the cancellation to everything that the run has started: the stream, waits "
    "before a retry, queued tools, and the loop itself. Confirm it when all of them have ended.",
    judge=_stops,
)
