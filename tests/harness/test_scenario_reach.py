"""What lint says of what can never come, and of demands that honest loops may fail."""

from __future__ import annotations

import pytest
from scenario_texts import HEAD, problems

CALLS = "calls: [{as: seat, tool: reserve, args: {event: E1, seat: 12}}]"
STOP = "this is too much for must: an honest loop may stop here instead"
IDLE = "this is too much for must: an honest loop may run nothing here"
FINAL = "is a final answer | a further message of the user is an entry of its own: - user: …"


@pytest.mark.parametrize(
    ("turns", "expected"),
    [
        ("[{say: Done.}, {say: Again.}]", [f"8:23: no request reaches turn 2: turn 1 {FINAL}"]),
        (
            f"[{{{CALLS}}}, {{say: Done.}}, {{say: Again., optional: true}}]",
            [f"8:90: no request reaches turn 3: turn 2 {FINAL}"],
        ),
        (f"[{{{CALLS}}}, {{say: Done.}}]", []),
        ("[{say: Perhaps., optional: true}, {say: Again.}]", []),
        ("[{say: ''}, {say: Again.}]", []),
        ("[{say: Cut., stop: length}, {say: Again.}]", []),
        ("[{say: Odd., stop: calls}, {say: Again.}]", []),
        ("[{say: Broken., attempts: [{fault: close}]}, {say: Again.}]", []),
        (
            "[{say: Broken., attempts: [{fault: close}, normal]}, {say: Again.}]",
            [f"8:61: no request reaches turn 2: turn 1 {FINAL}"],
        ),
        ("[{say: One., attempts: [{say: '', stop: calls}]}, {say: Again.}]", []),
        ("[{say: Done.}, {run: Another.}, {say: Again.}]", []),
    ],
)
def test_no_request_reaches_what_stands_behind_a_final_answer(
    turns: str, expected: list[str]
) -> None:
    assert problems(f"turns: {turns}\n") == expected


def test_odd_answers_are_no_final_ones() -> None:
    odd = "dialects: [chat]\nquirks: [{finish: tool_calls}]\nturns: [{say: Odd.}, {say: Again.}]\n"

    assert problems(odd) == []


@pytest.mark.parametrize(
    ("fault", "modes", "expected"),
    [
        ("{fault: reset, at: {frame: 99}}", "stream", "there is no {frame: 99} in 4 frames"),
        (
            "{fault: reset, at: {frame: 2, bytes: 9999}}",
            "stream",
            "the data of the frame is shorter than {frame: 2, bytes: 9999}",
        ),
        (
            "{fault: reset, at: {in: say, after: Dune}}",
            "stream",
            "{in: say, after: 'Dune'} does not stand in 'Done.'",
        ),
        ("{fault: reset, at: {in: say, after: Do}}", "stream", None),
        ("{fault: eof, at: {bytes: 20}}", "whole", None),
    ],
)
def test_a_fault_that_cannot_strike_is_found_by_sending(
    fault: str, modes: str, expected: str | None
) -> None:
    found = problems(
        f"dialects: [chat]\nmodes: [{modes}]\nturns: [{{say: Done., attempts: [{fault}]}}]\n"
    )

    said = f"the fault reset cannot strike: {expected} (chat, {modes})"
    assert found == ([f"10:52: {said}"] if expected else [])


def test_each_fault_is_told_once_and_only_of_a_right_file() -> None:
    turns = "turns: [{say: Done., attempts: [{fault: eof, at: {bytes: 9999}}]}]\n"
    (told,) = problems(f"modes: [whole]\n{turns}")

    assert told.startswith("9:50: the fault eof at {bytes: 9999} cannot strike: the body has ")
    assert told.endswith(" bytes (responses, whole)")
    assert problems(f"modes: [whole]\nneeds: [aproval]\n{turns}") == [
        "9:9: 'aproval' is no capability | did you mean 'approval'?"
    ]


@pytest.mark.parametrize(
    ("turn", "must", "expected"),
    [
        ("attempts: [{fault: close}, normal]", "executions: {reserve: 1}", IDLE),
        ("attempts: [{fault: close}, normal]", "effects: {reserve: {at_least: 1}}", IDLE),
        ("attempts: [{fault: close}, normal]", "executions: {reserve: [{event: E1}]}", IDLE),
        ("attempts: [{fault: close}, normal]", "executions: {reserve: {any_of: [1, 2]}}", IDLE),
        ("attempts: [{fault: close}, normal]", "executions: {reserve: {at_most: 1}}", None),
        ("attempts: [{fault: close}, normal]", "executions: {reserve: {any_of: [0, 1]}}", None),
        ("attempts: [{fault: close}, normal]", "results: {seat: own}", STOP),
        ("stop: length", "executions: {reserve: 1}", IDLE),
        ("stop: length", "results: {seat: {any_of: [own, none]}}", None),
        ("stop: calls", "executions: {reserve: 1}, results: {seat: own}", None),
        ("quirks: [{finish: stop}]", "executions: {reserve: 1}", IDLE),
        ("stop: calls", "results: {seat: flagged}", "an error without the mark"),
        ("stop: calls", "results: {seat: {any_of: [flagged, error]}}", None),
    ],
)
def test_must_demands_nothing_of_a_loop_that_may_have_stopped(
    turn: str, must: str, expected: str | None
) -> None:
    tail = f"dialects: [chat]\nturns: [{{{CALLS}, {turn}}}]\nexpect: {{must: {{{must}}}}}\n"
    found = problems(tail)

    assert [str(expected) in text for text in found] == ([True] if expected else []), found


def test_what_ran_before_the_trouble_may_be_demanded() -> None:
    turns = f"turns: [{{{CALLS}}}, {{say: Done., attempts: [{{fault: close}}, normal]}}]\n"

    assert problems(f"{turns}expect: {{must: {{executions: {{reserve: 1}}}}}}\n") == []


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ("{type: object, properties: {x: {type: strng}}}", "'strng' is no type | did you mean"),
        ("{type: object, properties: {x: {type: foo}}}", "'foo' is no type | known: array, boo"),
        ("{type: object, properties: {x: {enum: 3}}}", "not a JSON Schema: 3 is not of type"),
        ("{type: object, required: [x], additionalProperties: false}", "nothing meets this schema"),
        (
            "{type: object, properties: {x: {type: array, items: "
            "{required: [y], additionalProperties: false}}}}",
            "nothing meets this schema",
        ),
        ("{type: object, required: [x]}", None),
        ("{type: object, properties: {x: true}, required: [x], additionalProperties: false}", None),
    ],
)
def test_schemas_that_mean_nothing(schema: str, expected: str | None) -> None:
    head = HEAD.replace("  look: {kind: read}\n", f"  look: {{kind: read, schema: {schema}}}\n")
    found = problems("turns: [{say: Done.}]\n", head)

    assert [str(expected) in text for text in found] == ([True] if expected else []), found


def test_requests_for_turns_that_there_are_not() -> None:
    tail = "turns: [{say: Done.}]\nexpect: {must: {requests: {turn2: 1, turn1: 1}}}\n"

    assert problems(tail) == [
        "9:28: there is no turn2: the last is turn1 | requests beyond the script are counted "
        "by otherwise"
    ]
