"""What a death costs: deaths a second, and CPU a death, with and without a spare worker.

    python tests/bench/bench_deaths.py [TARGET [ROUNDS]]

TARGET is `module:attr`, by default the reference loop, whose SDKs each process imports anew. CPU is
that of this process and of all workers that it had; the deaths of one booking are run ROUNDS times.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from pathlib import Path

from loopcheck.harness.cases import CaseSpec
from loopcheck.harness.cli.trial import driver
from loopcheck.harness.config import TargetSource
from loopcheck.harness.deaths import Deaths
from loopcheck.harness.results import TargetResult
from loopcheck.harness.runner import RunOptions, run_target
from loopcheck.harness.scenario.load import load_text
from loopcheck.harness.stage import Stage

REFERENCE = "loopcheck.harness.targets.reference:reference"
SCENARIO = b"""\
format: 1
title: A seat is reserved
rule: A write is executed once.
prompt: Reserve seat 12.
tools:
  reserve: {kind: write, args: {seat: integer}, operation: [seat], lookup: found}
turns:
  - calls: [{as: seat, tool: reserve, args: {seat: 12}}]
  - say: Done.
"""


def cpu_seconds() -> float:
    """CPU of this process and of those of its children that have ended."""
    whose = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    used = [resource.getrusage(one) for one in whose]
    return sum(one.ru_utime + one.ru_stime for one in used)


def trial(source: TargetSource, rounds: int, *, spare: bool) -> TargetResult:
    """All deaths of the booking, so many times."""
    specs = [
        CaseSpec(load_text(SCENARIO, file="x", id=f"seat{n}"), "chat", "stream")
        for n in range(rounds)
    ]
    with driver(source, spare=spare) as driven, Stage() as stage:
        return run_target(driven, specs, stage, RunOptions(deaths=Deaths()))


def main(target: str, rounds: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        source = TargetSource(name=target, python=target, cwd=Path(folder))
        for spare in (False, True):
            started, cpu = time.perf_counter(), cpu_seconds()
            result = trial(source, rounds, spare=spare)
            seconds, cpu = time.perf_counter() - started, cpu_seconds() - cpu
            died = sum(case.is_death for case in result.cases)
            passed = sum(case.verdict == "pass" for case in result.cases)
            print(
                f"{'with' if spare else 'without'} a spare worker: {died} deaths, "
                f"{passed} of {len(result.cases)} cases pass, {died / seconds:.2f} deaths/s, "
                f"{cpu / died:.2f} s CPU a death"
            )


if __name__ == "__main__":
    arguments = sys.argv[1:]
    main(arguments[0] if arguments else REFERENCE, int(arguments[1]) if len(arguments) > 1 else 2)
