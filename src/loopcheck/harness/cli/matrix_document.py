"""The report of a matrix as a document: cells, comparisons and, last of all, the footer."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib import metadata

from loopcheck.harness.exit_code import (
    AS_EXPECTED,
    FAILURES,
    NOTHING_RAN,
    TARGET_BROKEN,
    exit_code,
)
from loopcheck.harness.matrix.plan import Matrix
from loopcheck.harness.matrix.results import CellResult
from loopcheck.reports.matrix_comparison import summary
from loopcheck.reports.matrix_report import (
    Comparison,
    DependencySet,
    Footer,
    Header,
    MatrixReport,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Swept:
    """How a matrix was run, when, and how long it took."""

    seed: int
    lenient: tuple[str, ...]
    started: datetime
    seconds: float
    command: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What was run of a matrix: the results in their order, what is compared, what to say of it,
    and the command that finds out more."""

    matrix: Matrix
    cells: Sequence[CellResult]
    comparisons: Sequence[Comparison]
    conclusion: Sequence[str] = ()
    narrow_down: str = ""


def document(ran: Ran, swept: Swept) -> MatrixReport:
    """The whole report of this matrix."""
    matrix, cells = ran.matrix, ran.cells
    header = Header(
        loopcheck=metadata.version("loopcheck"),
        suite=matrix.suite,
        seed=swept.seed,
        lenient=swept.lenient,
        only_present=matrix.only_present,
        python=platform.python_version(),
        platform=platform.platform(),
        started=swept.started.isoformat(timespec="seconds"),
        command=swept.command,
    )
    summaries = tuple(summary(cell) for cell in cells)
    footer = Footer(
        cells=len(cells),
        cases=sum(cell.cases for cell in summaries),
        resumed=sum(cell.resumed == cell.cases > 0 for cell in summaries),
        exit_code=code(cells, ran.comparisons),
        seconds=round(swept.seconds, 3),
        narrow_down=ran.narrow_down,
    )
    sets = tuple(DependencySet(name=one.name, asked=one.asked()) for one in matrix.sets)
    return MatrixReport(
        header=header,
        sets=sets,
        cells=summaries,
        comparisons=tuple(ran.comparisons),
        footer=footer,
    )


def code(cells: Sequence[CellResult], comparisons: Sequence[Comparison]) -> int:
    """1 where something regressed; else 4 where a cell could not be put on trial, 5 where nothing
    ran, and 0. Of a single set it is what a run of each target would end with, the worst."""
    if any(comparison.counts["regressed"] for comparison in comparisons):
        return FAILURES
    if any(cell.status != "ran" for cell in cells):
        return TARGET_BROKEN
    targets = [target for cell in cells if cell.report for target in cell.report.targets]
    found = exit_code(targets)
    return found if found == NOTHING_RAN or not comparisons else AS_EXPECTED
