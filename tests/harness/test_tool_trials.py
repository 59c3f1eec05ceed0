"""Loops on trial whose tools hang, commit late, are busy or hand back images."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
from stdlib_loop import ask, honest, parsed, result, spec_of
from trial_cases import case

import loopcheck
from loopcheck.harness.inprocess import InProcess
from loopcheck.harness.results import CaseResult
from loopcheck.harness.runner import RunOptions, run_case
from loopcheck.harness.stage import Stage
from loopcheck.harness.target import Target

CarryOut = Callable[[loopcheck.Tool, dict[str, object]], Awaitable[str]]
PATIENCE = 0.02


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    with Stage() as stage:
        yield stage


def text(tool: str, needs: str, expect: str) -> str:
    return f"""\
turns:
  - calls: [{{as: pay, tool: pay, args: {{to: Ann}}}}]
  - {{optional: true, say: Done.}}
needs: [{needs}]
tools:
  pay: {{args: {{to: string}}, {tool}}}
expect: {{must: {{{expect}}}}}
"""


HEAD = "format: 1\ntitle: A payment\nrule: A rule.\nprompt: Pay Ann.\n"


def loop(carry_out: CarryOut) -> Target:
    """A loop that carries its calls out like this, one by one."""

    async def run(task: loopcheck.Task) -> loopcheck.Outcome:
        messages: list[object] = [{"role": "user", "content": task.prompt}]
        while True:
            choice = await asyncio.to_thread(ask, task, messages)
            calls: list[Any] = choice["message"].get("tool_calls") or []
            if not calls:
                return loopcheck.final(choice["message"]["content"])
            messages.append(choice["message"])
            for call in calls:
                arguments = parsed(call["function"]["arguments"])
                messages.append(result(call, await carry_out(spec_of(task, call), arguments)))

    can = frozenset({"tool_timeout", "images", "operation_ids"})
    return Target(name="tried", dialects=("chat",), modes=("whole",), can=can, function=run)


def tried(target: Target, stage: Stage, scenario: str, seconds: float = 30.0) -> CaseResult:
    options = RunOptions(case_seconds=seconds)
    with InProcess(target) as driver:
        return run_case(driver, target.card(), case(scenario, head=HEAD), stage, options)


async def once(spec: loopcheck.Tool, arguments: dict[str, object]) -> str:
    """Gives a tool some time, and says so when it was not enough."""
    try:
        return await asyncio.wait_for(spec.acall(arguments, operation_id="op-1"), PATIENCE)
    except TimeoutError:
        return "error: it is unknown whether this was done"


async def twice(spec: loopcheck.Tool, arguments: dict[str, object]) -> str:
    """Does it again when it took too long."""
    try:
        return await asyncio.wait_for(spec.acall(arguments), PATIENCE)
    except TimeoutError:
        return await spec.acall(arguments)


async def looked_up(spec: loopcheck.Tool, arguments: dict[str, object]) -> str:
    """Looks an operation up that took too long, and does it again where it was not done."""
    try:
        return await asyncio.wait_for(spec.acall(arguments, operation_id="op-1"), PATIENCE)
    except TimeoutError:
        assert spec.look_up is not None
        found = spec.look_up("op-1")
    if found["status"] == "found":
        return str(found["result"])
    return await spec.acall(arguments, operation_id="op-1")


async def patient(spec: loopcheck.Tool, arguments: dict[str, object]) -> str:
    """Waits as long as a busy system asks, by a clock of its own."""
    with pytest.raises(loopcheck.RateLimited) as busy:
        await spec.acall(arguments)
    assert busy.value.retry_after == 3600
    return await spec.acall(arguments)


@pytest.mark.parametrize(
    ("tool", "effects"),
    [
        ("kind: read, behaves: [never-answers]", 0),
        ("kind: write, behaves: [never-answers]", 0),
        ("kind: write, behaves: [commit-then-hang]", 1),
        ("kind: write, behaves: [commit-late]", 1),
    ],
)
def test_loop_that_gives_up_in_time_passes(stage: Stage, tool: str, effects: int) -> None:
    expect = (
        f"executions: {{pay: 1}}, effects: {{pay: {effects}}}, "
        "results: {pay: {any_of: [error, none]}}"
    )
    tried_once = tried(loop(once), stage, text(tool, "tool_timeout", expect))
    assert (tried_once.verdict, tried_once.outcome) == ("pass", "completed/final_answer")


def test_loop_that_waits_for_ever_hangs(stage: Stage) -> None:
    async def for_ever(spec: loopcheck.Tool, arguments: dict[str, object]) -> str:
        return await spec.acall(arguments)

    scenario = text("kind: read, behaves: [never-answers]", "tool_timeout", "executions: {pay: 1}")
    hung = tried(loop(for_ever), stage, scenario, seconds=0.2)
    assert hung.verdict == "fail"
    assert any("hung: it did not end" in line for line in hung.lines)


def test_loop_without_time_outs_is_not_declared(stage: Stage) -> None:
    scenario = text("kind: read, behaves: [never-answers]", "tool_timeout", "executions: {pay: 1}")
    assert tried(honest, stage, scenario).verdict == "not declared"


@pytest.mark.parametrize("behaviour", ["commit-then-hang", "commit-late"])
def test_write_that_is_repeated_after_a_time_out_is_found(stage: Stage, behaviour: str) -> None:
    tool = f"kind: write, operation: [to], behaves: [{behaviour}, normal]"
    scenario = text(tool, "tool_timeout", "executions: {pay: {at_most: 2}}")
    found = tried(loop(twice), stage, scenario)
    assert {(one.check, one.level) for one in found.findings} >= {
        ("execution.once", "must"),
        ("effect.once", "must"),
    }


def test_read_is_repeated_after_a_time_out(stage: Stage) -> None:
    tool = "kind: read, behaves: [never-answers, normal]"
    expect = "executions: {pay: {at_most: 2}}, results: {pay: {any_of: [own, error, none]}}"
    found = tried(loop(twice), stage, text(tool, "tool_timeout", expect))
    assert (found.verdict, found.findings) == ("pass", ())


@pytest.mark.parametrize(
    ("lookup", "executions"),
    [("found", 1), ("absent", 2)],
)
def test_look_up_tells_what_a_late_effect_became(
    stage: Stage, lookup: str, executions: int
) -> None:
    behaves = "commit-late" if lookup == "found" else "never-answers"
    tool = f"kind: write, operation: [to], lookup: {lookup}, behaves: [{behaves}, normal]"
    expect = (
        f"executions: {{pay: {executions}}}, effects: {{pay: 1}}, "
        "results: {pay: {any_of: [own, error, none]}}"
    )
    found = tried(loop(looked_up), stage, text(tool, "tool_timeout", expect))
    assert (found.verdict, found.findings) == ("pass", ())


def test_busy_system_is_asked_again(stage: Stage) -> None:
    tool = "kind: write, behaves: [{rate-limited: 1 hour}, normal]"
    expect = "executions: {pay: 2}, effects: {pay: 1}, results: {pay: {any_of: [own, error, none]}}"
    found = tried(loop(patient), stage, text(tool, "", expect))
    assert (found.verdict, found.findings) == ("pass", ())


def test_text_of_a_result_with_parts_is_its_calls_own(stage: Stage) -> None:
    tool = "kind: read, returns_parts: [{text: Plan}, {image: png}]"
    expect = "results: {pay: own}, executions: {pay: 1}"
    found = tried(loop(once), stage, text(tool, "images", expect))
    assert (found.verdict, found.findings) == ("pass", ())
