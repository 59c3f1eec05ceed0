"""Drives a target in this process, in the calling thread."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from pathlib import Path
from types import TracebackType

from loopcheck.harness.results import TargetCard
from loopcheck.harness.runner import Broken
from loopcheck.harness.stage import OpenCase
from loopcheck.harness.target import Target, TargetError, outcome_of
from loopcheck.harness.task import Outcome, Task


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

    def drive(self, case: OpenCase, folder: Path, seconds: float) -> Outcome:
        """Runs the target. A synchronous one that never comes back to its streams, tools or to
        its end cannot be ended here, since nothing ends a thread."""
        task = case.task(blocking=not self._target.is_async, folder=folder)
        if not self._target.is_async:
            ended = _ended(self._target, task)
        elif _in_event_loop():
            ended = _in_thread(_aended(self._target, task, seconds))
        else:
            if self._runner is None:
                self._runner = asyncio.Runner()
            ended = self._runner.run(_aended(self._target, task, seconds))
        return _checked(ended, self._target, case, seconds)

    async def adrive(self, case: OpenCase, folder: Path, seconds: float) -> Outcome:
        """The same within a running event loop, for async tests."""
        task = case.task(blocking=not self._target.is_async, folder=folder)
        if self._target.is_async:
            ended = await _aended(self._target, task, seconds)
        else:
            ended = await asyncio.to_thread(_ended, self._target, task)
        return _checked(ended, self._target, case, seconds)


def _ended(target: Target, task: Task) -> object:
    try:
        return target(task)
    except TargetError as error:
        raise Broken("target", str(error)) from error
    except (Exception, SystemExit) as error:
        return outcome_of(error, target.ends)


async def _aended(target: Target, task: Task, seconds: float) -> object:
    try:
        async with asyncio.timeout(seconds) as bound:
            ended = await _awaited(target, task)
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
        return outcome_of(error, target.ends)  # the target cancelled something of its own
    except (Exception, SystemExit) as error:
        return outcome_of(error, target.ends)


def _checked(ended: object, target: Target, case: OpenCase, seconds: float) -> Outcome:
    if case.timed_out.is_set():
        raise _hung(seconds)
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


def _in_thread(work: Coroutine[object, object, object]) -> object:
    """Runs the coroutine in a loop and thread of its own, while the caller's loop waits."""
    done: Future[object] = Future()

    def run() -> None:
        try:
            done.set_result(asyncio.run(work))
        except BaseException as error:
            done.set_exception(error)

    thread = threading.Thread(target=run, name="loopcheck-target")
    thread.start()
    thread.join()
    return done.result()
