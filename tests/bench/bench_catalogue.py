"""CPU per case of the whole catalogue on the reference loop, in process, and whose it is.

    python tests/bench/bench_catalogue.py [PATTERN ...]

Each case is run once to warm up, then timed; process CPU, so that waiting costs nothing. Whose it
is comes from a profile of a second pass over both threads, the loop's and the server's: time in
Python itself counts for whoever called it.
"""

from __future__ import annotations

import cProfile
import pstats
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path

from loopcheck.harness.cases import CaseSpec, expand
from loopcheck.harness.inprocess import InProcess
from loopcheck.harness.results import TargetCard
from loopcheck.harness.runner import RunOptions, declared, run_case
from loopcheck.harness.scenario.load import discover
from loopcheck.harness.stage import Stage
from loopcheck.harness.targets.reference import reference

OWN = ("fake_providers", "harness", "reference_loop")
PYTHON = "Python itself"


def owner(filename: str) -> str:
    """Whose code a file is: a room of ours, the SDKs with what they stand on, or Python."""
    for room in OWN:
        if f"/loopcheck/{room}/" in filename:
            return room
    return "SDKs and libraries" if "site-packages" in filename else PYTHON


def timed(spec: CaseSpec, driver: InProcess, card: TargetCard, stage: Stage) -> float:
    started = time.process_time()
    run_case(driver, card, spec, stage, RunOptions())
    return (time.process_time() - started) * 1000


@contextmanager
def profiled(stage: Stage) -> Iterator[tuple[cProfile.Profile, cProfile.Profile]]:
    """Profiles of this thread and of the server's."""
    here, there = cProfile.Profile(time.thread_time), cProfile.Profile(time.thread_time)
    in_server_thread(stage, there.enable)
    here.enable()
    try:
        yield here, there
    finally:
        here.disable()
        in_server_thread(stage, there.disable)


def in_server_thread(stage: Stage, do: object) -> None:
    done: Future[None] = Future()

    def act() -> None:
        assert callable(do)
        do()
        done.set_result(None)

    stage.loop.call_soon_threadsafe(act)
    done.result()


def spent(*profiles: cProfile.Profile) -> Counter[str]:
    """Milliseconds by owner."""
    found: Counter[str] = Counter()
    for profile in profiles:
        for (filename, _, _), row in pstats.Stats(profile).stats.items():  # type: ignore[attr-defined]
            own, callers = row[2], row[4]
            name = owner(filename)
            if name == PYTHON:
                for (caller, _, _), (_, _, by_caller, _) in callers.items():
                    found[owner(caller)] += by_caller * 1000
                    own -= by_caller
            found[name] += own * 1000
    return found


def main(patterns: list[str]) -> None:
    card = reference.card()
    specs = declared(expand(discover(tuple(patterns), cwd=Path.cwd())), card)
    with Stage() as stage, InProcess(reference) as driver:
        for spec in specs[:20]:
            timed(spec, driver, card, stage)
        cpu_ms = sorted(timed(spec, driver, card, stage) for spec in specs)
        shares: list[Counter[str]] = []
        for spec in specs:
            with profiled(stage) as profiles:
                result = run_case(driver, card, spec, stage, RunOptions())
            if result.verdict != "not declared":
                shares.append(spent(*profiles))
    print(f"{len(specs)} cases on the reference loop, in process, CPU per case:")
    print(
        f"  median {statistics.median(cpu_ms):.1f} ms   "
        f"p90 {cpu_ms[int(len(cpu_ms) * 0.9)]:.1f} ms   max {cpu_ms[-1]:.1f} ms   "
        f"all {sum(cpu_ms) / 1000:.1f} s"
    )
    print("profiled, which makes everything slower, median of a case:")
    for name in dict.fromkeys(name for share in shares for name in share):
        print(f"  {name:20} {statistics.median(share[name] for share in shares):5.1f} ms")
    ratios = sorted(share["harness"] / share["SDKs and libraries"] for share in shares)
    print(
        f"harness / SDKs: median {statistics.median(ratios):.2f}, "
        f"from {ratios[0]:.2f} to {ratios[-1]:.2f}"
    )


if __name__ == "__main__":
    main(sys.argv[1:] or ["builtin:all"])
