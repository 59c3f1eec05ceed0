"""The page of requirements, from a report alone."""

from __future__ import annotations

from sample_report import BOOKING, CARD, ONCE, case, report

from loopcheck.harness.results import CheckResult, TargetResult
from loopcheck.reports import requirements

SENTENCES = {
    "effect.once": "one effect per business operation",
    "limits.kept": "the loop stops",
}


def answered(check: str, status: str) -> CheckResult:
    return CheckResult.model_validate({"check": check, "status": status})


def test_a_check_stands_where_it_answered_and_nowhere_else() -> None:
    checks = (answered("effect.once", "pass"), answered("limits.kept", "not exercised"))
    passing = case("pass").model_copy(update={"checks": checks})
    failing = case("fail", mode="whole", findings=(ONCE,)).model_copy(
        update={"checks": (answered("effect.once", "fail"),)}
    )
    told = requirements.render(
        report(TargetResult(card=CARD, cases=(passing, failing))), sentences=SENTENCES
    )
    lines = told.splitlines()

    assert (
        "| `effect.once` | one effect per business operation | 1 scenario, 2 cases | 1 case |"
    ) in lines
    assert "| `limits.kept` | the loop stops | 0 scenarios, 0 cases | 0 cases |" in lines
    (row,) = [line for line in lines if line.startswith(f"| `{passing.scenario}` | ")]
    assert row.endswith(" | effect.once | 1 fail, 1 pass |")
    assert "### once" in lines


def test_the_loops_that_a_check_found_out_stand_beside_it() -> None:
    told = requirements.render(
        report(TargetResult(card=CARD)), sentences=SENTENCES, tripped={"effect.once": ["Twice"]}
    )

    (row,) = [line for line in told.splitlines() if line.startswith("| `effect.once` |")]
    assert row.endswith(" | 0 scenarios, 0 cases | 0 cases | Twice |")


def test_a_report_with_every_verdict_can_be_told() -> None:
    told = requirements.render(report(BOOKING), sentences=SENTENCES)

    assert f"Made of a run of {len(BOOKING.cases)} cases on booking" in told
