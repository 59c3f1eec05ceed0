"""The words in which every rendering tells of a matrix."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from loopcheck.harness.results import Verdict
from loopcheck.reports.diff_wording import fails_now, move, side
from loopcheck.reports.difference import Kind, PackageChange
from loopcheck.reports.matrix_report import Cell, Comparison, Drift, MatrixReport, Upgrade
from loopcheck.reports.verdicts import SIGNS, count

TOLD: Final[tuple[Kind, ...]] = ("regressed", "differently", "could not run", "fixed")
_SHORT: Final[dict[Kind, str]] = {
    "regressed": "regressed",
    "differently": "failing differently",
    "could not run": "could not run",
    "fixed": "fixed",
    "added": "added",
    "gone": "gone",
    "unchanged": "unchanged",
}
MOST_PACKAGES: Final = 3


def word(kind: Kind) -> str:
    """The kind of a change, in a sentence."""
    return _SHORT[kind]


def outcome(cell: Cell) -> str:
    """What the cell came to, in a few words."""
    if cell.status == "ran":
        told = [f"{n} {SIGNS[v].word}" for v, n in sorted(cell.verdicts.items(), key=_rank) if n]
        return ", ".join(told) or "no case"
    said = cell.trouble.message if cell.trouble is not None else ""
    some = f" after {count(cell.cases, 'case')}" if cell.cases else ""
    return f"{cell.status.upper()}{some}: {said}"


def _rank(item: tuple[str, int]) -> int:
    return list(SIGNS).index(item[0])


def by_target(comparison: Comparison) -> str:
    """How many targets became what; regressed, fixed and unchanged also where there is none."""
    always: tuple[Kind, ...] = ("regressed", "fixed", "unchanged")
    shown: list[Kind] = [kind for kind in _SHORT if comparison.of(kind) or kind in always]
    return ", ".join(f"{len(comparison.of(kind))} {word(kind)}" for kind in shown)


def by_case(comparison: Comparison) -> str:
    """The same for cases."""
    always: tuple[Kind, ...] = ("regressed", "fixed", "unchanged")
    shown: list[Kind] = [kind for kind in _SHORT if comparison.counts[kind] or kind in always]
    return ", ".join(f"{comparison.counts[kind]} {word(kind)}" for kind in shown)


def headline(report: MatrixReport) -> str:
    """What there is to know before anything else."""
    parts = []
    for kind in TOLD:
        found = {target for one in report.comparisons for target in one.of(kind)}
        if found:
            parts.append(f"{count(len(found), 'target')} {word(kind)}")
    alone = [cell for cell in report.cells if cell.status != "ran"]
    if not report.comparisons:
        return f"{count(len(alone), 'cell')} broken" if alone else "every cell ran"
    return ", ".join(parts) or "nothing changed for better or worse"


def told(upgrade: Upgrade, comparison: Comparison, *, arrow: str = "->") -> dict[str, str]:
    """What was and what is, by the names of the sets, and what is behind it."""
    change = upgrade.change
    rows = {
        comparison.base: _side(change.before, change.was),
        comparison.head: _side(change.after, change.now),
        "expected": change.expected if fails_now(change) else "",
        "moved": move(change),
        "cause": behind(upgrade, comparison, arrow=arrow),
    }
    return {name: text for name, text in rows.items() if text}


def _side(verdict: Verdict | None, text: str) -> str:
    """What one of the sets has of the case; no verdict where it could not be run."""
    return side(verdict, text) if verdict is not None else text or "not run"


def version(change: PackageChange, *, arrow: str = "->") -> str:
    """A package and its versions."""
    return f"{change.package} {change.before or 'absent'} {arrow} {change.after or 'absent'}"


def behind(upgrade: Upgrade, comparison: Comparison, *, arrow: str = "->") -> str:
    """What is behind a change: the package where it is the only one, else those that it can be."""
    if upgrade.package is not None:
        return f"by {version(upgrade.package, arrow=arrow)}"
    changed = [one for one in comparison.packages if one.target == upgrade.change.target]
    is_by_packages = upgrade.change.kind in ("regressed", "differently", "fixed")
    return among(changed, arrow=arrow) if changed and is_by_packages else ""


def among(changed: Sequence[PackageChange], *, arrow: str = "->") -> str:
    """The packages that a change may come from, when there are several."""
    told = [version(one, arrow=arrow) for one in _telling(changed)[:MOST_PACKAGES]]
    left = len(changed) - len(told)
    more = f" and {left} more" if left else ""
    return f"one of {count(len(changed), 'package')} is behind it: {', '.join(told)}{more}"


def _telling(changed: Iterable[PackageChange]) -> list[PackageChange]:
    """Packages that both sets have first: they were changed, the others came or went with them."""
    return sorted(changed, key=lambda one: one.before is None or one.after is None)


def drifted(drift: Drift, *, arrow: str = "->") -> str:
    """One difference of the requests."""
    before, after = drift.before, drift.after
    if drift.kind == "retries":
        return f"after {drift.name}: {before} {arrow} {after}"
    if before is not None and before.startswith(f"{drift.name}: "):
        return f"{before} {arrow} {after}"
    if before is None or after is None:
        sign, value = ("+", after) if before is None else ("-", before)
        told = "" if drift.kind == "endpoint" or value == "…" else f" {value}"
        return f"{sign} {drift.name}{told}"
    return f"{drift.name}: {before} {arrow} {after}"


def where(drift: Drift) -> str:
    """In how much of the matrix it is seen."""
    names = drift.targets
    targets = ", ".join(names) if len(names) <= MOST_PACKAGES else count(len(names), "target")
    turn = f" from turn {drift.first_turn}" if (drift.first_turn or 1) > 1 else ""
    cause = f"; {version(drift.package)}" if drift.package is not None else ""
    return f"{targets}, {', '.join(drift.dialects)}{turn}; {count(drift.cases, 'case')}{cause}"


def retries(comparison: Comparison) -> str:
    """The attempts that are the same under both sets."""
    by_number: dict[int, list[str]] = {}
    for why, number in comparison.retries.items():
        by_number.setdefault(number, []).append(why)
    told = [f"{n} attempts on {', '.join(whys)}" for n, whys in sorted(by_number.items())]
    return f"unchanged ({'; '.join(told)})" if told else ""
