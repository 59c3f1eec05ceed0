"""Loops that lose or repeat work when their process dies are found out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from durable import honest
from dying import LIARS, scenarios

from loopcheck.harness.cases import expand
from loopcheck.harness.cli.trial import driver
from loopcheck.harness.config import TargetSource
from loopcheck.harness.inprocess import InProcess
from loopcheck.harness.results import CaseResult
from loopcheck.harness.runner import RunOptions, run_case
from loopcheck.harness.selftest.liar import Liar
from loopcheck.harness.selftest.trial import complaint, consequences
from loopcheck.harness.stage import Stage
from loopcheck.harness.target import Target

SPECS = {spec.id: spec for spec in expand(scenarios())}


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    with Stage(quiet_seconds=0.2) as open_stage:
        yield open_stage


def tried(target: Target, attribute: str, case: str, stage: Stage) -> CaseResult:
    """Cases in which a process dies are run in a worker."""
    spec = SPECS[case]
    if not spec.scenario.kills:
        with InProcess(target) as here:
            return run_case(here, here.card(), spec, stage, RunOptions())
    source = TargetSource(name="t", python=f"durable:{attribute}", cwd=Path(__file__).parent)
    with driver(source) as worker:
        return run_case(worker, worker.card(), spec, stage, RunOptions())


@pytest.mark.parametrize(
    ("liar", "case"),
    [pytest.param(liar, case, id=f"{liar.name}-{case}") for liar in LIARS for case in liar.cases],
)
def test_they_are_found_out(liar: Liar, case: str, stage: Stage) -> None:
    result = tried(liar.target, liar.name.lower(), case, stage)
    assert complaint(liar, result) is None
    assert consequences(liar, result) == liar.also


@pytest.mark.parametrize(
    "case", ["selftest/killed[chat-whole]", "selftest/twice[responses-stream]"]
)
def test_a_loop_that_keeps_its_steps_is_honest(case: str, stage: Stage) -> None:
    result = tried(honest, "honest", case, stage)
    assert (result.verdict, result.findings, result.reason) == ("pass", (), None)
