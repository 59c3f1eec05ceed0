"""Each liar is found out, and its primary finding is that of the check it trips."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from liars import HONEST as HONEST_SDK
from liars import LIARS as SDK_LIARS
from loopcheck.harness.cases import CaseSpec, expand
from loopcheck.harness.checks import CHECKS
from loopcheck.harness.inprocess import InProcess
from loopcheck.harness.results import CaseResult, CheckResult, Finding, Level
from loopcheck.harness.runner import RunOptions, run_case
from loopcheck.harness.scenario.load import load_builtin
from loopcheck.harness.selftest.liar import Liar
from loopcheck.harness.selftest.trial import HONEST, LIARS, complaint, untried
from loopcheck.harness.stage import Stage
from loopcheck.harness.target import Target

SPECS: dict[str, CaseSpec] = {spec.id: spec for spec in expand(load_builtin())}
SHOWN = sorted({case for liar in LIARS for case in liar.cases})
SDK_SHOWN = sorted({case for liar in SDK_LIARS for case in liar.cases})


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    with Stage(quiet_seconds=0.05) as open_stage:
        yield open_stage


def tried(target: Target, case: str, stage: Stage) -> CaseResult:
    with InProcess(target) as driver:
        return run_case(driver, target.card(), SPECS[case], stage, RunOptions())


@pytest.mark.parametrize(
    ("liar", "case"),
    [
        pytest.param(liar, case, id=f"{liar.name}-{case}")
        for liar in (*LIARS, *SDK_LIARS)
        for case in liar.cases
    ],
)
def test_a_liar_is_found_out_by_its_check(liar: Liar, case: str, stage: Stage) -> None:
    assert complaint(liar, tried(liar.target, case, stage)) is None


@pytest.mark.parametrize("case", SHOWN)
def test_the_loop_that_they_spoil_is_honest(case: str, stage: Stage) -> None:
    result = tried(HONEST, case, stage)
    assert (result.verdict, result.reason) == ("pass", None)


@pytest.mark.parametrize("case", SDK_SHOWN)
def test_so_is_the_one_over_the_sdk(case: str, stage: Stage) -> None:
    result = tried(HONEST_SDK, case, stage)
    assert (result.verdict, result.reason) == ("pass", None)


def test_every_check_has_its_liar() -> None:
    assert untried() == []
    assert untried(LIARS[1:2]) == sorted({check.id for check in CHECKS} - {LIARS[1].check})


def test_they_speak_every_dialect_in_every_mode() -> None:
    ways = {(SPECS[case].dialect, SPECS[case].mode) for case in SHOWN}
    assert len(ways) == 6
    assert len(LIARS) >= 24


def found(*checks: tuple[str, Level]) -> CaseResult:
    findings = tuple(
        Finding(check=name, level=level, sentence="", expected="", seen="", entries=(1,))
        for name, level in checks
    )
    return CaseResult(
        case="a/b[chat-whole]",
        scenario="a/b",
        title="",
        rule="",
        dialect="chat",
        mode="whole",
        verdict="fail",
        checks=(CheckResult(check="outcome.named", status="pass"),),
        findings=findings,
    )


def test_a_liar_that_gets_away_is_told() -> None:
    liar = LIARS[0]
    assert complaint(liar, found((liar.check, "must"), ("scenario.expects", "must"))) is None
    assert complaint(liar, found()) == (
        "Unanswering, a/b[chat-whole]: found nothing, not correlation.answered"
    )
    assert complaint(liar, found((liar.check, "should"))) == (
        "Unanswering, a/b[chat-whole]: found correlation.answered (should), "
        "not correlation.answered"
    )
    assert complaint(liar, found((liar.check, "must"), ("effect.once", "must"))) == (
        "Unanswering, a/b[chat-whole]: also accused of effect.once"
    )
