"""Drives a target in this process, in the calling thread."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Coroutine
from pathlib import Path
from types import TracebackType

from loopcheck.harness.results import TargetCard
from loopcheck.harness.runner import Broken
from loopcheck.harness.stage import OpenCase
from loopcheck.harness.target import Target, outcome_of
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
        task = case.task(blocking=not self._target.is_async, folder=folder)
        if not self._target.is_async:
            outcome = _guarded(self._target, task)
        elif _in_event_loop():
            outcome = _in_thread(self._arun(task, seconds))
        else:
            if self._runner is None:
                self._runner = asyncio.Runner()
            outcome = self._runner.run(self._arun(task, seconds))
        if case.timed_out.is_set():
            raise Broken("hung", f"it did not end within {seconds:g} s")
        return _checked(outcome, self._target)

    async def adrive(self, case: OpenCase, folder: Path, seconds: float) -> Outcome:
        """The same within a running event loop, for async tests."""
        task = case.task(blocking=not self._target.is_async, folder=folder)
        if self._target.is_async:
            outcome = await self._arun(task, seconds)
        else:
            outcome = await asyncio.to_thread(_guarded, self._target, task)
        if case.timed_out.is_set():
            raise Broken("hung", f"it did not end within {seconds:g} s")
        return _checked(outcome, self._target)

    async def _arun(self, task: Task, seconds: float) -> object:
        try:
            async with asyncio.timeout(seconds):
                made = self._target(task)
                return await made if inspect.isawaitable(made) else made
        except Exception as error:
            return outcome_of(error, self._target.ends)


def _guarded(target: Target, task: Task) -> object:
    try:
        return target(task)
    except Exception as error:
        return outcome_of(error, target.ends)


def _checked(outcome: object, target: Target) -> Outcome:
    if isinstance(outcome, Outcome):
        return outcome
    raise Broken(
        "target",
        f"target {target.name!r} returned {type(outcome).__name__}; "
        "return loopcheck.final(text) or another Outcome",
    )


def _in_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _in_thread(work: Coroutine[object, object, object]) -> object:
    """Runs the coroutine in a loop and thread of its own, while the caller's loop waits."""
    results: list[object] = []
    thread = threading.Thread(target=lambda: results.append(asyncio.run(work)))
    thread.start()
    thread.join()
    return results[0]
