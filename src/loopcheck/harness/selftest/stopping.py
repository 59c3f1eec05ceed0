"""Liars that the user gives up, and that go on."""

from __future__ import annotations

from queue import SimpleQueue
from threading import Thread
from typing import Final

from loopcheck.harness.selftest.liar import Liar, liar
from loopcheck.harness.selftest.loop import Loop
from loopcheck.harness.task import Outcome, ended


class Draining(Loop):
    """Gives up its wait when it is cancelled, and empties its queue of tools."""

    def rest(self) -> Outcome:
        first: SimpleQueue[Outcome] = SimpleQueue()
        self.task.stop.on_request(lambda: first.put(ended("cancelled", "cancelled_by_user")))
        Thread(target=lambda: first.put(super(Draining, self).rest()), daemon=True).start()
        return first.get()

    def may_run(self) -> bool:
        return True


class Shielded(Draining):
    """Gives up its wait when it is cancelled, and leaves the run to itself."""

    def may_ask(self) -> bool:
        return True


class Heedless(Loop):
    """Says that it can be cancelled, and looks at that nowhere."""

    def may_ask(self) -> bool:
        return True

    def may_run(self) -> bool:
        return True


LIARS: Final[tuple[Liar, ...]] = (
    liar(
        Draining,
        "cancel.stops",
        "selftest/given-up[chat-whole]",
        "selftest/given-up[responses-stream]",
        "selftest/given-up[messages-whole]",
    ),
    liar(
        Shielded,
        "cancel.stops",
        "selftest/given-up[chat-stream]",
        "selftest/given-up[responses-whole]",
        "selftest/given-up[messages-stream]",
    ),
    liar(
        Heedless,
        "scenario.expects",
        "selftest/given-up[chat-whole]",
        "selftest/given-up[responses-whole]",
        "selftest/given-up[messages-stream]",
    ),
)
