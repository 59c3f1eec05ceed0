"""`loopcheck list`: scenarios, cases, targets."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from loopcheck.harness.cases import CaseSpec
from loopcheck.harness.cli.selection import select
from loopcheck.harness.config import Config, TargetSource, find
from loopcheck.reports.inert import inert


def run(options: Namespace) -> int:
    """Prints one line for each scenario, case or target."""
    config = find(Path.cwd())
    if options.targets:
        lines = [_target(name, source, config) for name, source in config.known_targets.items()]
    else:
        cases = select(options.patterns, config, cwd=Path.cwd())
        lines = [case.id for case in cases] if options.cases else _scenarios(cases)
    print("\n".join(inert(line) for line in lines))
    return 0


def _target(name: str, source: TargetSource, config: Config) -> str:
    where = config.file.name if config.file and name in config.targets else "ready-made"
    command = source.python or " ".join(source.worker or ())
    return f"{name:<16}  {command}  ({where})"


def _scenarios(cases: list[CaseSpec]) -> list[str]:
    by_id: dict[str, list[CaseSpec]] = {}
    for case in cases:
        by_id.setdefault(case.scenario.id, []).append(case)
    width = max((len(name) for name in by_id), default=0)
    lines = [
        f"{name:<{width}}  {len(own):>2} {'case ' if len(own) == 1 else 'cases'}  "
        f"{own[0].scenario.title}"
        for name, own in by_id.items()
    ]
    return [*lines, f"{_count(len(by_id), 'scenario')}, {_count(len(cases), 'case')}"]


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
