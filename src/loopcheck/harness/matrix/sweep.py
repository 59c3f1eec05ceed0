"""Cells of a matrix: what was measured is taken as it is, the rest is run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from loopcheck.harness.config import ConfigError
from loopcheck.harness.matrix.cell import Cell
from loopcheck.harness.matrix.cells import Workshop
from loopcheck.harness.matrix.executor import Executor
from loopcheck.harness.matrix.kept import Kept
from loopcheck.harness.matrix.plan import DependencySet, PlannedTarget
from loopcheck.harness.matrix.results import CellResult, Trouble
from loopcheck.harness.matrix.storage import told
from loopcheck.harness.scenario.errors import ScenarioError


def sweep(
    workshop: Workshop,
    executor: Executor,
    places: Iterable[tuple[PlannedTarget, DependencySet]],
) -> Iterator[CellResult]:
    """The result of each of these cells, as it is there. Cells that ask for the same are run
    once."""
    alike: dict[str, list[Cell]] = {}
    for target, dependencies in places:
        cell = _cell(workshop, target, dependencies)
        if isinstance(cell, CellResult):
            yield cell
            continue
        kept = Kept(Path(cell.folder)).result()
        if kept is not None and kept.key == cell.key:
            yield renamed(kept, cell, is_kept=True)
        elif cell.key in alike:
            alike[cell.key].append(cell)
        else:
            alike[cell.key] = [cell]
            executor.submit(cell)
    for result in executor.finished():
        for cell in alike[result.key]:
            yield renamed(result, cell)


def renamed(result: CellResult, cell: Cell, *, is_kept: bool = False) -> CellResult:
    """A result as that of this cell, which asks for the same; `is_kept` where it was there."""
    update: dict[str, object] = {
        "target": cell.target,
        "dependency_set": cell.dependency_set,
        "report": _as(cell, result),
    }
    if is_kept:
        cases = sum(len(one.cases) for one in result.report.targets) if result.report else 0
        update |= {"environment_seconds": None, "resumed": cases}
    return result.model_copy(update=update)


def _as(cell: Cell, result: CellResult) -> object:
    if result.report is None:
        return None
    targets = tuple(
        one.model_copy(update={"card": one.card.model_copy(update={"name": cell.target})})
        for one in result.report.targets
    )
    return result.report.model_copy(update={"targets": targets})


def _cell(
    workshop: Workshop, target: PlannedTarget, dependencies: DependencySet
) -> Cell | CellResult:
    """The cell; its result where it cannot be run. The others go on."""
    try:
        return workshop.cell(target, dependencies)
    except (ScenarioError, ConfigError) as error:
        message = str(error)
    except OSError as error:
        message = told(error)
    return CellResult(
        target=target.name,
        dependency_set=dependencies.name,
        key="",
        status="not finished",
        trouble=Trouble(message=message),
    )
