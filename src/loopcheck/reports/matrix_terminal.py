"""A matrix as text: a line for each cell as it ends, and then the sets side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from loopcheck.reports.diff_wording import titled
from loopcheck.reports.inert import inert
from loopcheck.reports.matrix_report import Cell, Comparison, MatrixReport, Upgrade
from loopcheck.reports.matrix_wording import (
    TOLD,
    by_case,
    by_target,
    drifted,
    headline,
    retries,
    told,
    where,
)
from loopcheck.reports.matrix_wording import outcome as outcome_of
from loopcheck.reports.verdicts import count

_INDENT: Final = " " * 17
MOST_DRIFT: Final = 30
_TIMES: Final = "\u00d7"


def opening(targets: int, sets: int, jobs: int) -> str:
    """What is about to be run."""
    cells = targets * sets
    return (
        f"{count(targets, 'target')} {_TIMES} {count(sets, 'set')} = {count(cells, 'cell')}, "
        f"{jobs} at a time"
    )


def cell_line(
    cell: Cell, number: int, of: int | None = None, *, widths: tuple[int, int] = (0, 0)
) -> str:
    """One cell, as it ended; `of` how many, where that is known."""
    place = f"[{number:>2}]" if of is None else f"[{number:>{len(str(of))}}/{of}]"
    name = f"{inert(cell.target):<{widths[0]}}  {inert(cell.dependency_set):<{widths[1]}}"
    if cell.status == "cannot install":
        return f"{place} {name}  {inert(outcome_of(cell), longest=400)}; nothing was run"
    made = cell.environment_seconds
    environment = "env cached" if made is None else f"env {made:.1f} s"
    seconds = "resumed" if cell.resumed and cell.resumed == cell.cases else f"{cell.seconds:.1f} s"
    told = inert(outcome_of(cell), longest=400)
    return f"{place} {name}  {environment:<11} {cell.cases:>4} cases  {seconds:>8}  {told}"


def render(report: MatrixReport) -> str:
    """The whole matrix, as the run itself printed it."""
    cells = report.cells
    widths = (
        max((len(cell.target) for cell in cells), default=0),
        max((len(cell.dependency_set) for cell in cells), default=0),
    )
    lines = [
        cell_line(cell, number, len(cells), widths=widths) for number, cell in enumerate(cells, 1)
    ]
    return "\n".join(lines) + "\n" + closing(report)


def closing(report: MatrixReport, *, conclusion: Iterable[str] = ()) -> str:
    """What is printed below the cells; the `conclusion` before the last words."""
    footer = report.footer
    lines = [f"{footer.cells} cells in {_time(footer.seconds)}, {footer.resumed} resumed"]
    lines += list(_troubles(report))
    for comparison in report.comparisons:
        lines += ["", *_compared(comparison)]
    lines += ["", *conclusion, f"{headline(report)}    exit {footer.exit_code}"]
    if footer.narrow_down:
        lines.append(f"Narrow one down: {inert(footer.narrow_down, longest=3000)}")
    return "\n".join(lines) + "\n"


def _time(seconds: float) -> str:
    minutes, rest = divmod(seconds, 60)
    return f"{minutes:.0f} min {rest:.0f} s" if minutes else f"{rest:.1f} s"


def _troubles(report: MatrixReport) -> Iterator[str]:
    """The cells that have no results, or not all, with package and line."""
    for cell in report.cells:
        if cell.trouble is None:
            continue
        package = f"   {cell.trouble.package}" if cell.trouble.package else ""
        place = f"   {cell.trouble.place}" if cell.trouble.place else ""
        name = f"{inert(cell.target)}   {inert(cell.dependency_set)}"
        yield f"  {cell.status:<25}{name}{inert(package)}{inert(place)}"
        yield f"{_INDENT}{inert(cell.trouble.message, longest=400)}"


def _compared(comparison: Comparison) -> Iterator[str]:
    base, head = inert(comparison.base), inert(comparison.head)
    yield f"{base} -> {head}     targets: {by_target(comparison)}"
    yield f"{' ' * len(f'{base} -> {head}')}     cases: {by_case(comparison)}"
    for kind in TOLD:
        for upgrade in comparison.changes:
            if upgrade.change.kind == kind:
                yield from _upgrade(upgrade, comparison)
    yield from _drift(comparison)


def _upgrade(upgrade: Upgrade, comparison: Comparison) -> Iterator[str]:
    change = upgrade.change
    more = f" and {len(change.same_in)} more like it" if change.same_in else ""
    check = f"   {inert(change.check)}" if change.check else ""
    yield f"  {change.kind:<15}{inert(change.target)}   {inert(titled(change))}{more}{check}"
    rows = told(upgrade, comparison)
    width = max(map(len, rows), default=0)
    for name, text in rows.items():
        yield f"{_INDENT}{inert(name):<{width}}  {inert(text, longest=400)}"


def _drift(comparison: Comparison) -> Iterator[str]:
    names = {target for drift in comparison.drift for target in drift.targets}
    if not comparison.drift and not comparison.versioned:
        if comparison.compared:
            yield "request drift: none, the same script is sent the same requests"
        return
    yield f"request drift, same script (in {count(len(names), 'target')})"
    for drift in comparison.drift[:MOST_DRIFT]:
        yield f"  {drift.kind:<9}{inert(drifted(drift), longest=300)}   [{inert(where(drift))}]"
    left = len(comparison.drift) - MOST_DRIFT
    if left > 0:
        yield f"  and {left} more; the JSON report has them all"
    if comparison.versioned:
        yield f"  version  named anew in {inert(', '.join(comparison.versioned))}"
    same = retries(comparison)
    if same and not any(drift.kind == "retries" for drift in comparison.drift):
        yield f"  retries  {same}"
