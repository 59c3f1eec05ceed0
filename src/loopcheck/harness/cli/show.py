"""`loopcheck show`: what a scenario sends and expects, frame by frame."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from loopcheck.harness.cli.arguments import UsageError
from loopcheck.harness.cli.selection import select
from loopcheck.harness.config import find
from loopcheck.harness.scenario.show import show
from loopcheck.reports.inert import inert_lines


def run(options: Namespace) -> int:
    """Prints the scenario as its fake provider would play it."""
    found = {
        case.scenario.id: case.scenario
        for case in select([options.scenario], find(Path.cwd()), cwd=Path.cwd())
    }
    if len(found) > 1:
        raise UsageError(f"{options.scenario!r} names {len(found)} scenarios; name one")
    for scenario in found.values():
        text = show(scenario, options.dialect, options.mode, every_frame=options.all)
        print("\n".join(inert_lines(text)))
    return 0
