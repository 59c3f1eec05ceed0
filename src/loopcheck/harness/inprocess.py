"""Drives a target in this process, in the calling thread."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Coroutine, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from loopcheck.harness.legs import Leg
from loopcheck.harness.results import TargetCard
from loopcheck.harness.runner import Broken
from loopcheck.harness.stage import OpenCase
from loopcheck.harness.target import Target, TargetError, cut_short, outcome_of
from loopcheck.harness.task import Outcome, Task

T = TypeVar("T")


class InProcess:
    """A driver for a Python target. One event loop serves all cases of an async target, since
    frameworks cache clients that belong to the loop they were made in."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._runner: asyncio.Runner | None = None

    def __enter__(self) -> InProcess:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the event loop, if one was needed."""
        if self._runner is not None:
            self._runner.close()
            self._runner = None

    def card(self) -> TargetCard:
        return self._target.card()

    @property
    def has_process(self) -> bool:
        return False

    def drive(self, case: OpenCase, leg: Leg, folder: Path, seconds: float) -> tuple[Outcome, ...]:
        """Runs the target. A synchronous one that never comes back to its streams, tools or to
        its end cannot be ended here, since nothing ends a thread."""
        tasks = self._tasks(case, leg, folder)
        if not self._target.is_async:
            ended = _ended_by_each(self._target, tasks)
        elif _in_event_loop():
            ended = _in_thread(_aended(self._target, tasks, seconds))
        else:
            ended = self._loop.run(_aended(self._target, tasks, seconds))
        return _checked(ended, self._target, case, seconds)

    async def adrive(
        self, case: OpenCase, leg: Leg, folder: Path, seconds: float
    ) -> tuple[Outcome, ...]:
        """The same within a running event loop, for async tests."""
        tasks = self._tasks(case, leg, folder)
        if self._target.is_async:
            ended = await _aended(self._target, tasks, seconds)
        else:
            ended = await asyncio.to_thread(_ended_by_each, self._target, tasks)
        return _checked(ended, self._target, case, seconds)

    def linger(self, case: OpenCase) -> None:
        """Lets what the target left behind go on until nothing happens any more."""
        if self._target.is_async and not _in_event_loop():
            self._loop.run(case.quiet())
        else:
            _in_thread(case.quiet())

    async def alinger(self, case: OpenCase) -> None:
        """The same within a running event loop."""
        await case.quiet()

    @property
    def _loop(self) -> asyncio.Runner:
        if self._runner is None:
            self._runner = asyncio.Runner()
        return self._runner

    def _tasks(self, case: OpenCase, leg: Leg, folder: Path) -> list[Task]:
        blocking = not self._target.is_async
        tasks = [case.task(leg, blocking=blocking, folder=folder) for _ in range(leg.copies)]
        tasks[0].folder.mkdir(exist_ok=True)
        for task in tasks:
            if leg.cancelled:
                task.stop.request()
        case.conductor.begins(_Stops(tasks))
        return tasks


@dataclass(frozen=True, slots=True)
class _Stops:
    """The hold on a target that has no process of its own."""

    tasks: Sequence[Task]

    def cancel(self) -> None:
        for task in self.tasks:
            task.stop.request()

    def end(self, *, orderly: bool) -> None:
        raise AssertionError("a case that ends processes is not run in this one")


def _ended_by_each(target: Target, tasks: Sequence[Task]) -> list[object]:
    if len(tasks) == 1:
        return [_ended(target, tasks[0])]
    with ThreadPoolExecutor(len(tasks)) as pool:
        return list(pool.map(lambda task: _ended(target, task), tasks))


def _ended(target: Target, task: Task) -> object:
    try:
        return target(task)
    except TargetError as error:
        raise Broken("target", str(error)) from error
    except (Exception, SystemExit) as error:
        return outcome_of(error, target.ends)


async def _aended(target: Target, tasks: Sequence[Task], seconds: float) -> list[object]:
    try:
        async with asyncio.timeout(seconds) as bound:
            if len(tasks) == 1:
                ended = [await _awaited(target, tasks[0])]
            else:
                ended = await asyncio.gather(*(_awaited(target, task) for task in tasks))
    except TimeoutError:
        raise _hung(seconds) from None
    if bound.expired():
        raise _hung(seconds)
    return ended


async def _awaited(target: Target, task: Task) -> object:
    try:
        made = target(task)
        return await made if inspect.isawaitable(made) else made
    except TargetError as error:
        raise Broken("target", str(error)) from error
    except asyncio.CancelledError as error:
        here = asyncio.current_task()
        if here is not None and here.cancelling():
            raise
        return cut_short(error, task, target.ends)
    except (Exception, SystemExit) as error:
        return outcome_of(error, target.ends)


def _checked(
    ended: Sequence[object], target: Target, case: OpenCase, seconds: float
) -> tuple[Outcome, ...]:
    if case.timed_out.is_set():
        raise _hung(seconds)
    return tuple(_outcome(one, target) for one in ended)


def _outcome(ended: object, target: Target) -> Outcome:
    if isinstance(ended, Outcome):
        return ended
    raise Broken(
        "target",
        f"target {target.name!r} returned {type(ended).__name__}; "
        "return loopcheck.final(text) or another Outcome",
    )


def _hung(seconds: float) -> Broken:
    return Broken("hung", f"it did not end within {seconds:g} s")


def _in_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _in_thread(work: Coroutine[object, object, T]) -> T:
    """Runs the coroutine in a loop and thread of its own, while the caller's loop waits."""
    done: Future[T] = Future()

    def run() -> None:
        try:
            done.set_result(asyncio.run(work))
        except BaseException as error:
            done.set_exception(error)

    thread = threading.Thread(target=run, name="loopcheck-target")
    thread.start()
    thread.join()
    return done.result()
