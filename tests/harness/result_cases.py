"""Small judged cases for tests of what is made of them."""

from __future__ import annotations

from loopcheck.harness.results import (
    CaseResult,
    CheckResult,
    Finding,
    Level,
    Status,
    TargetCard,
    TargetResult,
    Verdict,
)

CARD = TargetCard(name="booking", packages={"openai": "3.57.0", "anthropic": "2.14.0"})


def finding(check: str, level: Level = "must") -> Finding:
    return Finding(check=check, level=level, sentence="s", expected="e", seen="s", entries=(1,))


def judged(
    case: str,
    *findings: Finding,
    verdict: Verdict | None = None,
    status: Status = "pass",
    check: str = "effect.once",
) -> CaseResult:
    """A case that fails by its must-findings, unless a verdict is given."""
    failed = any(found.level == "must" for found in findings)
    return CaseResult(
        case=case,
        scenario=case.partition("[")[0],
        title="t",
        rule="r",
        dialect="chat",
        mode="stream",
        verdict=verdict or ("fail" if failed else "pass"),
        checks=(CheckResult(check=check, status=status),),
        findings=findings,
    )


def target(
    *cases: CaseResult, broken: str | None = None, stale: tuple[str, ...] = ()
) -> TargetResult:
    return TargetResult(card=CARD, cases=cases, broken=broken, stale=stale)
