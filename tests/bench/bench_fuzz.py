"""CPU per generated case on the reference loop, in process, and whose it is.

    python tests/bench/bench_fuzz.py [EXAMPLES]

Scenarios are drawn first, so that drawing is told apart; each case is run once to warm up what it
needs, then profiled. The server's thread is measured, too. The aim: harness and loop together
spend at most what the SDKs and the libraries below them spend.
"""

from __future__ import annotations

import cProfile
import pstats
import sys
import threading
import time
from collections import Counter

from bench_catalogue import owner
from hypothesis import HealthCheck, given, seed, settings

from loopcheck.harness.cases import CaseSpec, expand
from loopcheck.harness.fuzz import Trial
from loopcheck.harness.inprocess import InProcess
from loopcheck.harness.scenario.model import Scenario
from loopcheck.harness.stage import Stage
from loopcheck.harness.strategies import features_for, scenarios
from loopcheck.harness.targets.reference import reference

_OURS = ("harness", "reference_loop", "fake_providers")


def drawn(examples: int) -> list[CaseSpec]:
    found: list[CaseSpec] = []

    @seed(1)
    @settings(
        max_examples=examples,
        database=None,
        deadline=None,
        suppress_health_check=[
            HealthCheck.too_slow,
            HealthCheck.data_too_large,
            HealthCheck.filter_too_much,
        ],
    )
    @given(scenarios(features=features_for(reference.can)))
    def collect(scenario: Scenario) -> None:
        found.extend(expand([scenario]))

    collect()
    return found


def main(examples: int) -> None:
    started = time.process_time()
    specs = drawn(examples)
    drawing = (time.process_time() - started) * 1000 / len(specs)
    with Stage(quiet_seconds=0.05) as stage, InProcess(reference) as driver:
        trial = Trial(driver=driver, card=reference.card(), stage=stage)
        for spec in specs:
            trial.run(spec)
        started, own = time.process_time(), time.thread_time()
        for spec in specs:
            trial.run(spec)
        whole = (time.process_time() - started) * 1000 / len(specs)
        here = (time.thread_time() - own) * 1000 / len(specs)
        profile = cProfile.Profile()
        profile.enable()
        for spec in specs:
            trial.run(spec)
        profile.disable()
        threads = threading.active_count()
    print(f"{len(specs)} generated cases on the reference loop, in process, CPU per case:")
    print(f"  drawing {drawing:.1f} ms, running {whole:.1f} ms")
    print(f"  of it {here:.1f} ms in the loop's thread; {threads} threads at the end")
    spent: Counter[str] = Counter()
    for (filename, _, _), row in pstats.Stats(profile).stats.items():  # type: ignore[attr-defined]
        spent[owner(filename)] += row[2]
    total = spent.total()
    print("shares of the loop's thread, profiled:")
    for name, seconds in spent.most_common():
        print(f"  {name:20} {100 * seconds / total:5.1f} %")
    sdks = here * spent["SDKs and libraries"] / total
    ours = here * sum(spent[name] for name in _OURS) / total
    server = whole - here
    print(f"SDKs {sdks:.1f} ms; harness and loop {ours:.1f} ms; server's thread {server:.1f} ms")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
