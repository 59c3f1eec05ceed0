"""`loopcheck matrix`: targets under several sets of dependencies, side by side."""

from __future__ import annotations

import os
import shlex
import sys
import time
from argparse import Namespace
from collections.abc import Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from urllib.parse import quote

from loopcheck.fake_providers.script import DIALECTS
from loopcheck.harness import expected
from loopcheck.harness.cli.leniency import rules_left_out
from loopcheck.harness.cli.matrix_arguments import PLACES
from loopcheck.harness.cli.matrix_document import Swept, document
from loopcheck.harness.cli.matrix_executor import at_a_time, executor_for
from loopcheck.harness.cli.matrix_rendering import rendered
from loopcheck.harness.cli.matrix_request import requested
from loopcheck.harness.cli.rendering import check_paths, write
from loopcheck.harness.config import find
from loopcheck.harness.exit_code import exit_code
from loopcheck.harness.footer import footer
from loopcheck.harness.matrix.cells import Setting, Workshop
from loopcheck.harness.matrix.plan import Matrix, PlannedTarget
from loopcheck.harness.matrix.results import CellResult
from loopcheck.harness.matrix.storage import ignored, told, write_whole
from loopcheck.harness.matrix.sweep import sweep
from loopcheck.harness.scoring import scored_target
from loopcheck.reports import json_report, matrix_terminal
from loopcheck.reports.matrix_comparison import summary


def run(options: Namespace) -> int:
    """Runs every cell that was not run before, and prints and writes what came of all."""
    started, clock = datetime.now(UTC), time.perf_counter()
    matrix = requested(options, find(Path.cwd()))
    lenient = tuple(sorted(rules_left_out(options.lenient, DIALECTS)))
    check_paths([path for _, path in options.report], "--report")
    setting = Setting(
        seed=options.seed,
        lenient=lenient,
        case_seconds=options.case_seconds,
        anew=options.upgrade,
    )
    cells = _run_all(Workshop(matrix, setting, note=_note), options)
    swept = Swept(
        seed=options.seed,
        lenient=lenient,
        started=started,
        seconds=time.perf_counter() - clock,
        command=_command(options),
    )
    made = document(matrix, cells, swept)
    print(matrix_terminal.closing(made), end="", flush=True)
    write({path: rendered(kind, made) for kind, path in options.report}, "--report")
    return made.footer.exit_code


def _run_all(workshop: Workshop, options: Namespace) -> list[CellResult]:
    """The results of all cells, in the order of the matrix, each told as it is there."""
    matrix = workshop.matrix
    places = [(target.name, one.name) for target, one in matrix.cells()]
    jobs = at_a_time(options, len(places))
    print(matrix_terminal.opening(len(matrix.targets), len(matrix.sets), jobs), flush=True)
    widths = (max(len(target) for target, _ in places), max(len(one) for _, one in places))
    lists = _lists(matrix, options)
    planned = {target.name: target for target in matrix.targets}
    found: dict[tuple[str, str], CellResult] = {}
    with executor_for(workshop, options, jobs) as executor:
        try:
            for result in sweep(workshop, executor):
                counting = _counting(result, planned[result.target], workshop)
                cell = _judged(counting, lists[result.target], workshop.folder)
                found[cell.target, cell.dependency_set] = cell
                line = matrix_terminal.cell_line(
                    summary(cell), len(found), len(places), widths=widths
                )
                print(line, flush=True)
        except KeyboardInterrupt:
            _note(
                f"{len(found)} of {len(places)} cells are finished; what was measured is kept, "
                "and the same command goes on with the rest"
            )
            raise
    return [found[place] for place in places]


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


def _judged(cell: CellResult, listed: expected.Expected, folder: Path) -> CellResult:
    """The cell in the light of the known failures, its own report written."""
    if cell.report is None:
        return cell
    targets = tuple(
        expected.apply_to_target(target, listed, today=date.today())
        for target in cell.report.targets
    )
    counts = footer(targets, exit_code=exit_code(targets), seconds=cell.report.footer.seconds)
    report = cell.report.model_copy(update={"targets": targets, "footer": counts})
    name = f"{quote(cell.target, safe='')}.{quote(cell.dependency_set, safe='')}.json"
    path = folder / "reports" / name
    judged = cell.model_copy(update={"report": report})
    try:
        ignored(path.parent)
        write_whole(path, json_report.dump(report))
    except OSError as error:
        _note(told(error))
        return judged
    return judged.model_copy(update={"report_file": os.path.relpath(path)})


def _note(text: str) -> None:
    print(f"loopcheck: {text}", file=sys.stderr, flush=True)


def _command(options: Namespace) -> str:
    """What runs the same again."""
    words = ["loopcheck", "matrix", *([str(options.file)] if options.file else [])]
    for name in ("target", "set", "only", "scenario", "lenient"):
        for value in getattr(options, name):
            words += [f"--{name}", value]
    words += ["--only-present"] if options.only_present else []
    words += ["--compare", options.compare] if options.compare else []
    words += ["--seed", str(options.seed)] if options.seed else []
    words += ["--on", options.on] if options.on != PLACES[0] else []
    return shlex.join(words)
