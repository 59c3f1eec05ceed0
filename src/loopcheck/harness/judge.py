"""From the journal of a case to its verdict."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from loopcheck.harness.cases import CaseSpec
from loopcheck.harness.checks import CHECKS
from loopcheck.harness.checks.evidence import Evidence
from loopcheck.harness.checks.interface import run
from loopcheck.harness.checks.reading import read
from loopcheck.harness.checks.wording import counted
from loopcheck.harness.deaths import struck
from loopcheck.harness.journal import Entry
from loopcheck.harness.lines import lines
from loopcheck.harness.results import CaseResult, CheckResult, Finding, Verdict

_LEVELS: Final = {"must": 0, "should": 1, "may": 2}
_RANKS: Final = {check.id: check.rank for check in CHECKS}


def judge(
    entries: Sequence[Entry],
    spec: CaseSpec,
    can: frozenset[str],
    limit_unit: str = "rounds",
) -> CaseResult:
    """The verdict on a case, from its journal alone. `can` is what the target declares, and
    `limit_unit` what its limit counts.

    The first finding is the primary one: of those under must, the earliest in the journal.
    """
    missing = [need for need in spec.scenario.needs if need not in can]
    if missing:
        return _result(spec, "not declared", f"needs {', '.join(missing)}")
    evidence = read(entries, spec.scenario, can, limit_unit)
    spoiled = _spoiled(evidence) or _undisturbed(entries, spec)
    if spoiled is not None:
        verdict, reason = spoiled
        return _result(spec, verdict, reason, evidence=evidence)
    checks = tuple(run(check, evidence) for check in CHECKS)
    return _result(spec, *_verdict(checks), checks=checks, evidence=evidence)


def _spoiled(evidence: Evidence) -> tuple[Verdict, str] | None:
    """Why there is nothing to judge: harness or target broke before the loop could be tried."""
    broken = {one.fault: one.what for one in reversed(evidence.broken)}
    if "harness" in broken:
        return "harness error", broken["harness"]
    if "target" in broken:
        return "target broken", broken["target"]
    given_up = "hung" in broken or evidence.cancelled_n is not None
    if not evidence.requests and not given_up:
        return "target broken", _silent(evidence)
    if evidence.mode == "stream" and not _streams(evidence):
        return "target broken", "it declares the mode stream, and none of its requests asks for it"
    return None


def _undisturbed(entries: Sequence[Entry], spec: CaseSpec) -> tuple[Verdict, str] | None:
    """That the process did not die where it was to die: then nothing was tried of it."""
    if spec.death is None or struck(entries, spec.death):
        return None
    return "not exercised", f"{spec.death.point} did not come"


def _silent(evidence: Evidence) -> str:
    ended = f"it ended as {_outcome(evidence)}" if evidence.outcome is not None else "it ended"
    if evidence.side:
        return f"no request held the prompt together with a tool of the task; {ended}"
    return f"it sent no request; {ended}"


def _streams(evidence: Evidence) -> bool:
    bodies = [request.body for request in evidence.requests if request.role == "turn"]
    asked = [isinstance(body, dict) and body.get("stream") is True for body in bodies]
    return any(asked) or not asked


def _verdict(checks: Iterable[CheckResult]) -> tuple[Verdict, str | None]:
    statuses = {check.status for check in checks}
    if "fail" in statuses:
        return "fail", None
    if "pass" in statuses:
        return "pass", None
    return "not exercised", "the case reached nothing that a check could look at"


def _sorted(checks: Iterable[CheckResult]) -> tuple[Finding, ...]:
    def place(finding: Finding) -> tuple[int, int, int]:
        first = finding.entries[0] if finding.entries else 0
        return _LEVELS[finding.level], first, _RANKS[finding.check]

    return tuple(sorted((f for check in checks for f in check.findings), key=place))


def _result(
    spec: CaseSpec,
    verdict: Verdict,
    reason: str | None,
    *,
    checks: tuple[CheckResult, ...] = (),
    evidence: Evidence | None = None,
) -> CaseResult:
    scenario = spec.scenario
    return CaseResult(
        case=spec.id,
        scenario=scenario.id,
        title=scenario.title,
        rule=scenario.rule,
        grounds=scenario.grounds,
        dialect=spec.dialect,
        mode=spec.mode,
        verdict=verdict,
        reason=reason,
        checks=checks,
        findings=_sorted(checks),
        outcome=_outcome(evidence),
        summary=_summary(evidence) if evidence is not None else "",
        lines=lines(evidence.entries) if evidence is not None else (),
    )


def _outcome(evidence: Evidence | None) -> str | None:
    outcome = evidence.outcome if evidence is not None else None
    return f"{outcome.state}/{outcome.reason}".rstrip("/") if outcome is not None else None


def _summary(evidence: Evidence) -> str:
    effects = [effect for effect in evidence.effects if not effect.deduplicated]
    return ", ".join(
        (
            counted(len(evidence.requests), "request"),
            counted(len(evidence.executions), "execution"),
            counted(len(effects), "effect"),
        )
    )
