"""What a check is: a pure function from the evidence of a case to one result."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from loopcheck.harness.checks.evidence import Evidence
from loopcheck.harness.results import CheckResult, Finding, Level, Status

_CAPPED: Final = ("correlation.", "history.", "outcome.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A check with its stable id and the one sentence it requires.

    `rank` decides which of several findings about the same journal entry is primary: the lower
    one is the cause, the others follow from it. `advice` tells the reader what to do.
    """

    id: str
    sentence: str
    should: str | None
    rank: int
    advice: str
    judge: Callable[[Evidence], Iterable[Finding] | Unjudged]


@dataclass(frozen=True, slots=True)
class Unjudged:
    """A check that could not answer pass or fail, and why."""

    status: Status
    reason: str


def run(check: Check, evidence: Evidence) -> CheckResult:
    """The check's answer for this case. A finding at any level below must does not fail it."""
    answer = check.judge(evidence)
    if isinstance(answer, Unjudged):
        return CheckResult(check=check.id, status=answer.status, reason=answer.reason)
    findings = tuple(_as_sure_as(evidence, finding) for finding in answer)
    failed = any(finding.level == "must" for finding in findings)
    return CheckResult(check=check.id, status="fail" if failed else "pass", findings=findings)


def _as_sure_as(evidence: Evidence, finding: Finding) -> Finding:
    """What the service itself would never send obliges no loop to more than safety: behind an
    odd response, only executions, effects and the scenario's own words stay under must."""
    odd = any(response.odd for response in evidence.responses)
    if finding.level != "must" or not odd or not finding.check.startswith(_CAPPED):
        return finding
    return finding.model_copy(update={"level": "should"})


def finding(
    check: str,
    level: Level,
    sentence: str,
    *,
    expected: str,
    seen: str,
    entries: Iterable[int],
    why: str | None = None,
) -> Finding:
    """A finding of the check with this id; `entries` in the order in which they prove it."""
    return Finding(
        check=check,
        level=level,
        sentence=sentence,
        expected=expected,
        seen=seen,
        entries=tuple(entries),
        why=why,
    )
