"""`loopcheck selftest`: the checks on trial, by loops that are known to be broken."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from typing import Final

from loopcheck.harness.checks import CHECKS
from loopcheck.harness.exit_code import AS_EXPECTED, FAILURES
from loopcheck.harness.selftest.trial import LIARS, Row, rows, untried
from loopcheck.harness.stage import Stage

_MARKS: Final = {"caught": "X", "must": "x", "should": "s", "pass": ".", "": " "}
_LEGEND: Final = (
    "X the primary finding   x a must in consequence   s a should   . passed   blank: not exercised"
)


def run(options: Namespace) -> int:
    """Prints the table of loops and checks, then everything that is not as it should be."""
    with Stage(quiet_seconds=0.05) as stage:
        found = list(rows(stage))
    print("\n".join(table(found)))
    complaints = [one for row in found for one in row.complaints]
    complaints += [f"{check}: no liar trips it" for check in untried()]
    print()
    if complaints:
        print("\n".join(f"WRONG  {one}" for one in complaints))
        return FAILURES
    print(f"{len(LIARS)} liars found out by {len(CHECKS)} checks, and the honest loop by none")
    return AS_EXPECTED


def table(found: Sequence[Row]) -> list[str]:
    """A line for each loop, a column for each check, and what columns and marks mean."""
    width = max(len(row.name) for row in found)
    names = [check.id for check in CHECKS]
    numbers = "".join(f"{number:>3}" for number in range(1, len(names) + 1))
    lines = [f"{'':<{width}}{numbers}"]
    for row in found:
        marks = "".join(f"{_MARKS[row.cells[name]]:>3}" for name in names)
        lines.append(f"{row.name:<{width}}{marks}".rstrip())
    legend = [f"{number:>3} {name}" for number, name in enumerate(names, 1)]
    return [*lines, "", *legend, "", _LEGEND]
