"""The shell, over an adapter that plays a script."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from loopcheck.reference_loop import (
    CallResult,
    Calls,
    Clock,
    Failed,
    Final,
    Limits,
    LoopOutcome,
    LoopTool,
    ProposedCall,
    ReferenceLoop,
    Refused,
    Reply,
    Retries,
    TaskInfo,
    ToolDefinitionError,
    ToolOffer,
)
from loopcheck.reference_loop.arguments import JsonObject

pytestmark = pytest.mark.asyncio

SCHEMA = {"type": "object", "properties": {}, "additionalProperties": False}


@dataclass
class Script:
    """Gives these replies in turn; None never answers, an exception is raised."""

    replies: list[Reply | Exception | None]
    started: list[TaskInfo] = field(default_factory=list)
    asked: list[tuple[str, ...]] = field(default_factory=list)

    def start(self, task: TaskInfo) -> tuple[str, ...]:
        self.started.append(task)
        return (task.prompt,)

    async def request(self, conversation: tuple[str, ...]) -> Reply:
        self.asked.append(conversation)
        reply = self.replies.pop(0)
        if reply is None:
            await asyncio.Event().wait()
        if isinstance(reply, Exception):
            raise reply
        assert reply is not None
        return reply

    def append(
        self, conversation: tuple[str, ...], calls: Calls, results: Sequence[CallResult]
    ) -> tuple[str, ...]:
        return (*conversation, str(calls.turn), *(result.text for result in results))


def tool(*, log: list[str] | None = None, stop: asyncio.Event | None = None) -> LoopTool:
    async def invoke(arguments: JsonObject, *, call_id: str, operation_id: str | None) -> str:
        if log is not None:
            log.append(call_id)
        if stop is not None:
            stop.set()
        return f"result of {call_id}"

    return LoopTool(
        name="look", description="Looks.", parameters=SCHEMA, kind="read", invoke=invoke
    )


def calls(*ids: str) -> Calls:
    return Calls(
        tuple(ProposedCall(call_id=i, name="look", arguments_text="") for i in ids), "turn"
    )


async def test_a_run_from_prompt_to_answer() -> None:
    script = Script([calls("a", "b"), Final("Done.")])
    outcome = await ReferenceLoop(script, [tool()], tool_choice="look").run("Go.")
    assert outcome == LoopOutcome("completed", "final_answer", "Done.")
    assert script.started == [
        TaskInfo(
            prompt="Go.",
            tools=(ToolOffer(name="look", description="Looks.", parameters=SCHEMA),),
            tool_choice="look",
        )
    ]
    assert script.asked == [("Go.",), ("Go.", "turn", "result of a", "result of b")]


async def test_one_loop_runs_many_tasks_each_on_its_own() -> None:
    loop = ReferenceLoop(
        Script([calls("a"), Final("1"), calls("a"), Final("2")]), [tool()], Limits(rounds=2)
    )
    assert [(await loop.run("Go.")).text for _ in range(2)] == ["1", "2"]


async def test_a_broken_response_leaves_nothing_behind_and_repeats_no_tool() -> None:
    log: list[str] = []
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    broken = Failed("reset", retryable=True)
    script = Script([broken, calls("a"), broken, broken, Final("Done.")])
    loop = ReferenceLoop(
        script, [tool(log=log)], retries=Retries(first_seconds=1), clock=Clock(sleep=sleep)
    )
    assert (await loop.run("Go.")).state == "completed"
    assert log == ["a"]
    assert script.asked == [("Go.",)] * 2 + [("Go.", "turn", "result of a")] * 3
    assert pauses == [1.0, 1.0, 2.0]


async def test_retries_may_come_at_once() -> None:
    script = Script([Failed("reset", retryable=True), Final("Done.")])
    loop = ReferenceLoop(script, retries=Retries(first_seconds=0.0), clock=Clock(sleep=_never))
    assert (await loop.run("Go.")).state == "completed"


async def _never(seconds: float) -> None:
    raise AssertionError("a pause of no length is no pause")


@pytest.mark.parametrize(
    ("replies", "outcome"),
    [
        ([Refused("No.")], LoopOutcome("refused", "refused", "No.")),
        (
            [Failed("bad key", retryable=False)],
            LoopOutcome("failed", "provider_failure", "bad key"),
        ),
        ([calls("a"), calls("b")], LoopOutcome("limit", "max_rounds", "")),
        ([calls("a", "b", "c")], LoopOutcome("limit", "max_tool_calls", "")),
    ],
)
async def test_how_runs_end(replies: list[Reply | Exception | None], outcome: LoopOutcome) -> None:
    script = Script(replies)
    loop = ReferenceLoop(script, [tool()], Limits(rounds=2, tool_calls=2))
    assert await loop.run("Go.") == outcome
    assert script.replies == []


async def test_time_ends_a_request_that_does_not_end() -> None:
    script = Script([None])
    loop = ReferenceLoop(script, limits=Limits(seconds=0.001))
    assert await loop.run("Go.") == LoopOutcome("limit", "max_elapsed", "")
    assert len(script.asked) == 1


async def test_a_time_out_of_the_adapter_is_not_the_limit() -> None:
    loop = ReferenceLoop(Script([TimeoutError("its own")]), limits=Limits(seconds=3600))
    with pytest.raises(TimeoutError, match="its own"):
        await loop.run("Go.")


async def test_stop_lets_what_runs_finish_and_begins_nothing() -> None:
    stop = asyncio.Event()
    script = Script([calls("a"), Final("unseen")])
    loop = ReferenceLoop(script, [tool(stop=stop)])
    cancelled = LoopOutcome("cancelled", "cancelled_by_user", "")
    assert await loop.run("Go.", stop=stop) == cancelled
    assert script.asked == [("Go.",)]
    assert await loop.run("Go.", stop=stop) == cancelled
    assert script.asked == [("Go.",)]


async def test_stop_while_the_model_answers_runs_no_tool() -> None:
    stop = asyncio.Event()
    log: list[str] = []

    class Stopping(Script):
        async def request(self, conversation: tuple[str, ...]) -> Reply:
            stop.set()
            return await super().request(conversation)

    outcome = await ReferenceLoop(Stopping([calls("a")]), [tool(log=log)]).run("Go.", stop=stop)
    assert outcome.state == "cancelled"
    assert log == []


async def test_tools_are_checked_at_the_door() -> None:
    with pytest.raises(ToolDefinitionError, match="two tools are named 'look'"):
        ReferenceLoop(Script([]), [tool(), tool()])
