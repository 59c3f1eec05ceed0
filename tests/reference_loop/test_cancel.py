"""The user wants no more: at any moment, everything that waits is given up."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from loopcheck.reference_loop import (
    CallResult,
    Calls,
    Clock,
    Failed,
    Final,
    LoopOutcome,
    LoopTool,
    Policy,
    ProposedCall,
    Question,
    ReferenceLoop,
    Reply,
    Retries,
    Ruling,
    TaskInfo,
    ToolLimits,
    ToolUse,
)
from loopcheck.reference_loop.approvals import PersonsAnswer
from loopcheck.reference_loop.arguments import JsonObject
from loopcheck.reference_loop.cancellation import Stopped, unless

pytestmark = pytest.mark.asyncio


@dataclass
class Scene:
    """A run that is stopped at one moment, and what it leaves behind."""

    moment: str
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    log: list[str] = field(default_factory=list)
    requests: int = 0
    calls: tuple[str, ...] = ("book", "book")

    async def at(self, moment: str, *, hangs: bool = True) -> None:
        self.log.append(moment)
        if moment == self.moment:
            self.stop.set()
            if hangs:
                await asyncio.Event().wait()

    def start(self, task: TaskInfo) -> tuple[object, ...]:
        return ()

    async def request(self, conversation: tuple[object, ...]) -> Reply:
        self.requests += 1
        if self.requests == 1:
            await self.at("stream")
            return Failed("reset", retryable=True)
        if conversation:
            return Final("Done.")
        proposed = [
            ProposedCall(call_id=str(n), name=name, arguments_text="{}")
            for n, name in enumerate(self.calls)
        ]
        return Calls(tuple(proposed), None)

    def append(
        self, conversation: tuple[object, ...], calls: Calls, results: Sequence[CallResult]
    ) -> tuple[object, ...]:
        return (*conversation, *((result.call_id, result.text) for result in results))

    async def sleep(self, seconds: float) -> None:
        await self.at("wait")

    async def ask(self, questions: Sequence[Question]) -> Sequence[PersonsAnswer]:
        await self.at("approval")
        return ()

    async def accept(self, text: str) -> str | None:
        await self.at("answer")
        return None

    async def rule(self, use: ToolUse) -> Ruling:
        await self.at("rule")
        return Ruling("ask" if self.moment == "approval" else "always")

    def tool(self, name: str) -> LoopTool:
        async def invoke(arguments: JsonObject, *, call_id: str, operation_id: str | None) -> str:
            await self.at(f"{name} {call_id}", hangs=name == "look")
            return "ok"

        return LoopTool(
            name=name,
            description="",
            parameters={"type": "object"},
            kind="read" if name == "look" else "write",
            invoke=invoke,
        )

    async def run(self) -> LoopOutcome:
        loop = ReferenceLoop(
            self,
            [self.tool("look"), self.tool("book")],
            retries=Retries(first_seconds=1.0),
            tool_limits=ToolLimits(together=1),
            policy=Policy(rule=self.rule),
            ask=self.ask,
            accept=self.accept,
            clock=Clock(sleep=self.sleep),
        )
        return await loop.run("Go.", stop=self.stop)


@pytest.mark.parametrize("moment", ["stream", "wait", "rule", "approval"])
async def test_what_waits_is_given_up_and_leaves_no_open_call(moment: str) -> None:
    scene = Scene(moment)
    outcome = await scene.run()
    assert outcome == LoopOutcome("cancelled", "cancelled_by_user", "")
    assert scene.log[-1] == moment
    assert outcome.conversation == ()


async def test_an_answer_that_is_being_judged_is_given_up() -> None:
    outcome = await Scene("answer").run()
    assert outcome.state == "cancelled"
    assert outcome.conversation == (("0", "ok"), ("1", "ok"))


async def test_a_write_that_runs_is_finished_and_the_next_does_not_begin() -> None:
    scene = Scene("book 0")
    outcome = await scene.run()
    assert outcome.state == "cancelled"
    assert scene.requests == 2
    assert [call.outcome for call in outcome.calls] == ["done", "cancelled"]
    assert isinstance(outcome.conversation, tuple)
    first, second = outcome.conversation
    assert first == ("0", "ok")
    assert json.loads(second[1])["error"]["code"] == "cancelled"


async def test_reads_are_cancelled_and_queued_ones_do_not_begin() -> None:
    scene = Scene("look 0", calls=("look", "look", "book"))
    outcome = await scene.run()
    assert scene.log[-1] == "look 0"
    assert [call.outcome for call in outcome.calls] == ["cancelled"] * 3


async def test_a_run_that_nobody_stops_is_left_alone() -> None:
    outcome = await Scene("never").run()
    assert outcome.state == "completed"


async def test_work_that_is_done_is_not_given_up() -> None:
    stop = asyncio.Event()

    async def work() -> int:
        stop.set()
        return 1

    assert await unless(stop, work()) == 1


async def test_work_may_fail() -> None:
    async def work() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await unless(asyncio.Event(), work())


async def test_work_that_fails_on_being_given_up_is_given_up_all_the_same() -> None:
    stop = asyncio.Event()

    async def work() -> None:
        stop.set()
        try:
            await asyncio.Event().wait()
        finally:
            raise ValueError("on the way out")

    with pytest.raises(Stopped):
        await unless(stop, work())


async def test_nothing_begins_once_it_is_stopped() -> None:
    stop = asyncio.Event()
    stop.set()

    async def work() -> None:
        raise AssertionError

    with pytest.raises(Stopped):
        await unless(stop, work())
