"""Each liar is found out, and its primary finding is that of the check it trips."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
from dying import LIARS as DEATH_LIARS

from liars import HONEST as HONEST_SDK
from liars import LIARS as SDK_LIARS
from loopcheck.harness.cases import CaseSpec
from loopcheck.harness.checks import CHECKS
from loopcheck.harness.inprocess import InProcess
from loopcheck.harness.results import CaseResult, CheckResult, Finding, Level
from loopcheck.harness.runner import RunOptions, run_case
from loopcheck.harness.selftest.liar import Liar
from loopcheck.harness.selftest.trial import (
    HONEST,
    LIARS,
    cases,
    complaint,
    consequences,
    untried,
)
from loopcheck.harness.stage import Stage
from loopcheck.harness.target import Target

SPECS: dict[str, CaseSpec] = cases((*LIARS, *SDK_LIARS))
SHOWN = sorted({case for liar in LIARS for case in liar.cases})
SDK_SHOWN = sorted({case for liar in SDK_LIARS for case in liar.cases})
EVERY = (*LIARS, *SDK_LIARS, *DEATH_LIARS)


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    with Stage(quiet_seconds=0.05) as open_stage:
        yield open_stage


def tried(target: Target, cases: tuple[str, ...], stage: Stage) -> list[CaseResult]:
    with InProcess(target) as driver:
        card = target.card()
        return [run_case(driver, card, SPECS[case], stage, RunOptions()) for case in cases]


@pytest.mark.parametrize("liar", [*LIARS, *SDK_LIARS], ids=lambda liar: liar.name)
def test_a_liar_is_found_out_by_its_check(liar: Liar, stage: Stage) -> None:
    results = tried(liar.target, liar.cases, stage)
    assert [complaint(liar, result) for result in results] == [None] * len(results)
    assert set().union(*(consequences(liar, result) for result in results)) == liar.also


@pytest.mark.parametrize("case", SHOWN)
def test_the_loop_that_they_spoil_is_honest(case: str, stage: Stage) -> None:
    (result,) = tried(HONEST, (case,), stage)
    assert (result.verdict, result.findings, result.reason) == ("pass", (), None)


@pytest.mark.parametrize("case", SDK_SHOWN)
def test_so_is_the_one_over_the_sdks(case: str, stage: Stage) -> None:
    (result,) = tried(HONEST_SDK, (case,), stage)
    assert (result.verdict, result.findings, result.reason) == ("pass", (), None)


def test_every_check_has_its_liars() -> None:
    assert untried() == []
    assert untried(LIARS[1:2]) == sorted({check.id for check in CHECKS} - {LIARS[1].check})
    trips = Counter({liar.name: liar.check for liar in EVERY}.values())
    assert {check.id for check in CHECKS if trips[check.id] < 2} == set()


def test_there_are_many_of_them_in_every_dialect_and_mode() -> None:
    for some in (LIARS, SDK_LIARS):
        ways = {(SPECS[case].dialect, SPECS[case].mode) for liar in some for case in liar.cases}
        assert len(ways) == 6
    names = {liar.name for liar in EVERY}
    assert len(names) >= 60
    assert len(names) == len(EVERY)


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
