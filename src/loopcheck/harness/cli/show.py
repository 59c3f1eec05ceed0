"""`loopcheck show`: what a scenario sends and expects, frame by frame."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from loopcheck.harness.cases import CaseSpec
from loopcheck.harness.cli.arguments import UsageError
from loopcheck.harness.cli.selection import select
from loopcheck.harness.config import find
from loopcheck.harness.scenario.show import show
from loopcheck.reports.inert import inert_lines

LONGEST_FRAME = 1_000_000


def run(options: Namespace) -> int:
    """Prints one scenario as its fake provider plays it in one dialect and mode."""
    cases = select([options.scenario], find(Path.cwd()), cwd=Path.cwd())
    case = _chosen(cases, options)
    text = show(case.scenario, case.dialect, case.mode, every_frame=options.all)
    print("\n".join(inert_lines(text, longest=LONGEST_FRAME)))
    return 0


def _chosen(cases: Sequence[CaseSpec], options: Namespace) -> CaseSpec:
    scenarios = {case.scenario.id for case in cases}
    if len(scenarios) > 1:
        raise UsageError(f"{options.scenario!r} names {len(scenarios)} scenarios; name one")
    fitting = [
        case
        for case in cases
        if options.dialect in (None, case.dialect) and options.mode in (None, case.mode)
    ]
    if not fitting:
        there = ", ".join(f"{case.dialect}-{case.mode}" for case in cases)
        raise UsageError(f"{options.scenario!r} has no such case; it has {there}")
    streamed = [case for case in fitting if case.mode == "stream"]
    return (streamed or fitting)[0]
