"""CPU per generated case on the reference loop, in process, and whose it is.

    python tests/bench/bench_fuzz.py [EXAMPLES]

Scenarios are drawn first, so that drawing is told apart; each case is run once to warm up what it
needs, then timed, with looks at whose code runs. The aim: harness and loop together spend at most
what the SDKs and the libraries below them spend.
"""

from __future__ import annotations

import sys
import time

from hypothesis import HealthCheck, given, seed, settings
from owners import SDKS, Owners

from loopcheck.harness.cases import CaseSpec, expand
from loopcheck.harness.fuzz import Trial
from loopcheck.harness.inprocess import InProcess
from loopcheck.harness.scenario.model import Scenario
from loopcheck.harness.stage import Stage
from loopcheck.harness.strategies import features_for, scenarios
from loopcheck.harness.targets.reference import reference


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
        with Owners() as owners:
            for spec in specs:
                trial.run(spec)
    ms = owners.per(len(specs))
    print(f"{len(specs)} generated cases on the reference loop, in process, CPU per case:")
    print(f"  drawing {drawing:.1f} ms, running {sum(ms.values()):.1f} ms, of which")
    for name, spent in ms.items():
        print(f"  {name:20} {spent:5.1f} ms")
    ratio = (ms["harness"] + ms["reference_loop"]) / ms[SDKS]
    print(f"harness and loop / SDKs: {ratio:.2f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
