"""The page of requirements, made of a run of the reference loop and of the liars.

    loopcheck run builtin:all --target reference --report json:run.json
    python -m loopcheck.harness.cli.requirements_page run.json > docs/requirements.md

The report says which check answered in which scenario. The liars are put on trial here and now, so
that a check is only said to find out a loop that it finds out.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from loopcheck.harness.cli.rendering import SENTENCES
from loopcheck.harness.selftest.liar import Liar
from loopcheck.harness.selftest.trial import LIARS, rows
from loopcheck.harness.stage import Stage
from loopcheck.reports import json_report, requirements

# Waiting for more proves nothing in these short cases.
_QUIET_SECONDS = 0.05


def tripped(liars: Iterable[Liar] = LIARS) -> dict[str, list[str]]:
    """The liars that each check found out, in every case that they were put on trial in."""
    tried = tuple(liars)
    found: dict[str, list[str]] = {check: [] for check in SENTENCES}
    with Stage(quiet_seconds=_QUIET_SECONDS) as stage:
        _, *told = rows(stage, tried)
    for liar, row in zip(tried, told, strict=True):
        if not row.complaints:
            found[liar.check].append(liar.name)
    return found


def page(report: Path) -> str:
    """The page, of this JSON report. Raises what reading the report raises."""
    return requirements.render(json_report.read(report), sentences=SENTENCES, tripped=tripped())


if __name__ == "__main__":
    sys.stdout.write(page(Path(sys.argv[1])))
