"""The report of a run as a document: header, targets and, last of all, the footer."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib import metadata
from pathlib import Path
from typing import Final

from loopcheck.harness.footer import footer
from loopcheck.harness.results import Header, Part, Report, TargetResult

LAST: Final = Path(".loopcheck", "last")
LAST_REPORT: Final = LAST / "report.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What was asked for, when, and how long it took."""

    suite: str
    seed: int
    lenient: tuple[str, ...] = ()
    part: Part | None = None
    started: datetime
    seconds: float


def report(targets: Sequence[TargetResult], run: Run, exit_code: int) -> Report:
    """The whole report of this run."""
    header = Header(
        loopcheck=metadata.version("loopcheck"),
        suite=run.suite,
        seed=run.seed,
        lenient=run.lenient,
        shard=run.part,
        python=platform.python_version(),
        platform=platform.platform(),
        started=run.started.isoformat(timespec="seconds"),
        packages=_packages(),
    )
    counts = footer(targets, exit_code=exit_code, seconds=run.seconds)
    return Report(header=header, targets=tuple(targets), footer=counts)


def _packages() -> dict[str, str]:
    """Every installed package: what changed between two reports may be none that was named."""
    found = {dist.metadata["Name"]: dist.version for dist in metadata.distributions()}
    return {name: found[name] for name in sorted(found, key=str.lower)}
