"""Adapters as targets: the reference loop drives what a factory makes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import pytest

import loopcheck
from loopcheck.harness.cases import expand
from loopcheck.harness.inprocess import InProcess
from loopcheck.harness.runner import RunOptions, run_case
from loopcheck.harness.scenario.load import load_text
from loopcheck.harness.stage import Stage
from loopcheck.harness.target import CAPABILITIES, TargetError
from loopcheck.harness.targets.reference import over_sdks, reference
from loopcheck.harness.task import Lane, Limits, Outcome, Task, Tool
from loopcheck.reference_loop import (
    CallResult,
    Calls,
    Final,
    ProposedCall,
    ProviderAdapter,
    Refused,
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
    talks = {"earlier", "lanes", "server_state"}
    assert reference.can == DRIVEN | kept | talks | {"hosted", "images", "thinking"}
    assert reference.can == set(CAPABILITIES)
    assert reference.card().packages.keys() == {"openai", "anthropic", "jsonschema"}


@dataclass
class Talking(Always):
    """Answers, with the model's name and the offered tools, or ends in another way."""

    model: str = ""
    ending: Reply | Exception | None = None

    async def request(self, round_: int) -> Reply:
        await asyncio.sleep(0)
        if isinstance(self.ending, Exception):
            raise self.ending
        return self.ending or Final(" ".join([self.model, *(t.name for t in self.seen[0].tools)]))


def talked(
    folder: Path, endings: Mapping[str, Reply | Exception] | None = None
) -> tuple[Outcome, list[Task]]:
    """The outcome of a task with two lanes, and the tasks of its conversations."""
    given: list[Task] = []
    lanes = (Lane(name="books", model="small", tools=("book",)), Lane(name="none", tools=()))

    @loopcheck.adapter(dialects=["chat"], can=["lanes"])
    def talking(one: loopcheck.Task) -> ProviderAdapter[Any]:
        given.append(one)
        name = one.folder.name
        return Talking(rounds=0, model=one.model, ending=(endings or {}).get(name))

    folder.mkdir()
    return run(talking, replace(task(Recorder()), folder=folder, lanes=lanes)), given


def test_each_lane_is_a_conversation_with_a_model_tools_and_a_folder(tmp_path: Path) -> None:
    outcome, given = talked(tmp_path / "run")
    assert outcome == loopcheck.final("m book")
    assert [one.lanes for one in given] == [(), (), ()]
    assert [one.folder.name for one in given] == ["run", "lane-books", "lane-none"]
    assert all(one.folder.is_dir() for one in given)
    assert [one.model for one in given] == ["m", "small", "m"]
    assert [[spec.name for spec in one.specs] for one in given] == [["book"], ["book"], []]
    assert {one.prompt for one in given} == {"Go."}


def test_a_conversation_that_does_not_get_to_its_end_is_the_outcome_of_all(tmp_path: Path) -> None:
    outcome, _ = talked(tmp_path / "run", {"lane-none": Refused("no")})
    assert (outcome.state, outcome.text) == ("refused", "no")
    outcome, _ = talked(
        tmp_path / "both", {"both": Refused("not this"), "lane-none": Refused("no")}
    )
    assert outcome.text == "not this"


def test_a_conversation_that_breaks_ends_the_others(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        talked(tmp_path / "run", {"lane-books": ZeroDivisionError()})


WAITING = b"""
format: 1
title: Two conversations wait for people
rule: Each goes on from where it stopped.
needs: [lanes, approval, resume]
prompt: Reserve both.
tools:
  seat: {kind: write, args: {n: integer}, approval: ask}
  table: {kind: write, args: {n: integer}, approval: ask}
turns:
  - say: Somebody sees to it.
lanes:
  seats:
    if: {tools: [seat]}
    turns:
      - calls: [{as: twelve, tool: seat, args: {n: 12}}]
      - say: A seat.
  tables:
    if: {tools: [table]}
    turns:
      - calls: [{as: four, tool: table, args: {n: 4}}]
      - say: A table.
meanwhile:
  - {when: [twelve.waiting, four.waiting], do: [{approve: twelve}, {deny: four}]}
expect:
  must:
    executions: {seat: 1, table: 0}
    effects: {seat: 1}
    outcome: completed
"""


def test_conversations_that_wait_for_people_go_on_together() -> None:
    [*specs] = expand([load_text(WAITING, file="waiting.yaml", id="waiting")])
    with Stage() as stage, InProcess(reference) as driver:
        for spec in specs:
            result = run_case(driver, reference.card(), spec, stage, RunOptions())
            assert (result.verdict, result.findings) == ("pass", ())
    assert len(specs) == 6


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
  must: {executions: {book: {at_most: 1}}, outcome: {any_of: [completed, failed]}}
  should: {executions: {book: 1}, outcome: completed}
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
            assert result.seconds < 25  # of the 30 that the service asked for
    assert len(specs) == 3


def test_the_token_limit_of_the_task_is_kept() -> None:
    class Costly(Always):
        async def request(self, round_: int) -> Reply:
            reply = await super().request(round_)
            return replace(reply, usage=Usage(input_tokens=9, output_tokens=1))

    target = loopcheck.adapter(dialects=["chat"], name="x")(lambda task: Costly(rounds=99))
    outcome = run(target, task(Recorder(), limits=Limits(tokens=25)))
    assert (outcome.state, outcome.reason) == ("limit", "max_tokens")
