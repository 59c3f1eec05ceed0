"""Several conversations of one run at the same time: in lanes, and where there are none."""

from __future__ import annotations

import lane_loops
import pytest
from scenario_texts import TURNS, problems, scenario
from test_given_runs import builtin, run, texts

from loopcheck.fake_providers.script import Lane
from loopcheck.harness.scenario.compile import compile_script
from loopcheck.harness.scenario.load import load_text
from loopcheck.harness.scenario.show import show
from loopcheck.harness.targets.reference import reference
from loopcheck.harness.task import Lane as TaskLane

TWO = "lanes/two-conversations"
HEAD = (
    "format: 1\ntitle: T\nrule: R\nprompt: P\n"
    "tools:\n"
    "  reserve: {kind: write, args: {event: string, seat: integer}}\n"
    "  look: {kind: read}\n"
)
NEEDS = "needs: [lanes]\n"
LANES = (
    "lanes:\n"
    "  a: {if: {tools: [look]}, turns: [{calls: [{as: view, tool: look, args: {}}]}, {say: x}]}\n"
    "  b: {if: {model: small-*}, turns: [{say: y}]}\n"
)


def test_conversations_in_their_lanes_pass() -> None:
    results = run(lane_loops.in_lanes, builtin(TWO))

    assert [(result.verdict, texts([result])) for result in results] == [("pass", [])]


def test_the_reference_loop_keeps_its_conversations_apart() -> None:
    results = run(reference, builtin(TWO))

    assert [result.verdict for result in results] == ["pass"] * 6
    assert texts(results) == []


def test_what_turns_up_in_another_lane_is_found() -> None:
    (result,) = run(lane_loops.mixing, builtin(TWO))

    assert result.verdict == "fail"
    assert "must: turn6 is asked for with calls train, back; train, seat, back" in texts([result])


ONE = b"""
format: 1
title: A seat is reserved
rule: It is reserved once.
prompt: Reserve seat 12.
tools:
  reserve: {kind: read, args: {seat: integer}}
turns:
  - calls: [{as: seat, tool: reserve, args: {seat: 12}}]
  - say: Done.
"""


def test_without_lanes_two_conversations_at_once_are_divergent() -> None:
    (result,) = run(lane_loops.two_at_once, load_text(ONE, file="x", id="x"))

    (found,) = [f for f in result.findings if f.check == "history.continuous"]
    assert (found.level, found.seen) == (
        "must",
        "two conversations go on at once, from attempts 1 and 2 of turn 1, and the scenario "
        "declares no lanes for them",
    )
    assert result.outcome == "failed/BadRequestError"


def test_the_turns_of_lanes_are_numbered_on() -> None:
    loaded = scenario(TURNS + NEEDS + LANES, HEAD)
    script = compile_script(loaded, "chat", "whole")

    assert [turn.number for turn in script.turns] == [1, 2, 3, 4, 5]
    assert script.lanes == (
        Lane(name="a", first=3, last=4, tools=frozenset({"look"})),
        Lane(name="b", first=5, last=5, model="small-*"),
    )
    assert [(s.first, s.last) for s in script.sections] == [(1, 2), (3, 4), (5, 5)]
    assert [script.section_of(number) for number in range(1, 9)] == [0, 0, 1, 1, 2, 0, 1, 2]
    assert loaded.conversations == (
        TaskLane(name="a", tools=("look",)),
        TaskLane(name="b", model="small-*"),
    )


def test_lanes_are_shown() -> None:
    lines = show(scenario(TURNS + NEEDS + LANES, HEAD), "chat", "whole").splitlines()

    assert "lane a, tools look:" in lines
    place = lines.index("lane b, model small-*:")
    assert lines[place + 1] == "request 5 expected: any that the lane claims"


@pytest.mark.parametrize(
    ("lanes", "expected"),
    [
        ("{a: {if: {}, turns: [{say: x}]}}", ["12:17: this lane claims every request | say by"]),
        ("{a: {if: {tools: [lok]}, turns: [{say: x}]}}", ["12:26: 'lok' is no tool here | did"]),
        ("{a: {if: {model: m}, turns: []}}", ["12:36: lane 'a' has no turn"]),
        ("{a b: {if: {model: m}, turns: [{}]}}", ["12:9: 'a b' is no name of a lane"]),
        ("{a: {turns: [{say: x}]}}", ["12:12: lane 'a' has no 'if'"]),
        (
            "{a: {if: {modl: m}, when: 3, turns: [{sai: x}]}}",
            [
                "12:18: unknown key 'modl' in lane 'a' | did you mean 'model'?",
                "12:28: unknown key 'when' in lane 'a' | known: if, turns",
                "12:46: unknown key 'sai' in turn 1 | did you mean 'say'?",
            ],
        ),
        (
            "{a: {if: {tools: [look]}, turns: [{}]}, b: {if: {tools: [look]}, turns: [{}]}}",
            ["12:56: lane 'a' claims every request of lane 'b' | tell them apart by model or"],
        ),
        (
            "{a: {if: {model: m}, turns: [{calls: [{as: seat, tool: look, args: {}}]}]}}",
            ["12:51: label 'seat' is taken by another call"],
        ),
        (
            "{a: {if: {model: m}, turns: [{if: {tool_choice: auto}}]}}",
            ["12:38: 'if' stands in 'otherwise' alone"],
        ),
    ],
)
def test_what_lint_refuses(lanes: str, expected: list[str]) -> None:
    found = lint(lanes)

    assert [text[: len(start)] for text, start in zip(found, expected, strict=True)] == expected


def lint(lanes: str) -> list[str]:
    """The problems of lanes, which stand in line 12."""
    return problems(f"{TURNS}{NEEDS}lanes: {lanes}\n", HEAD)


def test_lanes_have_to_be_needed() -> None:
    assert problems(TURNS + LANES, HEAD) == [
        "11:1: 'lanes' wants needs: [lanes] | a target that holds one conversation at a time is "
        "then not declared"
    ]
