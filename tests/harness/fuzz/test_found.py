"""The liars are found by fuzzing, with fixed seeds, and shown small; the reference loop is clean.

A few of them here; with LOOPCHECK_LONG each one, and many more examples.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, seed, settings
from hypothesis.stateful import run_state_machine_as_test

import loopcheck
from loopcheck.fake_providers.script import DIALECTS, MODES
from loopcheck.harness.fuzz import Trial
from loopcheck.harness.fuzz.hunt import Found, Hunt
from loopcheck.harness.inprocess import InProcess
from loopcheck.harness.runner import RunOptions
from loopcheck.harness.scenario.write import write
from loopcheck.harness.selftest.trial import HONEST, LIARS
from loopcheck.harness.stage import Stage
from loopcheck.harness.strategies import features_for
from loopcheck.harness.target import Target
from loopcheck.harness.targets.reference import reference

IS_LONG = "LOOPCHECK_LONG" in os.environ
LONG = pytest.mark.skipif(not IS_LONG, reason="LOOPCHECK_LONG=1 runs it")
QUICK = ("Trimming", "Overdue", "Chatty", "Porting", "Compacting", "Stopping")
EXAMPLES = 2000
LINES = 20


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    with Stage(quiet_seconds=0.05) as open_stage:
        yield open_stage


def hunt(
    target: Target, stage: Stage, *, limit: int, smaller: int = 600, most_found: int | None = None
) -> list[Found]:
    card = target.card()
    with InProcess(target) as driver:
        options = RunOptions(case_seconds=10)
        search = Hunt(
            trial=Trial(driver=driver, card=card, stage=stage, options=options),
            dialects=DIALECTS,
            modes=MODES,
            features=features_for(card.can),
            seed=1,
            limit=limit,
            most_smaller=smaller,
            most_found=most_found,
        )
        return search.run()


@pytest.mark.parametrize("name", QUICK)
def test_some_liars_are_found_at_once(name: str, stage: Stage) -> None:
    target = next(liar.target for liar in LIARS if liar.name == name)
    (found,) = hunt(target, stage, limit=60, smaller=60, most_found=1)
    assert len(write(found.failure.shown.scenario).splitlines()) <= LINES


@LONG
@pytest.mark.slow
def test_nine_tenths_of_them_are_found_and_most_are_shown_small(stage: Stage) -> None:
    sizes = []
    for liar in LIARS:
        for found in hunt(liar.target, stage, limit=EXAMPLES, most_found=1):
            sizes.append(len(write(found.failure.shown.scenario).splitlines()))
    assert len(sizes) >= 0.9 * len(LIARS)
    assert sum(size <= LINES for size in sizes) >= 0.75 * len(LIARS)


@LONG
@pytest.mark.slow
@pytest.mark.parametrize(("target", "examples"), [(HONEST, 2_000), (reference, 20_000)])
def test_nothing_is_found_of_honest_loops(target: Target, examples: int, stage: Stage) -> None:
    assert hunt(target, stage, limit=examples) == []


@LONG
@pytest.mark.slow
@pytest.mark.parametrize("target", [HONEST, reference])
def test_nor_round_by_round(target: Target, stage: Stage) -> None:
    trial = Trial(driver=InProcess(target), card=target.card(), stage=stage)
    chosen = settings(
        max_examples=1000,
        stateful_step_count=20,
        database=None,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    )
    run_state_machine_as_test(seed(1)(loopcheck.machine(trial)), settings=chosen)
