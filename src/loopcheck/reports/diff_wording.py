"""The words in which every rendering tells of a comparison."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from loopcheck.harness.results import Verdict
from loopcheck.reports.difference import Change, Difference, Kind, PackageChange
from loopcheck.reports.verdicts import SIGNS, count

# Told one by one; added, gone and unchanged cases are counted.
SHOWN: Final[tuple[Kind, ...]] = ("regressed", "differently", "could not run", "fixed")
_WORDS: Final[dict[Kind, str]] = {
    "regressed": "regressed",
    "differently": "failing differently",
    "could not run": "could not run",
    "fixed": "fixed",
    "added": "added",
    "gone": "gone",
    "unchanged": "unchanged",
}


def word(kind: Kind) -> str:
    """The kind of a change, in a sentence."""
    return _WORDS[kind]


def count_line(difference: Difference) -> str:
    """How many cases of each kind; regressed and fixed also where there is none."""
    always: tuple[Kind, ...] = ("regressed", "fixed", "unchanged")
    shown: list[Kind] = [kind for kind in _WORDS if difference.counts[kind] or kind in always]
    return ", ".join(f"{difference.counts[kind]} {word(kind)}" for kind in shown)


def headline(difference: Difference) -> str:
    """What there is to know before anything else."""
    parts = [
        f"{difference.counts[kind]} {word(kind)}{_where(difference, kind)}"
        for kind in SHOWN
        if difference.counts[kind]
    ]
    return ", ".join(parts) or "nothing changed for better or worse"


def _where(difference: Difference, kind: Kind) -> str:
    targets = {change.target for change in difference.changes if change.kind == kind}
    return f" in {count(len(targets), 'target')}" if kind == "regressed" else ""


def titled(change: Change) -> str:
    """What changed: a case, or every case of a target."""
    return change.case or "every case"


def said(change: Change) -> list[str]:
    """What was and what is, each in a line of its own."""
    lines = [f"before    {side(change.before, change.was)}"]
    lines.append(f"after     {side(change.after, change.now)}")
    lines += [f"expected  {change.expected}"] if fails_now(change) and change.expected else []
    moved = move(change)
    return [*lines, *([moved] if moved else [])]


def fails_now(change: Change) -> bool:
    """Whether what the check expects is not seen after."""
    return change.kind in ("regressed", "differently", "unchanged")


def side(verdict: Verdict | None, text: str) -> str:
    """What one of the runs has of the case."""
    name = SIGNS[verdict].word if verdict is not None else "not in the run"
    return f"{name}: {text}" if text else name


def move(change: Change) -> str:
    """Where the first mismatch is now, if it is another entry of the journal."""
    before, after = change.entries
    if change.kind != "differently" or before is None or after is None or before == after:
        return ""
    return f"first mismatch moved from entry {before} to {after}"


def packages_by_change(packages: Iterable[PackageChange], *, arrow: str = "->") -> list[str]:
    """Each change of a version once, with the targets that it concerns."""
    targets: dict[str, list[str]] = {}
    for change in packages:
        names = targets.setdefault(_version_change(change, arrow), [])
        if change.target is not None:
            names.append(change.target)
    return [_with_targets(what, names) for what, names in targets.items()]


def _with_targets(what: str, names: list[str]) -> str:
    where = ", ".join(names) if len(names) <= 3 else count(len(names), "target")
    return f"{what} ({where})" if names else what


def _version_change(change: PackageChange, arrow: str) -> str:
    name = f"{change.target} itself" if change.package == "itself" else change.package
    return f"{name} {change.before or 'absent'} {arrow} {change.after or 'absent'}"
