"""The cases that show a broken property when they are run alone."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Final

from loopcheck.harness.cases import CaseSpec
from loopcheck.harness.fuzz.observed import NO_TOKEN, Observed
from loopcheck.harness.scenario.errors import ScenarioError
from loopcheck.harness.scenario.expectations import Expect, ExpectLevel, Quantity, Result
from loopcheck.harness.scenario.load import load_text
from loopcheck.harness.scenario.model import AttemptModel, Scenario
from loopcheck.harness.scenario.write import write

_NAME: Final = "generated"


def narrowed(spec: CaseSpec) -> CaseSpec:
    """The case as the only one of its scenario."""
    update = {"dialects": (spec.dialect,), "modes": (spec.mode,), "variants": {}}
    return replace(spec, scenario=spec.scenario.model_copy(update=update))


def retried(spec: CaseSpec, turn: int, fault: AttemptModel) -> CaseSpec:
    """The case in which the first request for this turn fails."""
    scenario = spec.scenario
    failing = scenario.turns[turn - 1]
    attempts = (fault, *failing.attempts)
    entries = tuple(
        entry.model_copy(update={"attempts": attempts}) if entry is failing else entry
        for entry in scenario.entries
    )
    return replace(spec, scenario=scenario.model_copy(update={"entries": entries}))


def expecting(spec: CaseSpec, before: Observed) -> CaseSpec:
    """The case, narrowed, with what the loop did before as what it has to do; without it where
    the format lets no scenario demand that much."""
    spec = narrowed(spec)
    counts = Counter(name.partition(" ")[0] for name in before.executions.elements())
    executions: dict[str, Quantity] = dict(sorted(counts.items()))
    results: dict[str, Result] = {
        label: "own" for label, told in before.told.items() if told and NO_TOKEN not in told
    }
    must = ExpectLevel(executions=executions, results=results, outcome=before.state)
    scenario = spec.scenario.model_copy(update={"expect": Expect(must=must)})
    return replace(spec, scenario=scenario) if is_clean(scenario) else spec


def is_clean(scenario: Scenario) -> bool:
    """Whether the scenario can be kept as a file: the linter has nothing against it."""
    try:
        load_text(write(scenario).encode(), file=_NAME, id=_NAME)
    except ScenarioError:
        return False
    return True
