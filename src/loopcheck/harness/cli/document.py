"""The report of a run as a document: header, targets and, last of all, the footer."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib import metadata
from pathlib import Path
from typing import Final

from loopcheck.harness.results import Footer, Header, Report, TargetResult

LAST: Final = Path(".loopcheck", "last")
LAST_REPORT: Final = LAST / "report.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What was asked for, when, and how long it took."""

    suite: str
    seed: int
    lenient: tuple[str, ...] = ()
    started: datetime
    seconds: float


def report(targets: Sequence[TargetResult], run: Run, exit_code: int) -> Report:
    """The whole report of this run."""
    cases = [case for target in targets for case in target.cases]
    header = Header(
        loopcheck=metadata.version("loopcheck"),
        suite=run.suite,
        seed=run.seed,
        lenient=run.lenient,
        python=platform.python_version(),
        platform=platform.platform(),
        started=run.started.isoformat(timespec="seconds"),
        packages=_packages(),
    )
    footer = Footer(
        targets=len(targets),
        cases=len(cases),
        verdicts=dict(Counter(case.verdict for case in cases)),
        exit_code=exit_code,
        seconds=round(run.seconds, 3),
    )
    return Report(header=header, targets=tuple(targets), footer=footer)


def _packages() -> dict[str, str]:
    """Every installed package: what changed between two reports may be none that was named."""
    found = {dist.metadata["Name"]: dist.version for dist in metadata.distributions()}
    return {name: found[name] for name in sorted(found, key=str.lower)}
