"""Answers the calls of one response: every call gets exactly one result, whatever happens.

Reads that stand together run together, so many at a time. A write waits for all that precedes
it and runs alone, so that writes happen in the order in which the model asked for them.

A call that has its result keeps it, so the same batch can be gone through again after the
process died in the midst of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from loopcheck.reference_loop.events import CallResult, CheckedCall
from loopcheck.reference_loop.execution import Bench, ToCall
from loopcheck.reference_loop.intents import Intents
from loopcheck.reference_loop.reads import read
from loopcheck.reference_loop.records import CallRecord, Place
from loopcheck.reference_loop.tools import LoopTool
from loopcheck.reference_loop.writes import write


@dataclass(frozen=True, slots=True)
class Executor:
    """Runs the tools of one run."""

    tools: Mapping[str, LoopTool]
    bench: Bench

    async def answer(self, checked: Sequence[CheckedCall], round_: int) -> tuple[CallResult, ...]:
        """One result for each call, in the order of the calls.

        Raises Unsettled when a person has to find out what became of a write.
        """
        places = [(round_, position) for position in range(len(checked))]
        items = [self._sort(call, place) for call, place in zip(checked, places, strict=True)]
        waiting = [item for item in items if isinstance(item, ToCall)]
        intents = Intents(self.bench, [item for item in waiting if _is_write(item)])
        try:
            await self._run(waiting, intents)
        finally:
            intents.take_back()
        return tuple(self.bench.records[place].result() for place in places)

    async def _run(self, waiting: Sequence[ToCall], intents: Intents) -> None:
        wrote = False
        for is_write, group in groupby(waiting, key=_is_write):
            if is_write:
                for item in group:
                    await write(intents, item)
            else:
                if wrote:
                    # Reads may take long; at the end, the results are saved anyway.
                    intents.settle()
                async with asyncio.TaskGroup() as tasks:
                    for item in group:
                        tasks.create_task(read(self.bench, item))
            wrote = is_write

    def _sort(self, checked: CheckedCall, place: Place) -> ToCall | CallRecord:
        """The call that is to be made, or its record if it has its result."""
        record = self.bench.records[place]
        if record.is_over:
            return record
        tool = self.tools.get(checked.call.name)
        if tool is None or (checked.verdict != "allowed" and record.outcome != "begun"):
            return self.bench.failed(record, checked.code, checked.message, outcome="rejected")
        return ToCall(checked, record, tool)


def _is_write(item: ToCall) -> bool:
    return item.tool.kind == "write"
