"""What the smoke case complains of, one sentence for each way of being unfit for trial."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from stdlib_loop import ask, honest

import loopcheck
from loopcheck.fake_providers.script import Mode
from loopcheck.harness.cases import CaseSpec
from loopcheck.harness.inprocess import InProcess
from loopcheck.harness.runner import RunOptions, play
from loopcheck.harness.smoke import SMOKE, complaint
from loopcheck.harness.stage import Stage
from loopcheck.harness.target import Target
from loopcheck.harness.task import Outcome, Task, Tool


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    with Stage() as stage:
        yield stage


def said(
    function: Callable[[Task], Outcome], stage: Stage, *, mode: Mode = "whole", seconds: float = 30
) -> str | None:
    target = Target(name="tried", function=function, dialects=("chat",), modes=("whole",))
    spec = CaseSpec(SMOKE, "chat", mode)
    with InProcess(target) as driver:
        entries, _ = play(driver, target.card(), spec, stage, RunOptions(case_seconds=seconds))
    return complaint(entries, spec)


def asked(task: Task, *messages: object, **changes: object) -> Outcome:
    choice = ask(replace(task, **changes), list(messages) or [prompt(task)])  # type: ignore[arg-type]
    return loopcheck.final(choice["message"]["content"])


OTHER = Tool(
    name="other",
    description="",
    parameters={"type": "object", "properties": {}},
    kind="read",
    function=print,
    call=lambda arguments: "",
    acall=print,  # type: ignore[arg-type]
)


def prompt(task: Task) -> dict[str, str]:
    return {"role": "user", "content": task.prompt}


@pytest.mark.parametrize("mode", ["whole", "stream"])
def test_nothing_is_wrong_with_an_honest_loop(stage: Stage, mode: Mode) -> None:
    assert said(honest.function, stage, mode=mode) is None  # type: ignore[arg-type]


def test_no_request(stage: Stage) -> None:
    assert said(lambda task: loopcheck.final("I am ready."), stage) == (
        "it sent no request to task.base_url; it ended as completed, I am ready."
    )


def test_an_exception_before_the_first_request(stage: Stage) -> None:
    def raising(task: Task) -> Outcome:
        raise TypeError("unexpected keyword argument 'temperature'")

    line = raising.__code__.co_firstlineno + 1
    said_of_it = said(raising, stage)
    assert said_of_it is not None
    assert said_of_it.startswith(
        "it sent no request to task.base_url; TypeError: unexpected keyword argument 'temperature'"
    )
    assert said_of_it.endswith(f"test_smoke.py:{line})")


def test_a_refused_request(stage: Stage) -> None:
    complained = said(lambda task: asked(task, {"role": "nobody", "content": "x"}), stage)
    assert complained is not None
    assert complained.startswith("its request was refused: ")


def test_a_wrong_key(stage: Stage) -> None:
    complained = said(lambda task: asked(task, api_key="sk-mine"), stage)
    assert complained is not None
    assert complained.startswith("its request was refused: Incorrect API key provided")


def test_neither_prompt_nor_tools(stage: Stage) -> None:
    unasked = "no request held task.prompt as a user message together with one of task.tools"
    assert said(lambda task: asked(task, {"role": "user", "content": "Hi."}), stage) == unasked
    assert said(lambda task: asked(task, specs=(OTHER,)), stage) == unasked


def test_an_answer_that_is_no_end(stage: Stage) -> None:
    def unsatisfied(task: Task) -> Outcome:
        asked(task)
        return loopcheck.ended("limit", "max_rounds")

    assert said(unsatisfied, stage) == (
        "a plain answer was not taken as the end; it ended as limit, max_rounds"
    )


@pytest.mark.parametrize(
    ("mode", "stream", "complained"),
    [
        (
            "whole",
            True,
            "declares mode 'whole' but asks for a stream; honour task.stream",
        ),
        (
            "stream",
            False,
            "declares mode 'stream' but asks for a whole response; honour task.stream",
        ),
    ],
)
def test_the_wrong_mode(stage: Stage, mode: Mode, stream: bool, complained: str) -> None:
    assert said(lambda task: asked(task, stream=stream), stage, mode=mode) == complained


def test_no_outcome(stage: Stage) -> None:
    assert said(lambda task: None, stage) == (  # type: ignore[arg-type, return-value]
        "target 'tried' returned NoneType; return loopcheck.final(text) or another Outcome"
    )
