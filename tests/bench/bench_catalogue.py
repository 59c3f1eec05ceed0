"""CPU per case of the whole catalogue on the reference loop, in process, and whose it is.

    python tests/bench/bench_catalogue.py [PATTERN ...]

Each case is run once to warm up, then timed; process CPU, so that waiting costs nothing. The
shares come from a profile of a second pass, by the file in which the time was spent.
"""

from __future__ import annotations

import cProfile
import pstats
import statistics
import sys
import time
from collections import Counter
from pathlib import Path

from loopcheck.harness.cases import CaseSpec, expand
from loopcheck.harness.inprocess import InProcess
from loopcheck.harness.results import TargetCard
from loopcheck.harness.runner import RunOptions, declared, run_case
from loopcheck.harness.scenario.load import discover
from loopcheck.harness.stage import Stage
from loopcheck.harness.targets.reference import reference

OWN = ("fake_providers", "harness", "reference_loop")


def owner(filename: str) -> str:
    """Whose code a file is: a room of ours, the SDKs with what they stand on, or Python."""
    for room in OWN:
        if f"/loopcheck/{room}/" in filename:
            return room
    if "site-packages" in filename or filename.startswith(("~", "<")):
        return "SDKs and libraries" if "site-packages" in filename else "built-in code"
    return "standard library"


def timed(spec: CaseSpec, driver: InProcess, card: TargetCard, stage: Stage) -> float:
    started = time.process_time()
    run_case(driver, card, spec, stage, RunOptions())
    return (time.process_time() - started) * 1000


def main(patterns: list[str]) -> None:
    card = reference.card()
    specs = declared(expand(discover(tuple(patterns), cwd=Path.cwd())), card)
    with Stage() as stage, InProcess(reference) as driver:
        for spec in specs[:20]:
            timed(spec, driver, card, stage)
        cpu_ms = sorted(timed(spec, driver, card, stage) for spec in specs)
        profile = cProfile.Profile()
        profile.enable()
        for spec in specs:
            run_case(driver, card, spec, stage, RunOptions())
        profile.disable()
    print(f"{len(specs)} cases on the reference loop, in process, CPU per case:")
    print(
        f"  median {statistics.median(cpu_ms):.1f} ms   "
        f"p90 {cpu_ms[int(len(cpu_ms) * 0.9)]:.1f} ms   max {cpu_ms[-1]:.1f} ms"
    )
    spent: Counter[str] = Counter()
    for (filename, _, _), row in pstats.Stats(profile).stats.items():  # type: ignore[attr-defined]
        spent[owner(filename)] += row[2]
    total = spent.total()
    print("shares of the loop's thread, profiled (the server's thread is not in them):")
    for name, seconds in spent.most_common():
        print(f"  {name:20} {100 * seconds / total:5.1f} %")


if __name__ == "__main__":
    main(sys.argv[1:] or ["builtin:all"])
