"""What the loop says about a run as it goes along; here, nobody listens.

The loop calls these methods where things happen. Without observers they only do what has to be
done; `told.py` has those that tell somebody.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import Final

from loopcheck.reference_loop.approvals import Answered
from loopcheck.reference_loop.checkpoints import CheckpointName
from loopcheck.reference_loop.events import Action, Event, Reply
from loopcheck.reference_loop.machine import Run
from loopcheck.reference_loop.records import CallRecord


class Watch:
    """Nobody watches."""

    def run(self, current: Callable[[], Run], prompt: str | None) -> AbstractContextManager[None]:
        """A run is worked on; without a prompt, it was stored before."""
        return nullcontext()

    async def request(self, run: Run, ask: Callable[[], Awaitable[Reply]]) -> Reply:
        """The model is asked."""
        return await ask()

    async def tool(self, record: CallRecord, work: Awaitable[CallRecord]) -> CallRecord:
        """A tool works on the call that began with this record."""
        return await work

    def stepped(self, run: Run, event: Event, action: Action | None) -> None:
        """The machine has made a step."""

    def trying_again(
        self, record: CallRecord, code: str, failures: int, after_seconds: float
    ) -> None:
        """A read has failed and is tried again."""

    def answered(self, answers: Iterable[Answered]) -> None:
        """People have decided."""

    def commit(self, name: CheckpointName, commit: Callable[[], None]) -> None:
        """The run is saved."""
        commit()


NOBODY: Final = Watch()
