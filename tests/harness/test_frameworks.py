"""Two real frameworks on trial: one is caught running a cut call, one is not accused of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from loopcheck.harness.cases import CaseSpec, expand
from loopcheck.harness.inprocess import InProcess
from loopcheck.harness.results import CaseResult
from loopcheck.harness.runner import RunOptions, run_case
from loopcheck.harness.scenario.load import load_builtin, load_text
from loopcheck.harness.stage import Stage
from loopcheck.harness.target import Target
from loopcheck.reports.terminal import failure_block

PARTIAL = "truncation/trunc-length-partial-args"
STREAMED = {
    "chat": f"{PARTIAL}[chat-stream]",
    "responses": f"{PARTIAL}[responses-stream]",
    "messages": f"{PARTIAL}-messages[messages-stream]",
}
SPECS = {
    spec.id: spec
    for spec in expand(load_builtin())
    if spec.scenario.id in (PARTIAL, f"{PARTIAL}-messages")
}
# What these packages warn of at import and leave unclosed is theirs, and no news here.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    with Stage() as stage:
        yield stage


@pytest.fixture(scope="module")
def langchain() -> Iterator[tuple[Target, InProcess]]:
    for package in ("langchain", "langchain_openai", "langchain_anthropic"):
        pytest.importorskip(package, reason=f"{package} is not installed: loopcheck[langchain]")
    from loopcheck.harness.targets.langchain import langchain

    yield from driven(langchain)


@pytest.fixture(scope="module")
def pydantic_ai() -> Iterator[tuple[Target, InProcess]]:
    pytest.importorskip(
        "pydantic_ai", reason="pydantic_ai is not installed: loopcheck[pydantic-ai]"
    )
    from loopcheck.harness.targets.pydantic_ai import pydantic_ai

    yield from driven(pydantic_ai)


@pytest.fixture(scope="module")
def openai_agents() -> Iterator[tuple[Target, InProcess]]:
    pytest.importorskip("agents", reason="agents is not installed: loopcheck[openai-agents]")
    from loopcheck.harness.targets.openai_agents import openai_agents

    yield from driven(openai_agents)


def driven(target: Target) -> Iterator[tuple[Target, InProcess]]:
    with InProcess(target) as driver:
        yield target, driver


def tried(on_trial: tuple[Target, InProcess], spec: CaseSpec, stage: Stage) -> CaseResult:
    target, driver = on_trial
    return run_case(driver, target.card(), spec, stage, RunOptions())


@pytest.mark.parametrize("dialect", STREAMED)
def test_streamed_langchain_is_caught_running_a_cut_call(
    langchain: tuple[Target, InProcess], stage: Stage, dialect: str
) -> None:
    result = tried(langchain, SPECS[STREAMED[dialect]], stage)
    assert result.verdict == "fail"
    assert result.findings[0].check == "execution.complete-only"
    shown = failure_block(result)
    assert "reserve_seat(event='E1', seat=1)" in shown  # what ran
    assert 'the model had sent {"event":"E1","seat":1 and then' in shown
    assert "(seat=12 was meant)" in shown


@pytest.mark.parametrize("case", SPECS)
def test_pydantic_ai_is_not_accused(
    pydantic_ai: tuple[Target, InProcess], stage: Stage, case: str
) -> None:
    result = tried(pydantic_ai, SPECS[case], stage)
    assert (result.verdict, result.findings) == ("pass", ())


NESTED = b"""\
format: 1
title: A tool takes an object of any kind
rule: A tool whose arguments hold an object runs with them.
dialects: [chat, responses]
tools:
  keep:
    kind: write
    schema:
      type: object
      properties: {facts: {type: object}}
      required: [facts]
prompt: Keep these facts.
turns:
  - calls: [{label: kept, tool: keep, args: {facts: {colour: red}}}]
  - say: Kept.
expect:
  must:
    executions: {keep: 1}
    outcome: completed
"""


@pytest.mark.parametrize("spec", list(expand([load_text(NESTED, file="nested.yaml", id="nested")])))
def test_a_tool_of_the_agents_sdk_takes_any_object(
    openai_agents: tuple[Target, InProcess], stage: Stage, spec: CaseSpec
) -> None:
    result = tried(openai_agents, spec, stage)
    assert (result.verdict, result.findings) == ("pass", ())
