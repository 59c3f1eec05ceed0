"""`loopcheck matrix`: targets under several sets of dependencies, side by side."""

from __future__ import annotations

import sys
import time
from argparse import Namespace
from datetime import UTC, datetime
from pathlib import Path

from loopcheck.fake_providers.script import DIALECTS
from loopcheck.harness.cli import matrix_bisect
from loopcheck.harness.cli.leniency import rules_left_out
from loopcheck.harness.cli.matrix_command import command
from loopcheck.harness.cli.matrix_document import Ran, Swept, document
from loopcheck.harness.cli.matrix_executor import at_a_time, executor_for
from loopcheck.harness.cli.matrix_hint import narrower
from loopcheck.harness.cli.matrix_judging import judge
from loopcheck.harness.cli.matrix_rendering import rendered
from loopcheck.harness.cli.matrix_request import requested
from loopcheck.harness.cli.rendering import check_paths, write
from loopcheck.harness.config import find
from loopcheck.harness.matrix.cells import Setting, Workshop
from loopcheck.harness.matrix.results import CellResult
from loopcheck.harness.matrix.sweep import sweep
from loopcheck.reports import matrix_terminal
from loopcheck.reports.matrix_comparison import compare, summary


def run(options: Namespace) -> int:
    """Runs every cell that was not run before, and prints and writes what came of all."""
    started, clock = datetime.now(UTC), time.perf_counter()
    lenient = tuple(sorted(rules_left_out(options.lenient, DIALECTS)))
    check_paths([path for _, path in options.report], "--report")
    setting = Setting(
        seed=options.seed,
        lenient=lenient,
        case_seconds=options.case_seconds,
        anew=options.upgrade,
    )
    ran = _bisected(setting, options) if options.bisect else _run(setting, options)
    swept = Swept(
        seed=options.seed,
        lenient=lenient,
        started=started,
        seconds=time.perf_counter() - clock,
        command=command(options),
    )
    made = document(ran, swept)
    print(matrix_terminal.closing(made, conclusion=ran.conclusion), end="", flush=True)
    write({path: rendered(kind, made) for kind, path in options.report}, "--report")
    return made.footer.exit_code


def _bisected(setting: Setting, options: Namespace) -> Ran:
    wanted = matrix_bisect.asked(options)
    matrix = matrix_bisect.loosened(requested(options, find(Path.cwd())), wanted)
    return matrix_bisect.run(Workshop(matrix, setting, note=_note), wanted, options)


def _run(setting: Setting, options: Namespace) -> Ran:
    matrix = requested(options, find(Path.cwd()))
    cells = _run_all(Workshop(matrix, setting, note=_note), options)
    comparisons = [compare(cells, base, head) for base, head in matrix.pairs]
    narrow_down = narrower(matrix, comparisons, options)
    return Ran(matrix=matrix, cells=cells, comparisons=comparisons, narrow_down=narrow_down)


def _run_all(workshop: Workshop, options: Namespace) -> list[CellResult]:
    """The results of all cells, in the order of the matrix, each told as it is there."""
    matrix = workshop.matrix
    places = [(target.name, one.name) for target, one in matrix.cells()]
    jobs = at_a_time(options, len(places))
    print(matrix_terminal.opening(len(matrix.targets), len(matrix.sets), jobs), flush=True)
    widths = (max(len(target) for target, _ in places), max(len(one) for _, one in places))
    judged = judge(workshop, options)
    found: dict[tuple[str, str], CellResult] = {}
    with executor_for(workshop, options, jobs) as executor:
        try:
            for result in sweep(workshop, executor, matrix.cells()):
                cell = judged(result)
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


def _note(text: str) -> None:
    print(f"loopcheck: {text}", file=sys.stderr, flush=True)
