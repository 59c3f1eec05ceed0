from __future__ import annotations

import os
import re
from pathlib import Path
from typing import get_args

import pytest

from loopcheck.fake_providers.quirks import QUIRKS
from loopcheck.fake_providers.script import DIALECTS, MODES, FaultKind, Script
from loopcheck.harness.cases import CaseSpec, expand
from loopcheck.harness.scenario.compile import compile_script
from loopcheck.harness.scenario.load import CATALOGUE, load_builtin
from loopcheck.harness.scenario.model import AnyOfQuantity, AtMost, Scenario
from loopcheck.harness.scenario.show import show

SCENARIOS = load_builtin()
CASES = list(expand(SCENARIOS))


def scenario(id: str) -> Scenario:
    return next(scenario for scenario in SCENARIOS if scenario.id == id)


def test_ids_and_titles_are_unique() -> None:
    ids = [scenario.id for scenario in SCENARIOS]

    files = {scenario.id.partition("@")[0] for scenario in SCENARIOS}
    assert len(ids) == len(set(ids))
    assert len({scenario.title for scenario in SCENARIOS}) == len(files) >= 115


def test_every_file_of_the_catalogue_is_a_scenario() -> None:
    files = [path for path in CATALOGUE.rglob("*") if path.is_file() and path.parent != CATALOGUE]

    assert {path.suffix for path in files} == {".yaml"}
    assert len(files) == len({scenario.id.partition("@")[0] for scenario in SCENARIOS})


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.id)
def test_every_scenario_compiles_for_every_dialect_and_mode(scenario: Scenario) -> None:
    for dialect in DIALECTS:
        for mode in MODES:
            script = compile_script(scenario, dialect, mode)
            assert isinstance(script, Script)
            assert len(script.turns) == len(scenario.turns)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_fault_of_every_case_can_strike(case: CaseSpec) -> None:
    assert "cannot be played" not in show(case.scenario, case.dialect, case.mode)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.id)
def test_every_scenario_demands_something_and_says_it_in_sentences(scenario: Scenario) -> None:
    assert scenario.expect.must.executions is not None
    assert scenario.rule.strip().endswith(".")
    assert not scenario.title.endswith(".")


def test_every_quirk_and_every_fault_is_in_use() -> None:
    attempts = [
        attempt
        for case in CASES
        for turn in compile_script(case.scenario, case.dialect, case.mode).turns
        for attempt in turn.attempts
    ]

    assert {quirk.name for attempt in attempts for quirk in attempt.quirks} == set(QUIRKS)
    faults = {attempt.fault.kind for attempt in attempts if attempt.fault}
    assert set(get_args(FaultKind)) - faults == {"stall"}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_odd_cases_demand_only_what_is_safe(case: CaseSpec) -> None:
    """Nothing that an honest loop may fail to make of a bent stream stands under must."""
    script = compile_script(case.scenario, case.dialect, case.mode)
    if not any(attempt.quirks for turn in script.turns for attempt in turn.attempts):
        return
    for quantity in (case.scenario.expect.must.executions or {}).values():
        least = quantity.any_of[0] if isinstance(quantity, AnyOfQuantity) else quantity
        assert least == 0 or isinstance(least, AtMost)


def test_the_cut_value_is_a_value_that_was_not_meant() -> None:
    for id in (
        "truncation/trunc-length-partial-args",
        "truncation/trunc-length-partial-args-messages",
        "truncation/trunc-mislabelled-as-tool-calls",
    ):
        (call,) = compile_script(scenario(id), "chat", "stream").turns[0].calls
        assert call.arguments == '{"event":"E1","seat":1'


def test_grounds_are_known_bugs() -> None:
    shared = Path(os.environ.get("LOOPCHECK_SHARED", Path(__file__).parents[3] / "shared"))
    bugs = shared / "bugs.md"
    if not bugs.is_file():
        pytest.skip(f"the list of public bugs is not at {bugs}")
    known = set(re.findall(r"^\| (B\d{3}) \|", bugs.read_text(encoding="utf-8"), re.MULTILINE))

    assert {bug for scenario in SCENARIOS for bug in scenario.grounds} <= known


def test_every_row_of_the_plan_has_its_scenario() -> None:
    """Under its own name or as a file and its variants, in each dialect that the row names."""
    shared = Path(os.environ.get("LOOPCHECK_SHARED", Path(__file__).parents[3] / "shared"))
    plan = shared / "catalogue.md"
    if not plan.is_file():
        pytest.skip(f"the plan of the catalogue is not at {plan}")
    rows = re.findall(
        r"^\| `([\w-]+)` \| (core|extra) \| \w+ \| ([\w ]+) \|", plan.read_text(), re.MULTILINE
    )
    words = {"CC": "chat", "R": "responses", "A": "messages"}
    core = (CATALOGUE / "core.txt").read_text(encoding="utf-8").splitlines()
    for name, kind, protocols in rows:
        wanted = set(DIALECTS) if protocols == "any" else {words[p] for p in protocols.split()}
        # Streams that only messages can carry have a file of their own.
        found = [case for case in CASES if re.match(rf".*/{name}(-messages)?[@\[]", case.id)]
        assert wanted <= {case.dialect for case in found}, name
        if kind == "core":
            assert {case.scenario.id.partition("@")[0] for case in found} <= {*core}, name
    assert len(rows) == 109
