"""Tools at a desk, and what runs them: the part of a loop between the reply and its results."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Literal

from loopcheck.reference_loop.approvals import Questions
from loopcheck.reference_loop.arguments import JsonObject
from loopcheck.reference_loop.clock import Clock
from loopcheck.reference_loop.events import CallResult, Calls, ProposedCall
from loopcheck.reference_loop.execution import Bench
from loopcheck.reference_loop.executor import Executor
from loopcheck.reference_loop.limits import ToolLimits
from loopcheck.reference_loop.policy import Policy
from loopcheck.reference_loop.records import Records
from loopcheck.reference_loop.review import Review
from loopcheck.reference_loop.tools import (
    LookUp,
    LoopTool,
    catalogue,
)

SCHEMA: JsonObject = {
    "type": "object",
    "properties": {"n": {"type": "integer"}, "note": {"type": "string"}},
    "required": ["n"],
    "additionalProperties": False,
}


@dataclass
class Desk:
    """Tools that write down what is done to them; each of `endings` is the end of one call."""

    endings: list[str | BaseException] = field(default_factory=list)
    answers: list[LookUp | Exception] = field(default_factory=list)
    log: list[str] = field(default_factory=list)
    operations: list[str | None] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    hangs: bool = False

    def tool(
        self,
        name: str,
        kind: Literal["read", "write"],
        *,
        operation: tuple[str, ...] | None = None,
        look_up: bool = False,
        deduplicates: bool = False,
        seconds: float | None = None,
    ) -> LoopTool:
        async def invoke(arguments: JsonObject, *, call_id: str, operation_id: str | None) -> str:
            self.log.append(f"{name} {arguments['n']} begins")
            self.operations.append(operation_id)
            await (asyncio.Event().wait() if self.hangs else asyncio.sleep(0))
            self.log.append(f"{name} {arguments['n']} ends")
            ending = self.endings.pop(0) if self.endings else f"done {arguments['n']}"
            if isinstance(ending, BaseException):
                raise ending
            return ending

        async def ask(operation_id: str) -> LookUp:
            self.asked.append(operation_id)
            answer = self.answers.pop(0)
            if isinstance(answer, Exception):
                raise answer
            return answer

        return LoopTool(
            name=name,
            description="",
            parameters=SCHEMA,
            kind=kind,
            invoke=invoke,
            operation=operation,
            look_up=ask if look_up else None,
            deduplicates=deduplicates,
            seconds=seconds,
        )


def call(name: str, n: int = 1, *, call_id: str = "c", **more: object) -> ProposedCall:
    text = json.dumps({"n": n, **more})
    return ProposedCall(call_id=call_id, name=name, arguments_text=text)


@dataclass
class Runner:
    """Checks and runs one round after the other, as the loop does."""

    tools: Sequence[LoopTool]
    limits: ToolLimits = field(default_factory=ToolLimits)
    stop: asyncio.Event | None = None
    rounds: int = 0
    records: Records = field(default_factory=Records)
    saved: list[str] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    ticks: Iterator[int] = field(default_factory=lambda: count(1))

    def __post_init__(self) -> None:
        self.give(self.tools)

    def give(self, tools: Sequence[LoopTool], policy: Policy | None = None) -> None:
        """Other tools and another policy, with the same records."""
        clock = Clock(wall=lambda: float(next(self.ticks)), sleep=self._sleep)
        named = catalogue(tools)
        questions = Questions("run", self.records)
        self.review = Review(named, policy or Policy(), self.records, questions, clock)
        bench = Bench(self.records, self.limits, clock, self.stop, self.saved.append)
        self.executor = Executor(named, bench)

    async def _sleep(self, seconds: float) -> None:
        self.waits.append(seconds)


async def answer(runner: Runner, *calls: ProposedCall) -> Sequence[CallResult]:
    runner.rounds += 1
    checked = await runner.review.check(Calls(calls, None), runner.rounds)
    return await runner.executor.answer(checked, runner.rounds)


def error_of(result: CallResult) -> dict[str, object]:
    assert result.is_error
    error: dict[str, object] = json.loads(result.text)["error"]
    return error
