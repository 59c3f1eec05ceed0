"""Scenario texts for the tests of the scenario format."""

from __future__ import annotations

from collections.abc import Callable

from loopcheck.harness.scenario.errors import Problem, ScenarioError
from loopcheck.harness.scenario.load import load_text
from loopcheck.harness.scenario.model import Scenario

HEAD = """\
format: 1
title: T
rule: R
prompt: P
tools:
  reserve: {kind: write, args: {event: string, seat: integer}}
  look: {kind: read}
"""
TURNS = """\
turns:
  - calls: [{as: seat, tool: reserve, args: {event: E1, seat: 12}}]
  - say: Done.
"""


def scenario(tail: str, head: str = HEAD) -> Scenario:
    """The scenario in this text, which has to be right. The tail begins in line 8."""
    return load_text((head + tail).encode(), file="x.yaml", id="x")


def problems(tail: str, head: str = HEAD) -> list[str]:
    """What is wrong with this text, each as `line:column: message | hint`."""
    return [shown(problem) for problem in refused(lambda: scenario(tail, head))]


def refused(load: Callable[[], object]) -> tuple[Problem, ...]:
    """The problems for which loading was refused; any other error goes through."""
    try:
        load()
    except ScenarioError as error:
        return error.problems
    return ()


def shown(problem: Problem) -> str:
    hint = f" | {problem.hint}" if problem.hint else ""
    return f"{problem.line}:{problem.column}: {problem.message}{hint}"
