"""Adapters as targets: the reference loop drives what a factory makes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, cast

import pytest

import loopcheck
from loopcheck.harness.cases import expand
from loopcheck.harness.inprocess import InProcess
from loopcheck.harness.runner import RunOptions, run_case
from loopcheck.harness.scenario.load import load_text
from loopcheck.harness.stage import Stage
from loopcheck.harness.target import TargetError
from loopcheck.harness.targets.reference import over_sdks, reference
from loopcheck.harness.task import Limits, Outcome, Task, Tool
from loopcheck.reference_loop import (
    CallResult,
    Calls,
    Final,
    ProposedCall,
    ProviderAdapter,
    Reply,
    TaskInfo,
    Usage,
)

DRIVEN = {
    "cancel",
    "context_limit",
    "cost_limit",
    "limits",
    "operation_ids",
    "parallel",
    "repeat_limit",
    "reports_effects",
    "token_limit",
    "tool_call_limit",
    "tool_timeout",
    "validates",
}


@dataclass
class Recorder:
    """Takes calls of the tool and writes them down."""

    calls: list[tuple[object, ...]] = field(default_factory=list)

    async def acall(
        self, arguments: Mapping[str, object], *, call_id: str, operation_id: str | None
    ) -> str:
        self.calls.append((dict(arguments), call_id, operation_id))
        return "done"


def task(recorder: Recorder, *, limits: Limits | None = None) -> Task:
    book = Tool(
        name="book",
        description="Books.",
        parameters={"type": "object", "properties": {"n": {"type": "integer"}}},
        kind="write",
        operation=("n",),
        function=print,
        call=str,
        acall=recorder.acall,
    )
    return Task(
        case="c",
        dialect="chat",
        stream=False,
        base_url="http://fake.invalid/v1",
        api_key="sk-test",
        model="m",
        prompt="Go.",
        specs=(book,),
        limits=limits or Limits(),
        tool_choice="book",
    )


@dataclass
class Always:
    """Calls the tool in every response, or answers once it was told to."""

    rounds: int
    seen: list[TaskInfo] = field(default_factory=list)

    def start(self, info: TaskInfo) -> int:
        self.seen.append(info)
        return 0

    async def request(self, round_: int) -> Reply:
        if round_ == self.rounds:
            return Final("Done.")
        call = ProposedCall(call_id=f"c{round_}", name="book", arguments_text=f'{{"n":{round_}}}')
        return Calls((call,), None)

    def append(self, round_: int, calls: Calls, results: Sequence[CallResult]) -> int:
        return round_ + 1


def run(target: loopcheck.Target, given: Task) -> Outcome:
    async def drive() -> Outcome:
        return await cast("Awaitable[Outcome]", target(given))

    return asyncio.run(drive())


def test_an_adapter_is_a_target_that_the_reference_loop_drives() -> None:
    adapter = Always(rounds=2)

    @loopcheck.adapter(dialects=["chat"], modes=["whole"], can=["thinking"], packages=["openai"])
    def mine(task: loopcheck.Task) -> ProviderAdapter[Any]:
        return adapter

    assert (mine.name, mine.dialects, mine.modes) == ("mine", ("chat",), ("whole",))
    assert mine.can == DRIVEN | {"thinking"}
    assert mine.is_async
    recorder = Recorder()
    assert run(mine, task(recorder)) == loopcheck.final("Done.")
    assert [call[:2] for call in recorder.calls] == [({"n": 0}, "c0"), ({"n": 1}, "c1")]
    operations = [call[2] for call in recorder.calls]
    assert len(set(operations)) == 2
    assert None not in operations
    [info] = adapter.seen
    assert (info.prompt, info.tool_choice, info.tools[0].name) == ("Go.", "book", "book")


@pytest.mark.parametrize(
    ("limits", "reason", "executed"),
    [
        (Limits(rounds=3), "max_rounds", 3),
        (Limits(tool_calls=2), "max_tool_calls", 2),
        (Limits(seconds=0.0), "max_elapsed", 0),
        (Limits(), "max_rounds", 50),
    ],
)
def test_the_limits_of_the_task_are_kept(limits: Limits, reason: str, executed: int) -> None:
    class Patient(Always):
        async def request(self, round_: int) -> Reply:
            await asyncio.sleep(0)
            return await super().request(round_)

    target = loopcheck.adapter(dialects=["chat"], name="x")(lambda task: Patient(rounds=99))
    recorder = Recorder()
    outcome = run(target, task(recorder, limits=limits))
    assert (outcome.state, outcome.reason) == ("limit", reason)
    assert len(recorder.calls) == executed


def test_a_factory_may_give_an_adapter_that_has_to_be_closed() -> None:
    log: list[str] = []

    @loopcheck.adapter(dialects=["chat"])
    @asynccontextmanager
    async def closing(task: loopcheck.Task) -> AsyncIterator[ProviderAdapter[Any]]:
        log.append("opened")
        yield Always(rounds=0)
        log.append("closed")

    assert run(closing, task(Recorder())) == loopcheck.final("Done.")
    assert log == ["opened", "closed"]


def test_what_is_no_adapter_is_said_to_be_none() -> None:
    target = loopcheck.adapter(dialects=["chat"], name="x")(lambda task: cast("Any", object()))
    with pytest.raises(TargetError, match=r"object is no provider adapter: it has no start\(\)"):
        run(target, task(Recorder()))


def test_the_reference_target_declares_everything_it_does() -> None:
    assert reference.name == "reference"
    assert reference.dialects == ("responses", "chat", "messages")
    assert reference.modes == ("whole", "stream")
    kept = {"approval", "follow_up", "input", "resume"}
    assert reference.can == DRIVEN | kept | {"earlier", "hosted", "thinking"}
    assert reference.card().packages.keys() == {"openai", "anthropic", "jsonschema"}


SILENT = b"""
format: 1
title: A stream that falls silent
rule: It is asked for again.
prompt: Book 12.
tools:
  book: {kind: write, args: {n: integer}}
turns:
  - calls: [{as: twelve, tool: book, args: {n: 12}}]
    attempts:
      - {fault: stall, at: {in: twelve, after: "1"}}
      - {fault: http, error: rate_limit, retry_after: {date: 30 s}}
      - normal
  - say: Booked.
expect:
  must: {executions: {book: 1}, outcome: {any_of: [completed, failed]}}
  should: {outcome: completed}
modes: [stream]
"""


def test_silence_ends_an_attempt_and_no_long_wait_is_waited() -> None:
    [*specs] = expand([load_text(SILENT, file="silent.yaml", id="silent")])
    target = over_sdks(silence_seconds=0.2)
    with Stage() as stage, InProcess(target) as driver:
        for spec in specs:
            result = run_case(driver, target.card(), spec, stage, RunOptions())
            assert (result.verdict, result.findings) == ("pass", ())
            assert result.summary == "4 requests, 1 execution, 1 effect"
            assert result.seconds < 5
    assert len(specs) == 3


def test_the_token_limit_of_the_task_is_kept() -> None:
    class Costly(Always):
        async def request(self, round_: int) -> Reply:
            reply = await super().request(round_)
            return replace(reply, usage=Usage(input_tokens=9, output_tokens=1))

    target = loopcheck.adapter(dialects=["chat"], name="x")(lambda task: Costly(rounds=99))
    outcome = run(target, task(Recorder(), limits=Limits(tokens=25)))
    assert (outcome.state, outcome.reason) == ("limit", "max_tokens")
