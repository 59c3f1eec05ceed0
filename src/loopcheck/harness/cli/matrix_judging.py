"""The results of cells as they count: in the suite, and in the light of the known failures."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Callable, Mapping
from datetime import date
from urllib.parse import quote

from loopcheck.harness import expected
from loopcheck.harness.exit_code import exit_code
from loopcheck.harness.footer import footer
from loopcheck.harness.matrix.cells import Workshop
from loopcheck.harness.matrix.plan import Matrix, PlannedTarget
from loopcheck.harness.matrix.results import CellResult
from loopcheck.harness.matrix.storage import ignored, told, write_whole
from loopcheck.harness.scoring import scored_target
from loopcheck.reports import json_report


def judge(workshop: Workshop, options: Namespace) -> Callable[[CellResult], CellResult]:
    """What makes of a result the one that counts, and writes its own report. Raises
    ExpectedError."""
    lists = _lists(workshop.matrix, options)
    planned = {target.name: target for target in workshop.matrix.targets}

    def judged(result: CellResult) -> CellResult:
        counting = _counting(result, planned[result.target], workshop)
        return _judged(counting, lists[result.target], workshop)

    return judged


def _lists(matrix: Matrix, options: Namespace) -> Mapping[str, expected.Expected]:
    """The known failures of each target: the list that is named, else its project's."""
    if options.expected:
        named = expected.load(options.expected)
        return {target.name: named for target in matrix.targets}
    return {target.name: expected.find(target.config.root) for target in matrix.targets}


def _counting(cell: CellResult, target: PlannedTarget, workshop: Workshop) -> CellResult:
    """The cell as its cases count in the suite."""
    if cell.report is None:
        return cell
    without = workshop.left_out(target)
    targets = tuple(scored_target(one, without) for one in cell.report.targets)
    report = cell.report.model_copy(update={"targets": targets})
    return cell.model_copy(update={"report": report})


def _judged(cell: CellResult, listed: expected.Expected, workshop: Workshop) -> CellResult:
    """The cell in the light of the known failures, its own report written."""
    if cell.report is None:
        return cell
    targets = tuple(
        expected.apply_to_target(target, listed, today=date.today())
        for target in cell.report.targets
    )
    counts = footer(targets, exit_code=exit_code(targets), seconds=cell.report.footer.seconds)
    report = cell.report.model_copy(update={"targets": targets, "footer": counts})
    name = f"{quote(cell.target, safe='')}.{quote(cell.dependency_set, safe='@=')}.json"
    path = workshop.folder / "reports" / name
    judged = cell.model_copy(update={"report": report})
    try:
        ignored(path.parent)
        write_whole(path, json_report.dump(report))
    except OSError as error:
        workshop.note(told(error))
        return judged
    return judged.model_copy(update={"report_file": os.path.relpath(path)})
