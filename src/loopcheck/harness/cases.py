"""A case: one scenario in one dialect and mode, and how it is named."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from loopcheck.fake_providers.script import DIALECTS, DialectName, Mode
from loopcheck.harness.scenario.model import Scenario


@dataclass(frozen=True, slots=True)
class CaseSpec:
    """What is run: `str()` of it is the case's id, such as `once/lost[chat-stream]`."""

    scenario: Scenario
    dialect: DialectName
    mode: Mode

    @property
    def id(self) -> str:
        return f"{self.scenario.id}[{self.dialect}-{self.mode}]"

    def __str__(self) -> str:
        return self.id


def expand(scenarios: Iterable[Scenario]) -> Iterator[CaseSpec]:
    """Every case of these scenarios, in the order of the format's dialects and modes."""
    for scenario in scenarios:
        dialects = DIALECTS if scenario.dialects == "all" else scenario.dialects
        for dialect in dialects:
            for mode in scenario.modes:
                yield CaseSpec(scenario, dialect, mode)
