"""What requests ask about tools, and what answers them beyond the script."""

from __future__ import annotations

import pytest

from loopcheck.fake_providers.choices import chosen
from loopcheck.fake_providers.script import Attempt, Say, Script, Section, Turn, answer


@pytest.mark.parametrize(
    ("tool_choice", "word"),
    [
        (None, "auto"),
        ("auto", "auto"),
        ("required", "required"),
        ("none", "none"),
        ({"type": "auto", "disable_parallel_tool_use": True}, "auto"),
        ({"type": "any"}, "required"),
        ({"type": "none"}, "none"),
        ({"type": "tool", "name": "look"}, "look"),
        ({"type": "function", "name": "look"}, "look"),
        ({"type": "function", "function": {"name": "look"}}, "look"),
        ({"type": "custom", "custom": {"name": "look"}}, "look"),
        ({"type": "allowed_tools", "mode": "required", "tools": []}, "required"),
        ({"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": []}}, "auto"),
        ({"type": "web_search"}, "required"),
        (3, "auto"),
    ],
)
def test_the_choice_of_a_request(tool_choice: object, word: str) -> None:
    assert chosen(tool_choice) == word


def turn(text: str, choice: str | None = None, attempts: int = 1) -> Turn:
    said = tuple(answer([Say(text)]) for _ in range(attempts))
    return Turn(number=1, attempts=said, tool_choice=choice)


SCRIPT = Script(
    turns=(),
    otherwise=(turn("a"), turn("must 1", "required"), turn("b"), turn("must 2", "required")),
    prompt="P",
)


def test_beyond_the_script_those_that_fit_take_turns() -> None:
    def said(number: int, choice: str) -> str:
        return SCRIPT.turn(number, tool_choice=choice).attempts[0].text

    assert [said(n, "auto") for n in (1, 2, 3)] == ["a", "b", "a"]
    assert [said(n, "required") for n in (1, 2, 3)] == ["must 1", "must 2", "must 1"]
    assert said(2, "look") == "b"
    assert SCRIPT.turn(7).number == 7


def test_each_part_of_a_script_has_its_own_rotation() -> None:
    later = (Section(number=1, text="Q", first=1, last=0),)
    script = Script(turns=(), otherwise=SCRIPT.otherwise, prompt="P", later=later)

    assert [script.turn(n).attempts[0].text for n in (1, 3, 5)] == ["a", "b", "a"]
    assert [script.turn(n).attempts[0].text for n in (2, 4, 6)] == ["a", "b", "a"]


def test_attempts_begin_anew_where_another_turn_answers() -> None:
    one = turn("x", attempts=1)

    assert one.next_attempt(lambda point: False, position=2, given=1) == 0
    assert isinstance(one.attempts[0], Attempt)
