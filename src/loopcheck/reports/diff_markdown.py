"""A comparison of two runs as a comment on a pull request: regressions first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from loopcheck.harness.results import Verdict
from loopcheck.reports.command import run_command
from loopcheck.reports.diff_wording import (
    count_line,
    headline,
    move,
    packages_by_change,
    side,
    titled,
    word,
)
from loopcheck.reports.difference import Change, Difference, Kind
from loopcheck.reports.markdown_text import code, folded, plain, table

ROWS: Final = 30
_MARKS: Final[dict[Kind, str]] = {
    "regressed": "🔴",
    "differently": "🟠",
    "could not run": "⚪",
    "fixed": "🟢",
}


def render(difference: Difference) -> str:
    """The comparison as Markdown for a comment."""
    suite = plain(difference.after.suite)
    lines = [f"### loopcheck: {headline(difference)} (suite {suite})", ""]
    for note in difference.notes:
        lines += [f"> {plain(note, longest=400)}", ""]
    loud = [c for c in difference.changes if c.kind in ("regressed", "could not run", "fixed")]
    loud.sort(key=lambda change: list(_MARKS).index(change.kind))
    if loud:
        lines += [*table(["", "target", "case", "what changed"], map(_row, loud[:ROWS])), ""]
    if len(loud) > ROWS:
        lines += [f"and {len(loud) - ROWS} more; the HTML comparison has them all", ""]
    lines += _folded("Failing differently", _of(difference, "differently"))
    lines += _folded("Still failing, unchanged", _of(difference, "unchanged"))
    changed = [
        f"- {plain(what, longest=400)}"
        for what in packages_by_change(difference.packages, arrow="→")
    ]
    if changed:
        more = [f"- and {len(changed) - 40} more"] if len(changed) > 40 else []
        lines += [*folded(f"Versions that changed: {len(changed)}", [*changed[:40], *more]), ""]
    lines.append(count_line(difference))
    lines += ["", again] if (again := _again(difference)) else []
    return "\n".join(lines) + "\n"


def _of(difference: Difference, kind: Kind) -> list[Change]:
    return [change for change in difference.changes if change.kind == kind]


def _row(change: Change) -> list[str]:
    case = f"{code(change.case)}{_more(change)}" if change.case else titled(change)
    mark = f"{_MARKS[change.kind]} {word(change.kind)}"
    return [mark, f"**{plain(change.target)}**", case, _what(change)]


def _what(change: Change) -> str:
    check = f"{code(change.check)} " if change.check else ""
    if change.kind == "unchanged":
        return f"{check}{_side(change.after, change.now)}"
    told = f"{check}{_side(change.before, change.was)} → {_side(change.after, change.now)}"
    return f"{told}, {move(change)}" if move(change) else told


def _side(verdict: Verdict | None, text: str) -> str:
    return f"{side(verdict, '')} {code(text)}" if text else side(verdict, "")


def _folded(title: str, changes: Sequence[Change]) -> list[str]:
    lines = [
        f"- {plain(change.target)} {code(titled(change))}{_more(change)}: {_what(change)}"
        for change in changes
    ]
    left = len(lines) - ROWS
    shown = [*lines[:ROWS], *([f"- and {left} more"] if left > 0 else [])]
    return [*folded(f"{title}: {len(lines)}", shown), ""] if lines else []


def _more(change: Change) -> str:
    return f" and {len(change.same_in)} more like it" if change.same_in else ""


def _again(difference: Difference) -> str:
    worse = _of(difference, "regressed")
    command = run_command(
        [change.case for change in worse if change.case],
        [change.target for change in worse],
        seed=difference.after.seed,
        lenient=difference.after.lenient,
    )
    return f"Rerun: {code(command, longest=3000)}" if worse else ""
