"""A comparison of two runs as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from loopcheck.reports.diff_wording import (
    SHOWN,
    count_line,
    packages_by_change,
    said,
    titled,
)
from loopcheck.reports.difference import Change, Difference
from loopcheck.reports.inert import inert

_INDENT: Final = " " * 17


def render(difference: Difference) -> str:
    """The comparison, regressions first; its last line counts."""
    lines = [f"{inert(difference.before.name)} -> {inert(difference.after.name)}"]
    lines += [f"  note: {inert(note)}" for note in difference.notes]
    for kind in SHOWN:
        lines += _told([change for change in difference.changes if change.kind == kind])
    changed = packages_by_change(difference.packages)
    if changed:
        lines += ["", "versions that changed"]
        lines += [f"  {inert(what, longest=2000)}" for what in changed]
    lines += ["", count_line(difference)]
    return "\n".join(lines) + "\n"


def _told(changes: Sequence[Change]) -> list[str]:
    lines = [""] if changes else []
    for change in changes:
        more = f" and {len(change.same_in)} more like it" if change.same_in else ""
        check = f"   {inert(change.check)}" if change.check else ""
        lines.append(
            f"  {change.kind:<15}{inert(change.target)}   {inert(titled(change))}{more}{check}"
        )
        lines += [f"{_INDENT}{inert(line)}" for line in said(change)]
    return lines
