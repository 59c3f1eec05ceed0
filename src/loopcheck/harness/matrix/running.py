"""Runs one cell in this process, with the target in a worker of its environment's."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from zlib import crc32

from loopcheck.fake_providers.script import DIALECTS
from loopcheck.harness.cases import CaseSpec
from loopcheck.harness.cli.document import Run, report
from loopcheck.harness.cli.leniency import rules_left_out
from loopcheck.harness.cli.trial import put_on_trial
from loopcheck.harness.exit_code import exit_code
from loopcheck.harness.journal import load
from loopcheck.harness.matrix.cell import Cell
from loopcheck.harness.matrix.chosen import chosen
from loopcheck.harness.matrix.kept import Kept
from loopcheck.harness.matrix.requests import WireLog
from loopcheck.harness.matrix.results import CellResult, CellStatus, Trouble, Wire
from loopcheck.harness.matrix.storage import told
from loopcheck.harness.matrix.troubles import broken
from loopcheck.harness.results import CaseResult, Report, TargetCard, TargetResult
from loopcheck.harness.runner import RunOptions


def run_cell(
    cell: Cell, *, measured: Callable[[CaseResult, Wire], None] = lambda case, wire: None
) -> CellResult:
    """Runs what an earlier run has not measured yet, and returns the whole. A full disk ends the
    cell, and what it has measured is returned all the same. `measured` hears of each case that
    is kept."""
    kept = Kept(Path(cell.folder))
    trial = _Trial(cell, kept, measured)
    try:
        kept.begin()
        result = trial.run()
        if result.status == "ran":
            kept.finish(result)
    except OSError as error:
        return trial.unfinished(Trouble(message=told(error)))
    return result


@dataclass(slots=True)
class _Trial:
    cell: Cell
    kept: Kept
    measured: Callable[[CaseResult, Wire], None]
    started: datetime = field(default_factory=lambda: datetime.now(UTC))
    clock: float = field(default_factory=time.perf_counter)
    cpu: float = field(default_factory=lambda: _cpu_seconds())
    card: TargetCard | None = None
    resumed: int = 0
    cases: dict[str, CaseResult] = field(default_factory=dict)
    log: WireLog = field(default_factory=WireLog)

    def run(self) -> CellResult:
        specs = chosen(self.cell.scenarios, Path(self.cell.scenarios_root))
        found, self.log = self.kept.cases()
        self.cases = {case.case: case for case in found}
        self.resumed = len(found)
        source = self.cell.source(self.cell.interpreter or sys.executable)
        setting = RunOptions(
            seed=self.cell.seed,
            lenient=rules_left_out(self.cell.lenient, DIALECTS),
            case_seconds=self.cell.case_seconds,
            journal_folder=self.kept.journals,
            needs_journals=True,
            samples=True,
        )
        left = _left(turned(specs, self.cell.key), self.cases)
        result = put_on_trial(source, left, setting, progress=self._add, started=self._began)
        ordered = [self.cases[spec.id] for spec in specs if spec.id in self.cases]
        whole = result.model_copy(update={"cases": tuple(ordered)})
        status, trouble = broken(whole, self.cell)
        return self._result(whole, status, trouble)

    def unfinished(self, trouble: Trouble) -> CellResult:
        """What there is, although it is not all."""
        card = self.card or TargetCard(name=self.cell.target)
        cases = tuple(self.cases.values())
        return self._result(TargetResult(card=card, cases=cases), "not finished", trouble)

    def _began(self, card: TargetCard) -> None:
        self.card = card.model_copy(update={"name": self.cell.target})

    def _add(self, case: CaseResult) -> None:
        one = WireLog()
        if case.journal is not None:
            with suppress(OSError):
                one.add(case.case, case.dialect, load(Path(case.journal)))
        wire = one.wire()
        self.cases[case.case] = case
        self.log.take(wire, cases=frozenset({case.case}))
        self.kept.add(case, wire)
        self.measured(case, wire)

    def _result(
        self, target: TargetResult, status: CellStatus, trouble: Trouble | None
    ) -> CellResult:
        seconds = time.perf_counter() - self.clock
        return CellResult(
            target=self.cell.target,
            dependency_set=self.cell.dependency_set,
            key=self.cell.key,
            status=status,
            trouble=trouble,
            packages=self.cell.packages,
            environment=self.cell.environment,
            report=self._report(target, seconds),
            wire=self.log.wire(),
            seconds=round(seconds, 3),
            cpu_seconds=round(_cpu_seconds() - self.cpu, 3),
            resumed=self.resumed,
        )

    def _report(self, target: TargetResult, seconds: float) -> Report:
        run = Run(
            suite=self.cell.suite,
            seed=self.cell.seed,
            lenient=tuple(sorted(self.cell.lenient)),
            started=self.started,
            seconds=seconds,
        )
        made = report([target], run, exit_code([target]))
        header = made.header.model_copy(update={"packages": dict(self.cell.packages)})
        return made.model_copy(update={"header": header})


def turned(specs: Sequence[CaseSpec], key: str) -> list[CaseSpec]:
    """The cases in their order, from one on that is another for each cell. Else all cells would
    come at the same time to cases that wait, such as for an SDK's pause before it tries again, and
    the cores had nothing to do. The cases of a scenario stay together."""
    start = crc32(key.encode()) % max(len(specs), 1)
    while 0 < start < len(specs) and specs[start].scenario is specs[start - 1].scenario:
        start += 1
    return [*specs[start:], *specs[:start]]


def _left(specs: Sequence[CaseSpec], done: dict[str, CaseResult]) -> list[CaseSpec]:
    """The cases that are still to be run. A scenario that ends processes is run in one dialect and
    mode, so that one of its cases stands for all."""
    sampled = {spec.scenario.id for spec in specs if spec.id in done and spec.scenario.kills}
    return [spec for spec in specs if spec.id not in done and spec.scenario.id not in sampled]


def _cpu_seconds() -> float:
    """What this process and those that it has seen end have used."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
