"""Each liar is caught, and its primary finding is that of the check it breaks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from liars import HONEST, LIARS, Liar
from loopcheck.harness.cases import CaseSpec
from loopcheck.harness.checks import CHECKS
from loopcheck.harness.inprocess import InProcess
from loopcheck.harness.results import CaseResult
from loopcheck.harness.runner import RunOptions, run_case
from loopcheck.harness.scenario.load import load_builtin
from loopcheck.harness.scenario.model import Scenario
from loopcheck.harness.stage import Stage
from loopcheck.harness.target import Target

NO_LIAR = {"history.carried": "no scenario scripts reasoning yet"}
SCENARIOS: dict[str, Scenario] = {scenario.id: scenario for scenario in load_builtin()}
SHOWN = sorted({name for liar in LIARS for name in liar.scenarios})


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    with Stage(quiet_seconds=0.05) as open_stage:
        yield open_stage


def tried(target: Target, scenario: str, stage: Stage) -> CaseResult:
    spec = CaseSpec(SCENARIOS[scenario], "chat", "whole")
    with InProcess(target) as driver:
        return run_case(driver, target.card(), spec, stage, RunOptions())


@pytest.mark.parametrize(
    ("liar", "scenario"),
    [
        pytest.param(liar, scenario, id=f"{liar.target.name}-{scenario}")
        for liar in LIARS
        for scenario in liar.scenarios
    ],
)
def test_a_liar_is_caught_by_its_check(liar: Liar, scenario: str, stage: Stage) -> None:
    result = tried(liar.target, scenario, stage)
    assert result.verdict == "fail"
    first = result.findings[0]
    assert (first.check, first.level) == (liar.check, "must")


@pytest.mark.parametrize("scenario", SHOWN)
def test_the_loop_that_they_spoil_is_honest(scenario: str, stage: Stage) -> None:
    result = tried(HONEST.target, scenario, stage)
    assert [found for found in result.findings if found.level == "must"] == []
    assert result.verdict == "pass"


def test_every_check_has_its_liar() -> None:
    assert {liar.check for liar in LIARS} | NO_LIAR.keys() == {check.id for check in CHECKS}
