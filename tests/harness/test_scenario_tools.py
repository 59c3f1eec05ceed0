"""What tools may say beyond their arguments and results, and what the linter holds against it."""

from __future__ import annotations

import pytest
from scenario_texts import problems, scenario

from loopcheck.harness.scenario.model import Scenario

UNDECLARED = " | a target that does not claim it is then not declared"


def head(line: str, needs: str) -> str:
    return f"format: 1\ntitle: T\nrule: R\nprompt: P\nneeds: [{needs}]\ntools:\n  {line}\n"


CALL = "turns: [{calls: [{as: pay, tool: pay, args: {}}]}]\n"


def loaded(tool: str, needs: str = "", tail: str = CALL) -> Scenario:
    return scenario(tail, head(f"pay: {tool}", needs))


def wrong(tool: str, needs: str = "", tail: str = CALL) -> list[str]:
    return problems(tail, head(f"pay: {tool}", needs))


@pytest.mark.parametrize(
    ("tool", "needs"),
    [
        ("{kind: write, behaves: [rate-limited, {rate-limited: 300 ms}, normal]}", ""),
        ("{kind: write, behaves: {pay: [{rate-limited: 1 s}, commit-late]}}", "tool_timeout"),
        ("{kind: read, behaves: [never-answers]}", "tool_timeout"),
        ("{kind: write, behaves: [commit-then-hang]}", "tool_timeout"),
        ("{kind: write, commits_after: [pay.started, turn1.sent], returns_after: run.ended}", ""),
        ("{kind: read, returns_parts: [{text: a}, {image: png}, {image: png}]}", "images"),
        ("{kind: read, returns_parts: [{text: a}]}", ""),
        ("{kind: write, permission: denied}", ""),
        ("{kind: write, permission: [granted, denied]}", ""),
        ("{kind: write, approval: ask}", "approval"),
        ("{kind: write, approval: disabled}", "approval"),
        ("{kind: ask, description: Which one?, args: {}}", "input"),
    ],
)
def test_what_tools_may_say(tool: str, needs: str) -> None:
    assert wrong(tool, needs) == []


@pytest.mark.parametrize(
    ("tool", "expected"),
    [
        ("{kind: read, behaves: [never-answers]}", "7:30: 'never-answers' wants needs: [tool_tim"),
        ("{kind: write, behaves: {pay: [commit-late]}}", "7:31: 'commit-late' wants needs: [tool_"),
        (
            "{kind: read, returns_parts: [{image: png}]}",
            "7:36: a result with an image wants needs:",
        ),
        ("{kind: write, approval: ask}", "7:32: 'approval: ask' wants needs: [approval]"),
        ("{kind: ask}", "7:15: a tool that a person answers wants needs: [input]"),
    ],
)
def test_what_few_targets_bear_is_needed(tool: str, expected: str) -> None:
    (found,) = wrong(tool)

    assert found.startswith(expected)
    assert found.endswith(UNDECLARED)


@pytest.mark.parametrize(
    ("tool", "needs", "expected"),
    [
        (
            "{kind: read, returns_parts: [{text: a}], returns: b}",
            "",
            "7:21: 'returns_parts' stands instead of 'returns'",
        ),
        (
            "{kind: read, returns_parts: [{text: a, image: png}]}",
            "images",
            "7:37: a part is one of text, image",
        ),
        ("{kind: read, returns_parts: [{}]}", "", "7:37: a part is one of text, image"),
        (
            "{kind: write, commits_after: [pay.ended, pay.endet]}",
            "",
            "7:49: 'pay.endet' is no point of 'pay' | did you mean 'ended'?",
        ),
        (
            "{kind: read, commits_after: pay.started}",
            "",
            "7:21: 'commits_after' does nothing: a read has no effect",
        ),
        (
            "{kind: ask, returns: Yes}",
            "input",
            "7:20: 'returns' does nothing: a person gives the answer",
        ),
    ],
)
def test_what_tools_may_not_say(tool: str, needs: str, expected: str) -> None:
    assert wrong(tool, needs) == [expected]


@pytest.mark.parametrize(
    ("tool", "needs"),
    [
        ("{kind: write, behaves: [{rate-limited: 1 s}, normal]}", ""),
        ("{kind: write, behaves: [normal, never-answers]}", "tool_timeout"),
        ("{kind: write, behaves: [commit-late]}", "tool_timeout"),
        ("{kind: write, permission: [granted, denied]}", ""),
    ],
)
def test_loop_may_stop_where_a_tool_may_fail(tool: str, needs: str) -> None:
    expecting = CALL + "expect: {must: {results: {pay: own}, outcome: completed}}\n"

    assert len(wrong(tool, needs, expecting)) == 2
    assert wrong("{kind: write}", "", expecting) == []


def test_model_of_the_behaviours_of_a_call() -> None:
    by_label = loaded("{kind: write, behaves: {pay: [raises, normal]}}").tools["pay"]
    by_tool = loaded("{kind: write, behaves: [raises]}").tools["pay"]

    assert by_label.behaviours_of("pay") == ("raises", "normal")
    assert by_label.behaviours_of("other") == by_label.behaviours_of(None) == ("normal",)
    assert by_tool.behaviours_of("pay") == by_tool.behaviours_of(None) == ("raises",)
