"""What a target is given: an earlier conversation, stored state, conditional answers."""

from __future__ import annotations

import pytest
from scenario_texts import TURNS, problems, scenario

from loopcheck.harness.scenario.show import show
from loopcheck.harness.task import Message

HEAD = (
    "format: 1\ntitle: T\nrule: R\nprompt: P\ndialects: [responses]\n"
    "tools:\n"
    "  reserve: {kind: write, args: {event: string, seat: integer}}\n"
    "  look: {kind: read}\n"
)
NEEDS = "needs: [earlier, limits, server_state]\n"


def found(keys: str) -> list[str]:
    """The problems of keys that begin in line 12, behind the turns."""
    return problems(TURNS + keys, HEAD)


def needed(keys: str) -> list[str]:
    """The same, with everything declared; they begin in line 13."""
    return problems(TURNS + NEEDS + keys, HEAD)


@pytest.mark.parametrize(
    "keys",
    [
        "earlier: [{user: Hello}, {say: Hm}, {user: More}]\n",
        "earlier: []\n",
        "state: server\n",
        "state: client\n",
        "otherwise: [{if: {tool_choice: required}, say: x}, {if: {tool_choice: look}}, {say: y}]\n",
        "limits: {cost: 0.5, context: 9, repeats: 2}\n",
    ],
)
def test_what_may_be_given(keys: str) -> None:
    assert needed(keys) == []


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("earlier: [{say: Hm}]\n", ["13:11: 'earlier' begins with what the user said | a service"]),
        (
            "earlier: [{user: x}, {user: a, say: b}]\n",
            ["13:22: what was said earlier is one of user, say"],
        ),
        ("earlier: [{user: ''}]\n", ["13:18: 'user' must not be empty"]),
        ("earlier: [{usr: a}]\n", ["13:12: unknown key 'usr' | did you mean 'user'?"]),
        ("state: servr\n", ["13:8: 'servr' is no value of 'state' | did you mean 'server'?"]),
        ("otherwise: {if: {tool_choice: none}}\n", ["13:1: each turn of 'otherwise' has an 'if'"]),
        (
            "otherwise: [{if: {tool_choice: lok}}, {say: x}]\n",
            ["13:32: tool_choice 'lok' is no tool of this file | did you mean 'look'?"],
        ),
        (
            "otherwise: [{if: {tools: []}}, {}]\n",
            ["13:18: the scenario has no 'tool_choice'", "13:19: unknown key 'tools'"],
        ),
        ("limits: {cost: 0}\n", ["13:16: 'cost' must be more than 0.0, not 0"]),
        ("limits: {repeats: 1.5}\n", ["13:19: 'repeats' must be a whole number, not a number"]),
    ],
)
def test_what_lint_refuses(keys: str, expected: list[str]) -> None:
    texts = needed(keys)

    assert [text[: len(start)] for text, start in zip(texts, expected, strict=True)] == expected


def test_what_not_every_target_can_do_has_to_be_needed() -> None:
    assert found("earlier: [{user: a}]\nstate: server\n") == [
        "12:1: 'earlier' wants needs: [earlier] | a target that cannot begin with a conversation "
        "is then not declared",
        "13:8: 'state: server' wants needs: [server_state] | a target that keeps the conversation "
        "itself is then not declared",
    ]


def test_chat_has_no_conversation_on_the_server() -> None:
    head = HEAD.replace("[responses]", "[responses, chat]")

    assert problems(TURNS + NEEDS + "state: server\n", head) == [
        "13:8: chat keeps no conversation on the server | narrow with dialects: [responses, "
        "messages]"
    ]


def test_a_condition_stands_beyond_the_script_alone() -> None:
    assert problems("turns: [{if: {tool_choice: none}, say: x}]\n", HEAD) == [
        "9:10: 'if' stands in 'otherwise' alone | turns of the script are given in their order"
    ]


def test_who_said_what_earlier() -> None:
    loaded = scenario(TURNS + NEEDS + "earlier: [{user: Hello}, {say: Hm}]\n", HEAD)

    assert loaded.said_earlier == (
        Message(role="user", text="Hello"),
        Message(role="assistant", text="Hm"),
    )


def test_both_are_shown() -> None:
    keys = "earlier: [{user: Hello}, {say: Hm}]\notherwise: [{if: {tool_choice: none}}, {say: x}]\n"
    lines = show(scenario(TURNS + NEEDS + keys, HEAD), "responses", "whole").splitlines()

    assert lines[:2] == ["earlier, the user: Hello", "earlier, the model: Hm"]
    (conditional,) = [line for line in lines if line.startswith("otherwise (")]
    assert conditional.startswith("otherwise (tool_choice none) · nothing, stop end")
