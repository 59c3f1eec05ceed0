"""Several targets on trial at a time, told of one after the other."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeAlias

from loopcheck.harness.cli.trial import WorkerDriver
from loopcheck.harness.config import TargetSource
from loopcheck.harness.results import TargetResult
from loopcheck.harness.runner import Driver

Say: TypeAlias = Callable[[str], None]
Attempt: TypeAlias = Callable[[Driver, TargetSource, Say], TargetResult]


def side_by_side(
    sources: Sequence[TargetSource], attempt: Attempt, *, spare: bool, jobs: int
) -> Generator[TargetResult, None, None]:
    """The result of each target in their order, with so many on trial at a time. Lines of a target
    are printed when those before it have been told of, and from then on as they come. To be
    closed, which ends the workers of those that are on trial."""
    drivers = [WorkerDriver(source, spare=spare) for source in sources]
    lines = [_Lines() for _ in sources]

    def tried(position: int) -> TargetResult:
        with drivers[position] as driven:
            return attempt(driven, sources[position], lines[position])

    with ThreadPoolExecutor(jobs, thread_name_prefix="loopcheck-trial") as pool:
        trials = [pool.submit(tried, position) for position in range(len(sources))]
        try:
            for told, trial in zip(lines, trials, strict=True):
                told.show()
                yield trial.result()
        finally:
            for trial, driven in zip(trials, drivers, strict=True):
                if not trial.cancel() and not trial.done():
                    driven.abandon()


class _Lines:
    """Lines that are held back until they are to be shown."""

    def __init__(self) -> None:
        self._held: list[str] | None = []
        self._lock = threading.Lock()

    def __call__(self, line: str) -> None:
        with self._lock:
            if self._held is None:
                print(line, flush=True)
            else:
                self._held.append(line)

    def show(self) -> None:
        """Prints what was held back; what comes now is printed as it comes."""
        with self._lock:
            for line in self._held or ():
                print(line, flush=True)
            self._held = None
