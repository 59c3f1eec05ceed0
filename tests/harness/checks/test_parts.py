"""effect.once over several parts of a case: what a further message or run asks for is another
action, whether or not the loop carries it out."""

from __future__ import annotations

import pytest
from controlled import leg
from journals import SEAT, Json, Written, call, levels, scenario

from loopcheck.harness.checks.parts import lane_of, part_of
from loopcheck.harness.scenario.model import Scenario

pytestmark = pytest.mark.usefixtures("every_word")
ONCE = "effect.once"
CAN = ("operation_ids",)
KEY: Json = {"event": "E1"}
LANES: Json = {
    "left": {"if": {"model": "left"}, "turns": [{"say": "Left."}]},
    "right": {"if": {"model": "right"}, "turns": [{"say": "Right."}]},
}


def in_parts(how: str = "user", **keys: object) -> Scenario:
    """A seat is asked for by the prompt, then once more by a message, or in another run."""
    turns = [
        {"calls": [{"as": "book", "tool": "reserve_seat", "args": SEAT}]},
        {"say": "Done."},
        {how: "One more thing."},
        {"calls": [{"as": "again", "tool": "reserve_seat", "args": SEAT}]},
        {"say": "Done again."},
    ]
    return scenario(turns=turns, **keys)


def booked(how: str = "user") -> Written:
    """A journal up to the beginning of the second part; the seat was booked in the first."""
    journal = Written(in_parts(how))
    journal.ask()
    journal.answer(call("book"))
    journal.execute(operation=KEY)
    journal.ask(2)
    journal.answer(text="Done.")
    journal.end()
    leg(journal, "follows" if how == "user" else "run")
    return journal


@pytest.mark.parametrize("how", ["user", "run"])
def test_what_is_asked_for_anew_is_another_action(how: str) -> None:
    journal = booked(how)
    journal.ask(3)
    journal.answer(call("again"))
    journal.execute(operation=KEY)
    result = journal.check(ONCE, *CAN)
    assert (result.status, result.findings) == ("pass", ())


def test_a_loop_that_does_not_do_it_a_second_time_is_right_too() -> None:
    journal = booked()
    journal.ask(3)
    journal.answer(call("again"))
    assert journal.check(ONCE, *CAN).status == "pass"


@pytest.mark.parametrize("turn", [4, 6], ids=["in the script", "beyond it"])
def test_twice_in_one_part_is_once_too_often(turn: int) -> None:
    journal = booked()
    journal.ask(3)
    journal.answer(call("again"))
    journal.execute(operation=KEY)
    journal.ask(turn)
    journal.answer(call("more"))
    journal.execute(operation=KEY)
    result = journal.check(ONCE, *CAN)
    assert levels(result) == ["must"]
    assert result.findings[0].seen == "2 effects, from again and more"


def test_who_starts_over_from_the_first_part_does_the_same_action_again() -> None:
    journal = booked()
    journal.ask(1, 2)
    journal.answer(call("book"))
    journal.execute(operation=KEY)
    (finding,) = journal.check(ONCE, *CAN).findings
    assert (finding.level, finding.seen) == ("must", "2 effects, from book and book/2")


def test_what_nobody_asked_for_in_the_second_part_belongs_to_the_first() -> None:
    journal = booked()
    journal.execute(operation=KEY)
    (finding,) = journal.check(ONCE, *CAN).findings
    assert finding.seen == "2 effects, from book and execution 2"


def test_a_call_that_is_made_up_for_late_belongs_to_the_part_that_asked_for_it() -> None:
    journal = Written(in_parts())
    journal.ask()
    journal.answer(call("book"), call("twin", arguments={"event": "E1", "seat": 13}))
    journal.execute(operation=KEY)
    leg(journal, "follows")
    journal.ask(3)
    journal.answer(text="Done.")
    journal.execute(arguments={"event": "E1", "seat": 13}, operation=KEY)
    (finding,) = journal.check(ONCE, *CAN).findings
    assert finding.seen == "2 effects, from book and twin"


def test_an_execution_without_any_response_belongs_to_the_prompt() -> None:
    said = {"say": "Done."}
    journal = Written(scenario(turns=[said, {"user": "One more thing."}, said]))
    journal.execute(operation=KEY)
    journal.ask()
    journal.answer(call("book"))
    journal.execute(operation=KEY)
    assert levels(journal.check(ONCE, *CAN)) == ["must"]


def test_each_turn_answers_the_prompt_or_a_message() -> None:
    two = in_parts()
    assert [part_of(turn, two) for turn in range(1, 9)] == [0, 0, 1, 1, 0, 1, 0, 1]


def test_all_lanes_answer_the_prompt() -> None:
    laned = in_parts(lanes=LANES)
    assert [part_of(turn, laned) for turn in range(3, 13)] == [1, 1, 0, 0, 0, 1, 0, 0, 0, 1]


def test_each_lane_has_turns_of_its_own() -> None:
    laned = in_parts(lanes=LANES)
    assert [lane_of(turn, laned) for turn in range(1, 13)] == [0, 0, 0, 0, 1, 2, 0, 0, 1, 2, 0, 0]
