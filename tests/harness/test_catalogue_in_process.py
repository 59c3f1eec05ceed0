"""The catalogue on the reference loop without a socket: the same bytes, the same verdicts."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("respx")

from loopcheck.fake_providers.inprocess import in_process
from loopcheck.fake_providers.provider import Provider
from loopcheck.fake_providers.script import DIALECTS, DialectName
from loopcheck.harness.cases import CaseSpec, expand
from loopcheck.harness.inprocess import InProcess
from loopcheck.harness.runner import RunOptions, declared, run_case
from loopcheck.harness.scenario.compile import compile_script
from loopcheck.harness.scenario.load import discover
from loopcheck.harness.stage import OpenCase, Stage
from loopcheck.harness.targets.reference import reference

pytestmark = pytest.mark.slow
CHOSEN = "builtin:all" if os.environ.get("LOOPCHECK_LONG") else "builtin:core"


class Socketless(Stage):
    """A stage whose cases are answered in process, below the client's connection pool."""

    @contextmanager
    def open(
        self,
        spec: CaseSpec,
        *,
        target: str,
        seed: int = 0,
        seconds: float = 30.0,
        lenient: frozenset[str] = frozenset(),
        grows: bool = False,
    ) -> Iterator[OpenCase]:
        opened = super().open(
            spec, target=target, seed=seed, seconds=seconds, lenient=lenient, grows=grows
        )
        with opened as case:
            provider = Provider(
                script=compile_script(spec.scenario, spec.dialect, spec.mode),
                dialect=spec.dialect,
                mode=spec.mode,
                seed=seed,
                record=case.journal.record,
                tokens=case.world.tokens,
                passed=case.world.has_passed,
                begun=lambda: case.conductor.begun,
                rivals=lambda: case.conductor.has_rivals,
                api_key=case.api_key,
                on=frozenset(spec.scenario.rules.on),
                off=lenient | frozenset(spec.scenario.rules.off),
            )
            with in_process(provider.handle, base_url=case.root):
                yield case


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_reference_loop_passes_the_catalogue(dialect: DialectName) -> None:
    card = reference.card()
    specs = [
        spec
        for spec in declared(expand(discover([CHOSEN], cwd=Path.cwd())), card)
        if spec.dialect == dialect
    ]
    with Socketless() as stage, InProcess(reference) as driver:
        results = [run_case(driver, card, spec, stage, RunOptions()) for spec in specs]
    assert [r.case for r in results if r.verdict not in ("pass", "not declared")] == []
    assert sum(result.verdict == "pass" for result in results) > 100
