"""What a suite leaves out: scenarios of the catalogue that are newer, or changed since.

They are run like all others, shown as *unscored* with what came of them, and count for nothing.
Scenarios of the user's own always count.

    python -m loopcheck.harness.scoring > src/loopcheck/scenarios/suite-2026.1.txt

writes the file of a suite that is not yet released, or of the next one.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping

from loopcheck.harness.results import CaseResult, TargetResult
from loopcheck.harness.scenario.load import CATALOGUE, load_builtin, load_family
from loopcheck.harness.scenario.meaning import meaning
from loopcheck.harness.scenario.model import Scenario
from loopcheck.harness.suites import listed

_HEAD = """\
# The scenarios that count in this suite, each with a digest of its meaning.
# Made by python -m loopcheck.harness.scoring; never edited once it is released.
"""


def left_out(scenarios: Iterable[Scenario], suite: str) -> dict[str, str]:
    """Why scenarios of these do not count in this suite, by id; those that count are not there."""
    counting = listed(suite)
    found = {}
    for scenario in scenarios:
        if counting.get(scenario.id) == meaning(scenario) or not _is_builtin(scenario):
            continue
        since = "changed since" if scenario.id in counting else "newer than"
        found[scenario.id] = f"{since} suite {suite}"
    return found


def _is_builtin(scenario: Scenario) -> bool:
    """Whether it is the catalogue's, and not one of the user's that is called the same."""
    path = CATALOGUE / f"{scenario.id.partition('@')[0]}.yaml"
    if not path.is_file():
        return False
    mine = meaning(scenario)
    return any(
        one.id == scenario.id and meaning(one) == mine for one in load_family(path, CATALOGUE)
    )


def scored(case: CaseResult, why: str | None) -> CaseResult:
    """The case as it counts: *unscored*, with what came of it, where `why` says why it is left
    out."""
    if why is None or case.verdict == "not declared":
        return case
    return case.model_copy(update={"verdict": "unscored", "reason": f"{why}; {_came_of(case)}"})


def _came_of(case: CaseResult) -> str:
    checks = dict.fromkeys(f.check for f in case.findings if f.level == "must")
    return f"{case.verdict}: {', '.join(checks)}" if checks else case.verdict


def scored_target(target: TargetResult, without: Mapping[str, str]) -> TargetResult:
    """The target with each of its cases as it counts."""
    cases = tuple(scored(case, without.get(case.scenario)) for case in target.cases)
    return target.model_copy(update={"cases": cases})


def written(scenarios: Iterable[Scenario]) -> str:
    """The file of a suite of these scenarios."""
    return _HEAD + "".join(_lines(scenarios))


def _lines(scenarios: Iterable[Scenario]) -> Iterator[str]:
    for scenario in sorted(scenarios, key=lambda scenario: scenario.id):
        yield f"{scenario.id} {meaning(scenario)}\n"


if __name__ == "__main__":
    sys.stdout.write(written(load_builtin()))
