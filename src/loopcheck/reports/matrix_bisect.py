"""What a bisection came to, as text: a line for each release that is tried, and the first one that
is worse."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from loopcheck.reports.inert import inert
from loopcheck.reports.matrix_report import Cell, Comparison
from loopcheck.reports.matrix_terminal import cell_line
from loopcheck.reports.verdicts import count

_MOST_NAMED: Final = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrowed:
    """How far the search for one target came. `good` and `worse` are the releases that it ends
    between, `between` those that are left there; `regressed` is what regressed at `worse`, and
    `later` what regressed up to the newest release beside it; absent where nothing is worse, or it
    is not known. `go_on` finds the rest."""

    target: str
    package: str
    releases: Sequence[str]
    tried: int
    skipped: Sequence[str] = ()
    good: str = ""
    worse: str = ""
    between: Sequence[str] = ()
    untold: str = ""
    regressed: frozenset[str | None] = frozenset()
    later: frozenset[str | None] = frozenset()
    go_on: str = ""


def opening(target: str, package: str, releases: Sequence[str], rest: str) -> str:
    """Between which releases it is searched."""
    return (
        f"{inert(target)}: {inert(package)} {releases[0]}..{releases[-1]}, "
        f"{count(len(releases), 'release')}; everything else as under {inert(rest)}"
    )


def tried(cell: Cell, number: int, widths: tuple[int, int], verdict: str) -> str:
    """A release that was tried."""
    line = cell_line(cell, number, widths=widths)
    return f"{line}   {verdict}" if verdict else line


def regressions(comparison: Comparison) -> frozenset[str | None]:
    """The cases that regressed; absent stands for every case of the target."""
    return frozenset(
        case
        for upgrade in comparison.changes
        if upgrade.change.kind == "regressed"
        for case in (upgrade.change.case, *upgrade.change.same_in)
    )


def conclusion(found: Narrowed) -> Iterator[str]:
    """The first release that is worse and the last good one, or why there is none."""
    indent = " " * (len(inert(found.target)) + 2)
    lines = [*_answer(found), _effort(found)]
    for number, line in enumerate(lines):
        yield f"{indent if number else f'{inert(found.target)}: '}{line}"


def _answer(found: Narrowed) -> Iterator[str]:
    package, low, high = inert(found.package), found.releases[0], found.releases[-1]
    if found.untold:
        yield f"it cannot be told where {package} gets worse: {inert(found.untold)}"
    if found.worse and found.untold:
        yield f"so far {found.good} is good and {found.worse} is worse"
        return
    if not found.worse:
        if not found.untold:
            yield f"{package} {high} is not worse than {low}"
        return
    if found.between:
        yield (
            f"{package} {found.worse} is the first release known to be worse, {found.good} the "
            f"last good one before it; cannot be installed between them: {_named(found.between)}"
        )
    else:
        yield (
            f"{package} {found.worse} is the first release that is worse; "
            f"{found.good} is the last good one before it"
        )
    yield _extent(found)
    if found.go_on:
        yield f"find the next: {inert(found.go_on, longest=2000)}"


def _extent(found: Narrowed) -> str:
    """What regressed there, and what only later."""
    there, high = _cases(found.regressed), found.releases[-1]
    if not found.later:
        return f"{there} there" + ("" if found.worse == high else f", and nothing else by {high}")
    if None in found.regressed:
        return f"{there} there; by {high} it runs again, and {_cases(found.later)}"
    return f"{there} there; by {high} {_cases(found.later, 'more case')}"


def _cases(cases: frozenset[str | None], noun: str = "case") -> str:
    if None in cases:
        return "every case regressed"
    return f"{count(len(cases), noun)} regressed"


def _effort(found: Narrowed) -> str:
    told = f"{found.tried} of {count(len(found.releases), 'release')} tried"
    if not found.skipped:
        return told
    return f"{told}; cannot be installed: {_named(found.skipped)}"


def _named(releases: Sequence[str]) -> str:
    left = len(releases) - _MOST_NAMED
    return ", ".join(releases[:_MOST_NAMED]) + (f" and {left} more" if left > 0 else "")
