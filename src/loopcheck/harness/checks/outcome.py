"""Checks that the run's end is told as it was."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from loopcheck.harness.checks.evidence import Ended, Evidence, Refused, Response
from loopcheck.harness.checks.interface import Check, Unjudged, finding
from loopcheck.harness.checks.matching import is_visible, whole_arguments
from loopcheck.harness.checks.wording import counted, elided, ending
from loopcheck.harness.results import Finding, Level

_NAMED = (
    "a cut, failed or refused response is not turned into a plain success without the model or "
    "the caller being told"
)
_SHOULD = "a refusal, and a text that was cut, are not told as a plain success"


@dataclass(frozen=True, slots=True)
class _Answer:
    """The last answer of a run: its entry, what it said, and what loops overlook in it."""

    n: int
    what: str
    why: str


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
        came = _Answer(last_request.n, _error(refused), "the service's error is swallowed")
        yield _finding(outcome, "must", came, evidence)
    elif response is not None:
        level = _level(response, outcome, evidence)
        if level is not None:
            came = _Answer(response.n, _what_came(response), _why(response))
            yield _finding(outcome, level, came, evidence)


def _level(response: Response, outcome: Ended, evidence: Evidence) -> Level | None:
    """How wrong it is to call this the end of a completed run; None where it is right."""
    calls = [call for call in response.calls if is_visible(call)]
    if response.ends == "failed":
        return "must"
    if response.ends == "unmarked":
        return "must" if calls or not response.text else "should"
    if _is_refusal(response):
        return _level_of_refusal(response, outcome, evidence.dialect)
    if response.stop == "pause":
        return "must" if "hosted" in evidence.can else "should"
    if response.ends == "marked":
        return "should" if _is_handed_on(response, outcome) else "must"
    cut = [call for call in calls if whole_arguments(call) is None]
    return "must" if cut else None


def _is_handed_on(response: Response, outcome: Ended) -> bool:
    """Whether a cut answer was text alone, and the caller has all of it. Honest frameworks leave
    the stop reason to the message that they return beside it."""
    said = response.text.strip()
    return bool(said) and not response.calls and said in outcome.text


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


def _why(response: Response) -> str:
    if _is_refusal(response):
        return "the refusal is not read, so that only an empty text is left of it"
    if response.stop == "pause":
        return "a turn that the service paused, and that is to be continued, is taken for its end"
    if response.ends == "well":
        return "a call that does not parse is dropped without an answer"
    if response.ends == "marked":
        return "the stop reason is not looked at"
    return "an error, or a missing end, is taken for the end of the response"


def _error(refused: Refused | None) -> str:
    if refused is None:
        return "an error for history that was never issued"
    return f"status {refused.status}: {elided(refused.message, 80)}"


def _finding(outcome: Ended, level: Level, came: _Answer, evidence: Evidence) -> Finding:
    return finding(
        "outcome.named",
        level,
        _NAMED if level == "must" else _SHOULD,
        expected="an end that shows it (failed, refused, limit, an exception), or completed after "
        "the model was told by an error result",
        seen=f"completed, text {elided(outcome.text, 60)!r} "
        f"({counted(len(evidence.requests), 'request')}, "
        f"{counted(len(evidence.executions), 'execution')}; the last answer: {came.what})",
        entries=(outcome.n, came.n),
        why=came.why,
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
