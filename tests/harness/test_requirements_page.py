"""docs/requirements.md comes from a real run: parts of it are run again here, all on request."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from loopcheck.harness.cases import expand
from loopcheck.harness.checks import CHECKS
from loopcheck.harness.cli import main, requirements_page
from loopcheck.harness.inprocess import InProcess
from loopcheck.harness.runner import RunOptions, run_case
from loopcheck.harness.scenario.load import load_builtin
from loopcheck.harness.scenario.model import Scenario
from loopcheck.harness.selftest.trial import LIARS
from loopcheck.harness.stage import Stage
from loopcheck.harness.targets.reference import reference
from loopcheck.reports.markdown_text import table
from loopcheck.reports.requirements import scenario_row

PAGE = (Path(__file__).parents[2] / "docs" / "requirements.md").read_text(encoding="utf-8")
LINES = PAGE.splitlines()
SCENARIOS = load_builtin()
# One scenario in some: those of a few classes, some in every dialect.
SAMPLE = [one for one in SCENARIOS if not one.kills][5::20]
REMEDY = (
    "make it anew: loopcheck run builtin:all --target reference --report json:run.json; "
    "python -m loopcheck.harness.cli.requirements_page run.json > docs/requirements.md"
)


def row(name: str) -> str:
    found = [line for line in LINES if line.startswith(f"| `{name}` |")]
    assert len(found) == 1, f"{name}: {REMEDY}"
    return found[0]


def test_every_scenario_and_every_check_has_its_row() -> None:
    for scenario in SCENARIOS:
        assert row(scenario.id).endswith(" pass |"), REMEDY
    for check in CHECKS:
        cells = row(check.id).split(" | ")
        assert cells[2] != "0 scenarios, 0 cases"
        assert cells[4].rstrip(" |"), f"no liar trips {check.id}"
    rows = [line for line in LINES if line.startswith("| `")]
    assert len(rows) == len(SCENARIOS) + len(CHECKS), REMEDY


@pytest.fixture(scope="module")
def stage() -> object:
    with Stage() as opened:
        yield opened


@pytest.mark.parametrize("scenario", SAMPLE, ids=lambda scenario: scenario.id)
def test_a_row_is_what_a_run_says(scenario: Scenario, stage: Stage) -> None:
    with InProcess(reference) as driver:
        card = reference.card()
        results = [run_case(driver, card, spec, stage, RunOptions()) for spec in expand([scenario])]

    (_, _, said) = table([""] * 4, [scenario_row(scenario.id, results)])
    assert row(scenario.id) == said, REMEDY


def test_the_liars_are_found_out_by_the_checks_that_are_named() -> None:
    some = LIARS[::6]
    found = requirements_page.tripped(some)

    named = {
        name: check.id
        for check in CHECKS
        for name in row(check.id).split(" | ")[4].rstrip(" |").split(", ")
    }
    assert {liar.name: liar.check for liar in LIARS} == named, REMEDY
    assert {name: check for check, names in found.items() for name in names} == {
        liar.name: liar.check for liar in some
    }


@pytest.mark.slow
@pytest.mark.skipif("LOOPCHECK_LONG" not in os.environ, reason="LOOPCHECK_LONG=1 runs it all")
def test_the_page_is_what_the_whole_run_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    wish = ["run", "builtin:all", "--target", "reference", "--report", "json:run.json"]

    assert main(wish) == 0
    assert requirements_page.page(Path("run.json")) == PAGE
