"""What reads and writes have in common: a call to be made, and what is at hand for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from loopcheck.reference_loop.checkpoints import CheckpointName
from loopcheck.reference_loop.clock import Clock
from loopcheck.reference_loop.content import Content, Part, text_of, within
from loopcheck.reference_loop.events import CheckedCall
from loopcheck.reference_loop.limits import ToolLimits
from loopcheck.reference_loop.records import CallOutcome, CallRecord, Records
from loopcheck.reference_loop.results import error_text, is_error, shortened
from loopcheck.reference_loop.telemetry.watch import NOBODY, Watch
from loopcheck.reference_loop.tools import LoopTool


@dataclass(frozen=True, slots=True)
class ToCall:
    """A call that has no result yet, with its tool."""

    checked: CheckedCall
    record: CallRecord
    tool: LoopTool

    @property
    def may_begin(self) -> bool:
        return self.checked.verdict == "allowed"


def _nowhere(name: CheckpointName) -> None:
    """Without a shell around it, an executor has nowhere to save."""


@dataclass(slots=True)
class Bench:
    """What is at hand for running tools: everything of one run that the two kinds share.
    `commits` counts those of the round, so far as this process made them."""

    records: Records
    limits: ToolLimits
    clock: Clock
    stop: asyncio.Event | None = None
    save: Callable[[CheckpointName], None] = _nowhere
    watch: Watch = NOBODY
    retried: int = 0
    commits: int = 0
    room: asyncio.Semaphore = field(init=False)

    def __post_init__(self) -> None:
        self.room = asyncio.Semaphore(self.limits.together)

    @property
    def is_stopped(self) -> bool:
        return self.stop is not None and self.stop.is_set()

    async def invoke(self, item: ToCall) -> str:
        """Runs the tool's body once. Raises TimeoutError when it takes too long."""
        tool, record = item.tool, item.record
        seconds = self.limits.seconds if tool.seconds is None else tool.seconds
        try:
            async with asyncio.timeout(seconds):
                text: object = await tool.invoke(
                    record.arguments or {}, call_id=record.call_id, operation_id=record.operation_id
                )
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and not task.cancelling():
                raise RuntimeError("the tool was cancelled from within") from None
            raise
        if not isinstance(text, str):
            raise TypeError(f"the tool gave {type(text).__name__}, not text")
        return text

    def may_retry(self) -> bool:
        """Whether the run's budget allows one more retry, which is then spent."""
        budget = self.limits.retries.budget
        self.retried += 1
        return budget is None or self.retried <= budget

    def began(self, record: CallRecord) -> CallRecord:
        return self.records.put(replace(record, outcome="begun", began_at=self.clock.wall()))

    def ended(
        self,
        record: CallRecord,
        outcome: CallOutcome,
        text: str,
        code: str = "",
        parts: tuple[Part, ...] = (),
    ) -> CallRecord:
        """Enters what came of a call."""
        return self.records.put(
            replace(
                record,
                outcome=outcome,
                text=text,
                parts=parts,
                code=code,
                ended_at=self.clock.wall(),
            )
        )

    def succeeded(self, record: CallRecord, text: str) -> CallRecord:
        """Enters what a tool gave, as far as it fits."""
        most = self.limits.result_characters
        parts: tuple[Part, ...] = ()
        if isinstance(text, Content):
            images = self.limits.result_image_bytes
            parts = within(text.parts, characters=most, image_bytes=images)
            text = text_of(parts)
        else:
            text = shortened(text, most)
        return self.ended(record, "failed" if is_error(text) else "done", text, parts=parts)

    def failed(
        self,
        record: CallRecord,
        code: str,
        message: str,
        *,
        outcome: CallOutcome = "failed",
        retryable: bool = False,
    ) -> CallRecord:
        return self.ended(record, outcome, error_text(code, message, retryable=retryable), code)
