"""Which liars a search finds, after how many examples, and how small it shows them.

    python tests/bench/found_liars.py [--seed N] [--examples N] [LIAR ...]

One line for each liar that `loopcheck selftest` has: the example that found it, the check that it
broke, and the lines of YAML that show it. The first line is the honest loop, of which nothing is
to be found. The aim: 90 % of them within 2,000 examples, three quarters in at most 20 lines.
"""

from __future__ import annotations

import time
from argparse import ArgumentParser
from dataclasses import dataclass

from loopcheck.fake_providers.script import DIALECTS, MODES
from loopcheck.harness.fuzz import Trial
from loopcheck.harness.fuzz.hunt import Hunt
from loopcheck.harness.inprocess import InProcess
from loopcheck.harness.runner import RunOptions
from loopcheck.harness.scenario.write import write
from loopcheck.harness.selftest.trial import HONEST, LIARS
from loopcheck.harness.stage import Stage
from loopcheck.harness.strategies import features_for
from loopcheck.harness.target import Target

EXAMPLES = 2000
LINES = 20
QUIET_SECONDS = 0.05
CASE_SECONDS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What was found of a loop; `check` is None where nothing was."""

    name: str
    examples: int
    seconds: float
    check: str | None = None
    text: str = ""

    @property
    def lines(self) -> int:
        return len(self.text.splitlines())

    def __str__(self) -> str:
        found = f"{self.check:26} {self.lines:3} lines" if self.check else f"{'-':36}"
        return f"{self.name:14} {self.examples:5} {found} {self.seconds:6.1f} s"


def searched(target: Target, stage: Stage, *, seed: int = 1, examples: int = EXAMPLES) -> Row:
    """What the first failure that a search finds looks like."""
    started = time.perf_counter()
    card = target.card()
    with InProcess(target) as driver:
        options = RunOptions(case_seconds=CASE_SECONDS)
        hunt = Hunt(
            trial=Trial(driver=driver, card=card, stage=stage, options=options),
            dialects=DIALECTS,
            modes=MODES,
            features=features_for(card.can),
            seed=seed,
            limit=examples,
            most_found=1,
        )
        found = hunt.run()
    seconds = time.perf_counter() - started
    if not found:
        return Row(name=target.name, examples=hunt.drawn, seconds=seconds)
    failure = found[0].failure
    return Row(
        name=target.name,
        examples=hunt.drawn,
        seconds=seconds,
        check=failure.check,
        text=write(failure.shown.scenario),
    )


def main() -> None:
    parser = ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--examples", type=int, default=EXAMPLES)
    parser.add_argument("--show", action="store_true", help="print what shows each of them")
    options = parser.parse_args()
    targets = [HONEST, *(liar.target for liar in LIARS)]
    rows = []
    with Stage(quiet_seconds=QUIET_SECONDS) as stage:
        for target in targets:
            if not options.names or target.name in options.names:
                row = searched(target, stage, seed=options.seed, examples=options.examples)
                print(row, flush=True)
                if options.show:
                    print(row.text)
                rows.append(row)
    liars = [row for row in rows if row.name != HONEST.name]
    found = [row for row in liars if row.check]
    small = [row for row in found if row.lines <= LINES]
    print(f"found {len(found)} of {len(liars)}, {len(small)} in at most {LINES} lines")


if __name__ == "__main__":
    main()
