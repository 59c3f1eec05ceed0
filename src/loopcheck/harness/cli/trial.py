"""A target put on trial in a worker process of its own, restarted after a death or a hang."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from loopcheck.fake_providers.wire import JsonObject
from loopcheck.harness.cases import CaseSpec
from loopcheck.harness.cli.spares import Spares
from loopcheck.harness.config import TargetSource
from loopcheck.harness.legs import Leg
from loopcheck.harness.results import CaseResult, TargetCard, TargetResult
from loopcheck.harness.runner import Broken, Driver, RunOptions, Skipped, run_target
from loopcheck.harness.stage import OpenCase, Stage
from loopcheck.harness.task import Outcome
from loopcheck.harness.worker.client import (
    Resumption,
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
    with driver(source, spare=die(cases, setting)) as driven:
        return tried(driven, source, cases, setting, progress=progress, started=started)


def die(cases: Sequence[CaseSpec], setting: RunOptions) -> bool:
    """Whether processes are to end in the course of these cases."""
    return setting.deaths is not None or any(spec.scenario.kills for spec in cases)


def tried(
    driven: Driver,
    source: TargetSource,
    cases: Sequence[CaseSpec],
    setting: RunOptions,
    *,
    progress: Callable[[CaseResult], None],
    started: Callable[[TargetCard], None],
) -> TargetResult:
    """The results of the target that is driven, under the name that it was asked for by."""
    with Stage() as stage:
        result = run_target(driven, cases, stage, setting, progress=progress, started=started)
    card = result.card.model_copy(update={"name": source.name})
    return result.model_copy(update={"card": card})


@contextmanager
def driver(source: TargetSource, *, spare: bool = False) -> Iterator[Driver]:
    """Drives the target in its worker, which ends with the block. With a `spare`, a second one
    is ready to go on when it dies."""
    with WorkerDriver(source, spare=spare) as driver:
        yield driver


def _worker(source: TargetSource) -> Worker:
    if source.python is not None:
        return python_worker(source.python, name=source.name, cwd=source.cwd, env=source.env)
    return Worker(source.worker or (), name=source.name, cwd=source.cwd, env=source.env)


class Abandoned(Exception):
    """Nobody wants to know any more how the target does."""


class WorkerDriver:
    """Drives a worker; a second one, where a scenario has two processes go on with a run."""

    def __init__(self, source: TargetSource, *, spare: bool) -> None:
        self._source = source
        self._worker = _worker(source)
        self._has_spare = spare
        self._spares = Spares(self._ready)
        self._hold = _Hold((self._worker,))
        self._is_abandoned = False

    def __enter__(self) -> WorkerDriver:
        return self

    def __exit__(self, *_: object) -> None:
        self._spares.close()
        self._worker.close()

    def abandon(self) -> None:
        """Ends its processes; whoever drives it gets Abandoned. May come from any thread."""
        self._is_abandoned = True
        self._hold.end(orderly=False)

    @property
    def has_process(self) -> bool:
        return True

    def card(self) -> TargetCard:
        if self._is_abandoned:
            raise Abandoned
        notice = threading.Timer(NOTICE_SECONDS, self._tell_that_it_starts)
        notice.start()
        try:
            card = _started(self._worker)
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

    def drive(self, case: OpenCase, leg: Leg, folder: Path, seconds: float) -> tuple[Outcome, ...]:
        if self._is_abandoned:
            raise Abandoned
        latest = self._worker.latest
        if not self._worker.is_running:
            self._replace()
        elif self._has_spare:
            self._spares.prepare()
        with ExitStack() as stack:
            others = [stack.enter_context(self._another()) for _ in range(leg.copies - 1)]
            self._hold = hold = _Hold((self._worker, *others))
            work = _Work(case, leg, case.document(leg, folder=folder), latest, seconds)
            case.conductor.begins(hold)
            outcomes = _by_each(hold, work)
        if case.timed_out.is_set():
            raise Broken("hung", f"it did not end within {seconds:g} s")
        return tuple(outcome for outcome in outcomes if outcome is not None)

    def linger(self, case: OpenCase) -> None:
        asyncio.run(case.quiet())

    def _replace(self) -> None:
        """A worker that runs takes the place of the one that has ended."""
        if not self._has_spare:
            self.card()
            return
        self._worker.close()
        self._worker = self._spares.take()

    def _another(self) -> Worker:
        return self._spares.take() if self._has_spare else self._ready()

    def _ready(self) -> Worker:
        worker = _worker(self._source)
        _started(worker)
        return worker


def _started(worker: Worker) -> TargetCard:
    try:
        return worker.start(START_SECONDS)
    except WorkerFailure as failure:
        raise Broken("target", failure.message) from None


@dataclass(frozen=True, slots=True)
class _Hold:
    """The hold on the processes of a target. A cancellation also reaches those that have not
    been told of their task yet."""

    workers: Sequence[Worker]
    cancelled: threading.Event = field(default_factory=threading.Event)

    def cancel(self) -> None:
        self.cancelled.set()
        for worker in self.workers:
            worker.cancel()

    def end(self, *, orderly: bool) -> None:
        for worker in self.workers:
            worker.end(orderly=orderly)


@dataclass(frozen=True, slots=True)
class _Work:
    """What the processes of a target are to do."""

    case: OpenCase
    leg: Leg
    document: JsonObject
    of: str
    seconds: float

    def outcome(self, worker: Worker, hold: _Hold) -> Outcome | None:
        """The outcome, or None when the process was ended, as scripted."""
        try:
            return self._outcome(worker, hold)
        except WorkerFailure as failure:
            if failure.kind == "crashed" and self.case.conductor.death is not None:
                return None
            raise Broken("hung" if failure.kind == "hung" else "target", failure.message) from None
        except WorkerSkipped as skipped:
            raise Skipped(str(skipped)) from None

    def _outcome(self, worker: Worker, hold: _Hold) -> Outcome:
        leg = self.leg
        if leg.resume is not None:
            how = Resumption(resume=leg.resume, of=self.of, cancelled=leg.cancelled)
            return worker.resume(
                self.document, how, timeout=self.seconds, is_cancelled=hold.cancelled.is_set
            )
        if leg.cancelled:
            hold.cancelled.set()
        return worker.run(self.document, timeout=self.seconds, is_cancelled=hold.cancelled.is_set)


def _by_each(hold: _Hold, work: _Work) -> list[Outcome | None]:
    """What each process came to. One alone is awaited here, where an interrupt is heeded."""
    if len(hold.workers) == 1:
        return [work.outcome(hold.workers[0], hold)]
    with ThreadPoolExecutor(len(hold.workers)) as pool:
        try:
            return list(pool.map(lambda worker: work.outcome(worker, hold), hold.workers))
        except BaseException:
            hold.end(orderly=False)
            raise
