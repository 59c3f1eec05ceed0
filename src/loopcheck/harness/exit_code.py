"""The exit code of a run: the first of its reasons that applies."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from loopcheck.harness.naming import ANY_CHECK

if TYPE_CHECKING:
    from loopcheck.harness.results import CaseResult, Finding, TargetResult

AS_EXPECTED: Final = 0
FAILURES: Final = 1
USAGE_ERROR: Final = 2
STALE: Final = 3
TARGET_BROKEN: Final = 4
NOTHING_RAN: Final = 5
INTERNAL_ERROR: Final = 70
INTERRUPTED: Final = 130


def exit_code(
    targets: Iterable[TargetResult], *, strict_should: bool = False, is_part: bool = False
) -> int:
    """4 target broken, 5 nothing ran, 1 failures, 3 stale expectations, 0 all as expected. That
    nothing ran in a part of a run means nothing."""
    run = tuple(targets)
    cases = [case for target in run for case in target.cases]
    if any(target.broken is not None for target in run) or _any(cases, "target broken"):
        return TARGET_BROKEN
    if not is_part and not any(_ran(case) for case in cases):
        return NOTHING_RAN
    if any(fails(case, strict_should=strict_should) for case in cases):
        return FAILURES
    if any(target.stale for target in run):
        return STALE
    return AS_EXPECTED


def fails(case: CaseResult, *, strict_should: bool = False) -> bool:
    """Whether this case alone makes a run fail."""
    if case.verdict == "unscored":
        return False
    if case.verdict in ("fail", "harness error"):
        return True
    return strict_should and any(
        finding.level == "should" and not is_answered(case, finding) for finding in case.findings
    )


def is_answered(case: CaseResult, finding: Finding) -> bool:
    """Whether an entry of the list of known failures speaks of this finding."""
    return any(listed.check in (ANY_CHECK, finding.check) for listed in case.expectations)


def _any(cases: Iterable[CaseResult], verdict: str) -> bool:
    return any(case.verdict == verdict for case in cases)


def _ran(case: CaseResult) -> bool:
    """A case in which no check could answer proves nothing, whatever its verdict; nor does one
    that the suite leaves out."""
    if case.verdict == "unscored":
        return False
    answered = any(check.status in ("pass", "fail") for check in case.checks)
    return answered or case.verdict in ("fail", "harness error") or bool(case.findings)
