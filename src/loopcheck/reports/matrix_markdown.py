"""A matrix as a comment on a pull request: regressions first, the rest folded away."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from loopcheck.harness.results import Verdict
from loopcheck.reports.diff_wording import move, side, titled
from loopcheck.reports.difference import Kind
from loopcheck.reports.markdown_text import code, folded, plain, table
from loopcheck.reports.matrix_report import Cell, Comparison, MatrixReport, Upgrade
from loopcheck.reports.matrix_wording import (
    behind,
    by_target,
    drifted,
    headline,
    outcome,
    retries,
    where,
    word,
)
from loopcheck.reports.verdicts import count

ROWS: Final = 30
_MARKS: Final[dict[Kind, str]] = {
    "regressed": "🔴",
    "could not run": "⚪",
    "fixed": "🟢",
}
_LONGEST: Final = 400


def render(report: MatrixReport) -> str:
    """The matrix as Markdown for a comment."""
    targets = len({cell.target for cell in report.cells})
    suite = plain(report.header.suite)
    title = f"{headline(report)} ({count(targets, 'target')}, suite {suite})"
    lines = [f"### loopcheck: {title}", ""]
    for comparison in report.comparisons:
        lines += [*_compared(comparison, alone=len(report.comparisons) == 1), ""]
    lines += [*_cells(report), ""]
    if report.header.command:
        lines.append(f"Rerun: {code(report.header.command, longest=3000)}")
    if report.footer.narrow_down:
        lines += ["", f"Narrow one down: {code(report.footer.narrow_down, longest=3000)}"]
    return "\n".join(lines) + "\n"


def _compared(comparison: Comparison, *, alone: bool) -> Iterator[str]:
    if not alone:
        base, head = plain(comparison.base), plain(comparison.head)
        yield from (f"#### {base} → {head}: {by_target(comparison)}", "")
    loud = [one for one in comparison.changes if one.change.kind in _MARKS]
    loud.sort(key=lambda one: list(_MARKS).index(one.change.kind))
    if loud:
        rows = (_row(one, comparison) for one in loud[:ROWS])
        yield from (*table(["", "target", "case", "what changed"], rows), "")
    if len(loud) > ROWS:
        yield from (f"and {len(loud) - ROWS} more; the HTML report has them all", "")
    yield from _drift(comparison)
    for kind, title in (("differently", "Failing differently"), ("unchanged", "Still failing")):
        found = [one for one in comparison.changes if one.change.kind == kind]
        lines = [f"- {_line(one, comparison)}" for one in found[:ROWS]]
        left = len(found) - ROWS
        lines += [f"- and {left} more"] if left > 0 else []
        yield from folded(f"{title}: {len(found)}", lines)


def _row(upgrade: Upgrade, comparison: Comparison) -> list[str]:
    change = upgrade.change
    more = f" and {len(change.same_in)} more like it" if change.same_in else ""
    case = f"{code(change.case)}{more}" if change.case else titled(change)
    mark = f"{_MARKS[change.kind]} {word(change.kind)}"
    return [mark, f"**{plain(change.target)}**", case, _what(upgrade, comparison)]


def _line(upgrade: Upgrade, comparison: Comparison) -> str:
    change = upgrade.change
    return f"{plain(change.target)} {code(titled(change))}: {_what(upgrade, comparison)}"


def _what(upgrade: Upgrade, comparison: Comparison) -> str:
    change = upgrade.change
    check = f"{code(change.check)} " if change.check else ""
    was, now = _side(change.before, change.was), _side(change.after, change.now)
    if change.kind == "unchanged":
        return f"{check}{now}"
    told = f"{check}{was} → {now}"
    told += f", {move(change)}" if move(change) else ""
    cause = behind(upgrade, comparison, arrow="→")
    return f"{told} ({plain(cause, longest=_LONGEST)})" if cause else told


def _side(verdict: Verdict | None, text: str) -> str:
    """What one of the sets has of the case; no verdict where it could not be run."""
    words = [side(verdict, "")] if verdict is not None else []
    return " ".join([*words, *([code(text)] if text else [])]) or "not run"


def _drift(comparison: Comparison) -> Iterator[str]:
    names = {target for drift in comparison.drift for target in drift.targets}
    lines = [
        f"- {drift.kind} {code(drifted(drift, arrow='→'), longest=_LONGEST)} "
        f"({plain(where(drift))})"
        for drift in comparison.drift[:ROWS]
    ]
    left = len(comparison.drift) - ROWS
    lines += [f"- and {left} more"] if left > 0 else []
    if comparison.versioned:
        lines.append(f"- version named anew in {plain(', '.join(comparison.versioned))}")
    same = retries(comparison)
    lines += [f"- retries {plain(same)}"] if same and lines else []
    differences = count(len(comparison.drift), "difference")
    yield from folded(f"Request drift: {differences} in {count(len(names), 'target')}", lines)


def _cells(report: MatrixReport) -> list[str]:
    rows = table(
        ["target", "set", "versions asked for", "what came of it"],
        (_cell(cell, report) for cell in report.cells[: 2 * ROWS]),
    )
    left = len(report.cells) - 2 * ROWS
    more = [f"and {left} more"] if left > 0 else []
    return folded(f"All {count(len(report.cells), 'cell')}", [*rows, *more])


def _cell(cell: Cell, report: MatrixReport) -> list[str]:
    asked = next((one.asked for one in report.sets if one.name == cell.dependency_set), ())
    trouble = cell.trouble
    place = f" {code(trouble.place)}" if trouble is not None and trouble.place else ""
    told = plain(outcome(cell), longest=_LONGEST)
    return [plain(cell.target), plain(cell.dependency_set), plain(", ".join(asked)), told + place]
