"""CPU per case of the whole catalogue on the reference loop, in process, and whose it is.

    python tests/bench/bench_catalogue.py [PATTERN ...]

Each case is run once to warm up, then timed; process CPU, so that waiting costs nothing. Whose it
is comes from looks at the code that runs in another pass.
"""

from __future__ import annotations

import statistics
import sys
import time
from pathlib import Path

from owners import SDKS, Owners

from loopcheck.harness.cases import CaseSpec, expand
from loopcheck.harness.inprocess import InProcess
from loopcheck.harness.results import TargetCard
from loopcheck.harness.runner import RunOptions, declared, run_case
from loopcheck.harness.scenario.load import discover
from loopcheck.harness.stage import Stage
from loopcheck.harness.targets.reference import reference


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
        with Owners() as owners:
            for spec in specs:
                run_case(driver, card, spec, stage, RunOptions())
    print(f"{len(specs)} cases on the reference loop, in process, CPU per case:")
    print(
        f"  median {statistics.median(cpu_ms):.1f} ms   "
        f"p90 {cpu_ms[int(len(cpu_ms) * 0.9)]:.1f} ms   max {cpu_ms[-1]:.1f} ms   "
        f"all {sum(cpu_ms) / 1000:.1f} s"
    )
    ms = owners.per(len(specs))
    for name, spent in ms.items():
        print(f"  {name:20} {spent:5.1f} ms")
    print(f"harness / SDKs: {ms['harness'] / ms[SDKS]:.2f}")


if __name__ == "__main__":
    main(sys.argv[1:] or ["builtin:all"])
