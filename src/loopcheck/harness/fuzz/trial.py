"""A target that is run through case after case, with all that is made once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from loopcheck.harness.cases import CaseSpec, expand
from loopcheck.harness.journal import Entry
from loopcheck.harness.judge import judge
from loopcheck.harness.results import CaseResult, TargetCard
from loopcheck.harness.runner import Driver, RunOptions, Skipped, declared, play, undeclared
from loopcheck.harness.scenario.model import Scenario
from loopcheck.harness.session import session
from loopcheck.harness.stage import Stage
from loopcheck.harness.target import Target


@dataclass(frozen=True, slots=True)
class Ran:
    """A case that was run, with its verdict and its journal."""

    spec: CaseSpec
    result: CaseResult
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A driver with its card on a stage. `heard` is told of every case that was run."""

    driver: Driver
    card: TargetCard
    stage: Stage
    options: RunOptions = field(default_factory=RunOptions)
    heard: Callable[[Ran], None] = lambda ran: None

    def run(self, spec: CaseSpec) -> Ran | None:
        """The case, run and judged; None where the target does not declare what it needs."""
        if undeclared(spec, self.card.can, has_process=self.driver.has_process):
            return None
        try:
            entries, _ = play(self.driver, self.card, spec, self.stage, self.options)
        except Skipped:
            return None
        result = judge(entries, spec, frozenset(self.card.can), self.card.limit_unit)
        ran = Ran(spec, result, entries)
        self.heard(ran)
        return ran

    def specs(self, what: Scenario | CaseSpec) -> list[CaseSpec]:
        """The cases of it that the target speaks."""
        return declared([what] if isinstance(what, CaseSpec) else expand([what]), self.card)

    def runs(self, what: Scenario | CaseSpec) -> Iterator[Ran]:
        """Each of these cases, run."""
        for spec in self.specs(what):
            ran = self.run(spec)
            if ran is not None:
                yield ran


On: TypeAlias = Target | Trial


def trial_of(on: On) -> Trial:
    """The target on the stage of this test session, or the trial as it is."""
    if isinstance(on, Trial):
        return on
    here = session()
    return Trial(driver=here.driver(on), card=here.card(on), stage=here.stage)
