"""To which of several conversations an execution belongs: on journals written by hand."""

from __future__ import annotations

import pytest
from controlled import TOOLS, decide
from journals import SEAT, Json, Written, call, execution_levels, scenario

from loopcheck.harness.checks.matching import match

pytestmark = pytest.mark.usefixtures("every_word")
OTHER: Json = {"event": "E1", "seat": 13}


def lanes(*left: Json, tools: Json | None = None) -> Written:
    """A journal up to the responses of two conversations, that of the lane behind the other: the
    first asks for a seat, the lane for these calls."""
    laned = scenario(
        turns=[{"say": "Book."}],
        lanes={"left": {"if": {"model": "left"}, "turns": [{"say": "Left."}]}},
        needs=["lanes", "approval"],
        **({} if tools is None else {"tools": tools}),
    )
    journal = Written(laned)
    journal.ask()
    journal.answer(call("book"))
    journal.ask(2)
    journal.answer(*left)
    return journal


def matched(journal: Written) -> dict[int, str]:
    return {one.execution.n: one.call.label for one in match(journal.evidence()).matches}


def current(journal: Written) -> list[int | None]:
    """The number of the response that each execution came of."""
    return [one.response for one in journal.evidence().executions]


def test_what_another_conversation_asked_for_is_no_other_arguments() -> None:
    journal = lanes(call("other", arguments=OTHER))
    journal.execute()
    journal.execute(arguments=OTHER)
    assert list(matched(journal).values()) == ["book", "other"]
    assert current(journal) == [3, 5]
    assert execution_levels(journal) == {}


def test_other_arguments_are_told_from_the_call_whose_id_was_passed_on() -> None:
    journal = lanes(call("weather", "get_weather", {"city": "Bern"}))
    journal.execute(arguments=OTHER, call_id="call_book")
    assert execution_levels(journal) == {"execution.exact-arguments": ["must"]}


def test_equal_calls_stand_for_one_execution_each() -> None:
    journal = lanes(call("twin"))
    journal.execute()
    journal.execute()
    assert sorted(matched(journal).values()) == ["book", "twin"]
    assert current(journal) == [5, 3]
    assert execution_levels(journal) == {}
    journal.execute()
    assert execution_levels(journal) == {"execution.once": ["must"]}


def test_of_equal_calls_the_id_tells() -> None:
    journal = lanes(call("twin"))
    journal.execute(call_id="call_book")
    assert list(matched(journal).values()) == ["book"]


def test_of_equal_calls_the_one_ran_that_a_person_approved() -> None:
    journal = lanes(call("twin"), tools=TOOLS)
    decide(journal)
    journal.execute()
    assert list(matched(journal).values()) == ["book"]
    assert execution_levels(journal) == {}


def test_the_latest_response_of_each_conversation_counts() -> None:
    journal = lanes(call("weather", "get_weather", {"city": "Bern"}))
    journal.ask(1, 2)
    journal.answer(call("later", arguments=OTHER))
    journal.execute(arguments=OTHER)
    assert list(matched(journal).values()) == ["later"]


def test_what_nobody_asked_for_is_held_against_the_latest_response() -> None:
    journal = lanes(call("twin", arguments=SEAT))
    journal.execute("get_weather", {"city": "Bern"})
    assert execution_levels(journal) == {"execution.allowed": ["must"]}
    assert current(journal) == [5]


def test_where_nobody_asked_for_anything_there_may_be_no_response() -> None:
    journal = lanes()
    early = Written(journal.scenario)
    early.execute()
    assert current(early) == [None]
    early.ask()
    early.answer(text="Nothing to be done.")
    early.execute()
    assert current(early) == [None, 6]
