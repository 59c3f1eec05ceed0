"""Whose CPU it is: the time that a thread spends, by what it runs at the moment.

A coroutine is metered step by step, so that what happens while it waits is not counted as its
own. Everything that it calls is: libraries, built-in code, system calls.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Generator
from contextvars import Context
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

T = TypeVar("T")
R = TypeVar("R")

NOBODY = "event loop"


@dataclass
class Meter:
    """Gives the time since the last switch to whoever had the thread."""

    spent_ns: Counter[str] = field(default_factory=Counter)
    owner: str = NOBODY
    since: int = field(default_factory=time.thread_time_ns)

    def switch(self, owner: str) -> str:
        """From now on it is this one's; gives whose it was."""
        now = time.thread_time_ns()
        self.spent_ns[self.owner] += now - self.since
        before, self.owner, self.since = self.owner, owner, now
        return before

    def function(
        self, owner: str, function: Callable[..., Awaitable[T]]
    ) -> Callable[..., Awaitable[T]]:
        """The same asynchronous function, metered."""

        def metered(*args: Any, **options: Any) -> Awaitable[T]:
            return Steps(function(*args, **options), owner, self)  # type: ignore[arg-type]

        return metered

    def plain(self, owner: str, function: Callable[..., R]) -> Callable[..., R]:
        """The same ordinary function, metered."""

        def metered(*args: Any, **options: Any) -> R:
            before = self.switch(owner)
            try:
                return function(*args, **options)
            finally:
                self.switch(before)

        return metered

    def tasks(
        self,
        loop: asyncio.AbstractEventLoop,
        work: Coroutine[Any, Any, T] | Generator[Any, None, T],
        context: Context | None = None,
    ) -> asyncio.Task[T]:
        """A task factory: tasks belong to whoever makes them."""
        steps: Coroutine[Any, Any, T] = Steps(work, self.owner, self)  # type: ignore[arg-type]
        return asyncio.Task(steps, loop=loop, context=context)


class Steps(Coroutine[Any, Any, T]):
    """A coroutine whose steps are metered."""

    def __init__(self, work: Coroutine[Any, Any, T], owner: str, meter: Meter) -> None:
        self._work, self._owner, self._meter = work, owner, meter

    def __await__(self) -> Generator[Any, Any, T]:
        return cast("Generator[Any, Any, T]", self)

    def __iter__(self) -> Steps[T]:
        return self

    def __next__(self) -> Any:
        return self.send(None)

    def send(self, value: Any) -> Any:
        return self._metered(self._work.send, value)

    def throw(self, *error: Any) -> Any:
        return self._metered(self._work.throw, *error)

    def close(self) -> None:
        self._work.close()

    def _metered(self, step: Callable[..., Any], *values: Any) -> Any:
        before = self._meter.switch(self._owner)
        try:
            return step(*values)
        finally:
            self._meter.switch(before)
