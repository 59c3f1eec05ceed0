"""A target put on trial in a worker process of its own, restarted after a death or a hang."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from loopcheck.harness.cases import CaseSpec
from loopcheck.harness.config import TargetSource
from loopcheck.harness.results import CaseResult, TargetCard, TargetResult
from loopcheck.harness.runner import Broken, Driver, RunOptions, Skipped, run_target
from loopcheck.harness.stage import OpenCase, Stage
from loopcheck.harness.task import Outcome
from loopcheck.harness.worker.client import (
    Worker,
    WorkerFailure,
    WorkerSkipped,
    python_worker,
)
from loopcheck.reports.inert import inert

START_SECONDS: Final = 120.0  # importing a framework for the first time on a slow machine
NOTICE_SECONDS: Final = 10.0  # silence beyond this looks like a hang of loopcheck


def put_on_trial(
    source: TargetSource,
    cases: Sequence[CaseSpec],
    setting: RunOptions,
    *,
    progress: Callable[[CaseResult], None],
    started: Callable[[TargetCard], None],
) -> TargetResult:
    """The target's results, under the name that it was asked for by."""
    with driver(source) as driven, Stage() as stage:
        result = run_target(driven, cases, stage, setting, progress=progress, started=started)
    card = result.card.model_copy(update={"name": source.name})
    return result.model_copy(update={"card": card})


@contextmanager
def driver(source: TargetSource) -> Iterator[Driver]:
    """Drives the target in its worker, which ends with the block."""
    with _worker(source) as worker:
        yield _WorkerDriver(worker)


def _worker(source: TargetSource) -> Worker:
    if source.python is not None:
        return python_worker(source.python, name=source.name, cwd=source.cwd)
    return Worker(source.worker or (), name=source.name, cwd=source.cwd)


class _WorkerDriver:
    def __init__(self, worker: Worker) -> None:
        self._worker = worker

    def card(self) -> TargetCard:
        notice = threading.Timer(NOTICE_SECONDS, self._tell_that_it_starts)
        notice.start()
        try:
            card = self._worker.start(START_SECONDS)
        except WorkerFailure as failure:
            raise Broken("target", failure.message) from None
        finally:
            notice.cancel()
        return card.model_copy(update={"name": self._worker.name})

    def _tell_that_it_starts(self) -> None:
        name = inert(self._worker.name)
        print(
            f"waiting for target {name} to start, at most {START_SECONDS:g} s: what its import "
            "or its worker does first takes long, or hangs",
            file=sys.stderr,
            flush=True,
        )

    def drive(self, case: OpenCase, folder: Path, seconds: float) -> Outcome:
        if not self._worker.is_running:
            self.card()
        try:
            outcome = self._worker.run(case.document(folder=folder), timeout=seconds)
        except WorkerFailure as failure:
            raise Broken("hung" if failure.kind == "hung" else "target", failure.message) from None
        except WorkerSkipped as skipped:
            raise Skipped(str(skipped)) from None
        if case.timed_out.is_set():
            raise Broken("hung", f"it did not end within {seconds:g} s")
        return outcome
