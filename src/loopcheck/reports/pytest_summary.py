"""The section that a pytest run ends with, from what the reports of its tests carry along."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from loopcheck.reports.inert import inert

PROPERTY: Final = "loopcheck"
_ALWAYS: Final = ("pass", "fail", "should", "expected", "policy", "not declared")
_WORDS: Final = {
    "fail": "FAIL (must)",
    "policy": "by policy",
    "target broken": "BROKEN",
    "harness error": "HARNESS ERROR",
}


@dataclass(slots=True)
class _Tally:
    """What was seen of one target."""

    verdicts: Counter[str] = field(default_factory=Counter)
    should: int = 0
    packages: dict[str, str] = field(default_factory=dict)

    def add(self, said: Mapping[object, object]) -> None:
        self.verdicts[str(said.get("verdict"))] += 1
        should, packages = said.get("should"), said.get("packages")
        self.should += should if isinstance(should, int) else 0
        if isinstance(packages, dict):
            self.packages |= {str(name): str(version) for name, version in packages.items()}

    def lines(self, target: str) -> list[str]:
        numbers = {**self.verdicts, "should": self.should}
        words = dict.fromkeys((*_ALWAYS, *self.verdicts))
        counts = ", ".join(f"{numbers.get(word, 0)} {_WORDS.get(word, word)}" for word in words)
        cases = self.verdicts.total()
        versions = ", ".join(f"{name} {version}" for name, version in self.packages.items())
        return [
            inert(f"{target} ({versions})" if versions else target),
            f"  {cases} {'case' if cases == 1 else 'cases'}: {inert(counts)}",
        ]


def summary(properties: Iterable[tuple[str, object]]) -> tuple[str, list[str]]:
    """The section's title and its lines, two for each target.

    Each property named `loopcheck` is a mapping with target, case, verdict, number of findings
    under should, suite and package versions; any other is passed over.
    """
    tallies: dict[str, _Tally] = {}
    suites: dict[str, None] = {}
    for name, said in properties:
        if name == PROPERTY and isinstance(said, dict):
            tallies.setdefault(str(said.get("target")), _Tally()).add(said)
            suites[str(said.get("suite"))] = None
    title = f"loopcheck, suite {inert(', '.join(suites))}"
    return title, [line for target, tally in tallies.items() for line in tally.lines(target)]
