"""Checks that the run's end is told as it was."""

from __future__ import annotations

from collections.abc import Iterator

from loopcheck.harness.checks.evidence import Ended, Evidence, Refused, Response
from loopcheck.harness.checks.interface import Check, Unjudged, finding
from loopcheck.harness.checks.matching import is_visible, whole_arguments
from loopcheck.harness.checks.wording import counted, elided, ending
from loopcheck.harness.results import Finding, Level

_NAMED = (
    "a cut, failed or refused response is not turned into a plain success without the model or "
    "the caller being told"
)
_SHOULD = "a refusal, and a text whose end never came, are not told as a plain success"


def _named(evidence: Evidence) -> list[Finding] | Unjudged:
    outcome = evidence.outcome
    if outcome is None:
        return Unjudged("not observable", "the run left no outcome")
    if not evidence.requests:
        return Unjudged("not exercised", "no request for a turn was sent")
    return list(_untold(outcome, evidence)) if outcome.state == "completed" else []


def _untold(outcome: Ended, evidence: Evidence) -> Iterator[Finding]:
    last_request = evidence.requests[-1]
    refused = next((r for r in evidence.refused if r.request == last_request.number), None)
    response = next((r for r in evidence.responses if r.request == last_request.number), None)
    if refused is not None or last_request.role == "divergent":
        yield _finding(outcome, "must", _error(refused), last_request.n, evidence)
    elif response is not None and (level := _level(response, outcome, evidence.dialect)):
        yield _finding(outcome, level, _what_came(response), response.n, evidence)


def _level(response: Response, outcome: Ended, dialect: str) -> Level | None:
    """How wrong it is to call this the end of a completed run; None where it is right."""
    calls = [call for call in response.calls if is_visible(call)]
    if response.ends == "failed":
        return "must"
    if response.ends == "unmarked":
        return "must" if calls or not response.text else "should"
    if _is_refusal(response):
        return _level_of_refusal(response, outcome, dialect)
    if response.ends == "marked":
        return "must"
    cut = [call for call in calls if whole_arguments(call) is None]
    return "must" if cut else None


def _is_refusal(response: Response) -> bool:
    return response.refusal is not None or response.stop == "refusal"


def _level_of_refusal(response: Response, outcome: Ended, dialect: str) -> Level:
    """Handing the refusal on tells the caller; an empty one leaves nothing to hand on, and
    nothing to notice where only its text says that it is one."""
    refusal = (response.refusal or "").strip()
    silent = not refusal and dialect != "messages"
    return "should" if silent or (refusal and refusal in outcome.text) else "must"


def _what_came(response: Response) -> str:
    calls = [call for call in response.calls if is_visible(call)]
    asked = f", {counted(len(calls), 'call')}" if calls else ""
    return f"{ending(response)}{asked}"


def _error(refused: Refused | None) -> str:
    if refused is None:
        return "an error for history that was never issued"
    return f"status {refused.status}: {elided(refused.message, 80)}"


def _finding(outcome: Ended, level: Level, came: str, n: int, evidence: Evidence) -> Finding:
    return finding(
        "outcome.named",
        level,
        _NAMED if level == "must" else _SHOULD,
        expected="an end that shows it (failed, refused, limit, an exception), or completed after "
        "the model was told by an error result",
        seen=f"completed, text {elided(outcome.text, 60)!r} "
        f"({counted(len(evidence.requests), 'request')}, "
        f"{counted(len(evidence.executions), 'execution')}; the last answer: {came})",
        entries=(outcome.n, n),
        why="the stop reason, or the missing end of the response, is not looked at",
    )


NAMED = Check(
    id="outcome.named",
    sentence=_NAMED,
    should=_SHOULD,
    rank=51,
    advice="Look at the stop reason and the terminal event of every response. End the run with a "
    "state, or an exception, that says what happened, or tell the model by an error result.",
    judge=_named,
)
