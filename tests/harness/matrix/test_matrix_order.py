"""The order in which a cell runs its cases: one of its own, and always the same."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from loopcheck.harness.cases import expand
from loopcheck.harness.matrix.running import turned
from loopcheck.harness.scenario.load import discover

SPECS = list(expand(discover(["builtin:core"], cwd=Path())))


@given(st.text(), st.integers(0, len(SPECS)))
def test_every_case_is_run_and_those_of_a_scenario_together(key: str, count: int) -> None:
    specs = SPECS[:count]
    found = turned(specs, key)
    assert sorted(spec.id for spec in found) == sorted(spec.id for spec in specs)
    assert found == turned(specs, key)
    scenarios = [scenario for scenario, _ in groupby(spec.scenario.id for spec in found)]
    assert len(scenarios) == len(set(scenarios))


def test_cells_begin_at_different_cases() -> None:
    assert len({turned(SPECS, key)[0].id for key in map(str, range(20))}) > 10
