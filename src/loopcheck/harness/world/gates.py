"""Gates: tool bodies that wait until certain points were passed.

Nothing is judged by how long a wait took. When all is idle the gate that waits longest is let go
by force, so that a loop which runs its tools one by one cannot hang on a gate that only a
parallel one could open.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Opening: TypeAlias = Literal["opened", "forced"]


class CaseEnded(Exception):
    """The case has ended: its world executes nothing any more."""

    def __init__(self) -> None:
        super().__init__("the case has ended")


@dataclass(frozen=True, slots=True, eq=False)
class Waiter:
    """A body that waits; `opened` is done when it may go on, and raises CaseEnded at the end.

    One that `hangs` waits for nothing, so that only the end of the case lets it go.
    """

    gate: str
    points: frozenset[str]
    hangs: bool = False
    opened: Future[None] = field(default_factory=Future)


class Gates:
    """The bodies that wait, in the order in which they began to.

    `record` journals which gate opened and how, before its body goes on. With a `clock` of the
    caller's own nothing is forced until `tick()`; without one a daemon thread does it, which
    lives only while something waits.
    """

    def __init__(
        self,
        *,
        record: Callable[[str, Opening], None],
        quiet_seconds: float,
        clock: Callable[[], float] | None = None,
    ) -> None:
        self._record = record
        self._quiet_seconds = quiet_seconds
        self._clock = clock or time.monotonic
        self._ticks_itself = clock is None
        self._changed = threading.Condition()
        self._reached: set[str] = set()
        self._waiting: list[Waiter] = []
        self._hanging: list[Waiter] = []
        self._quiet_since = self._clock()
        self._timer: threading.Thread | None = None
        self._closed = False

    def wait_for(self, who: str, points: Iterable[str]) -> Waiter | None:
        """A waiter for all of these points; None when there is nothing to wait for."""
        points = tuple(points)
        with self._changed:
            if self._reached.issuperset(points):
                return None
            waiter = Waiter(f"{who} waits for {' and '.join(points)}", frozenset(points))
            if self._closed:
                waiter.opened.set_exception(CaseEnded())
                return waiter
            self._waiting.append(waiter)
            self._quiet_since = self._clock()
            self._start_timer()
        return waiter

    def hang(self, who: str) -> Waiter:
        """A waiter that is never let go, not even by force, before the case ends."""
        waiter = Waiter(f"{who} hangs", frozenset(), hangs=True)
        with self._changed:
            if self._closed:
                waiter.opened.set_exception(CaseEnded())
            else:
                self._hanging.append(waiter)
        return waiter

    @property
    def held(self) -> int:
        """How many bodies wait, or hang."""
        with self._changed:
            return len(self._waiting) + len(self._hanging)

    def leave(self, waiter: Waiter) -> None:
        """The body of this waiter was interrupted and waits no more."""
        with self._changed:
            for waiting in (self._waiting, self._hanging):
                if waiter in waiting:
                    waiting.remove(waiter)

    def let_go(self, waiter: Waiter, error: Exception | None = None) -> None:
        """Ends the wait of a body that hangs, with this error if there is one. Said of one that
        hangs no more, it does nothing."""
        with self._changed:
            if waiter not in self._hanging:
                return
            self._hanging.remove(waiter)
        if not waiter.opened.set_running_or_notify_cancel():
            return
        if error is not None:
            waiter.opened.set_exception(error)
        else:
            waiter.opened.set_result(None)

    def happened(self, points: Iterable[str]) -> None:
        """A journal entry was written, and passed these points."""
        with self._changed:
            self._quiet_since = self._clock()
            self._reached.update(points)
            ready = [waiter for waiter in self._waiting if waiter.points <= self._reached]
            self._waiting = [waiter for waiter in self._waiting if waiter not in ready]
        for waiter in ready:
            self._release(waiter, "opened")

    def tick(self) -> None:
        """Forces the gate that waits longest, when nothing has happened for long enough."""
        with self._changed:
            if not self._waiting or self._seconds_left() > 0:
                return
            waiter = self._waiting.pop(0)
            self._quiet_since = self._clock()
        self._release(waiter, "forced")

    def close(self) -> None:
        """Ends every wait with CaseEnded, now and from now on."""
        with self._changed:
            self._closed = True
            waiting, self._waiting = [*self._waiting, *self._hanging], []
            self._hanging = []
            self._changed.notify_all()
        for waiter in waiting:
            if waiter.opened.set_running_or_notify_cancel():
                waiter.opened.set_exception(CaseEnded())

    def _release(self, waiter: Waiter, how: Opening) -> None:
        self._record(waiter.gate, how)
        # An interrupted body may have cancelled it in the meantime.
        if waiter.opened.set_running_or_notify_cancel():
            waiter.opened.set_result(None)

    def _seconds_left(self) -> float:
        return self._quiet_since + self._quiet_seconds - self._clock()

    def _start_timer(self) -> None:
        if self._ticks_itself and self._timer is None:
            self._timer = threading.Thread(target=self._run, name="loopcheck-gates", daemon=True)
            self._timer.start()

    def _run(self) -> None:
        while self._waited_until_quiet():
            self.tick()

    def _waited_until_quiet(self) -> bool:
        with self._changed:
            while self._waiting and (left := self._seconds_left()) > 0:
                self._changed.wait(left)
            if not self._waiting:
                self._timer = None
            return bool(self._waiting)
