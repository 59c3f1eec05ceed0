"""What a process that died excuses, and what it does not: on journals written by hand."""

from __future__ import annotations

import json

import pytest
from controlled import died, leg
from journals import SEAT, TOOLS, Json, Written, call, levels, one_round, scenario

pytestmark = pytest.mark.usefixtures("every_word")
CITY: Json = {"city": "Basel"}
RECOGNISES: Json = {
    **TOOLS,
    "reserve_seat": {
        "kind": "write",
        "args": {"event": "string", "seat": "integer"},
        "deduplicates": True,
    },
}


def dies(journal: Written) -> None:
    """The process dies, and another one goes on."""
    died(journal)
    leg(journal)


def test_a_read_may_be_entered_again_behind_a_death() -> None:
    journal = one_round(call("sky", "get_weather", CITY))
    journal.execute("get_weather", CITY)
    dies(journal)
    journal.execute("get_weather", CITY)
    assert levels(journal.check("execution.once")) == []


def test_also_beside_a_call_that_was_cut() -> None:
    cut = call("cut", "get_weather", '{"city":"Bas')
    journal = one_round(call("sky", "get_weather", CITY), cut)
    journal.execute("get_weather", CITY)
    dies(journal)
    journal.execute("get_weather", CITY)
    assert journal.check("execution.complete-only").status == "pass"
    journal.execute("get_weather", {"city": "Bas"})
    assert levels(journal.check("execution.complete-only")) == ["must"]


def test_a_read_that_was_asked_for_behind_the_death_is_entered_once() -> None:
    journal = Written()
    journal.ask()
    dies(journal)
    journal.ask()
    journal.answer(call("sky", "get_weather", CITY))
    journal.execute("get_weather", CITY)
    journal.execute("get_weather", CITY)
    assert levels(journal.check("execution.once")) == ["should"]


def test_a_write_may_not_be_entered_again() -> None:
    journal = one_round()
    journal.execute()
    dies(journal)
    journal.execute()
    assert levels(journal.check("execution.once")) == ["must"]


def asked_again(told: str | None = None) -> Written:
    """A write whose process died, entered again by its operation id, and what was told of it."""
    journal = one_round(scenario_=scenario(tools=RECOGNISES))
    journal.execute(operation_id="op-1")
    dies(journal)
    own = journal.execute(operation_id="op-1", deduplicated=True)
    journal.carry()
    journal.result("call_book", own if told is None else told)
    journal.ask(2)
    return journal


def test_what_the_system_says_when_it_is_asked_again_may_be_told() -> None:
    assert levels(asked_again().check("effect.reported", "reports_effects")) == []


def test_what_nobody_has_said_may_not_be_told_for_sure() -> None:
    journal = asked_again(json.dumps({"ok": True}))
    assert levels(journal.check("effect.reported", "reports_effects")) == ["should"]


def test_equal_calls_may_share_the_result_of_what_was_carried_out_again() -> None:
    journal = one_round(call("one"), call("two"), scenario_=scenario(tools=RECOGNISES))
    journal.execute(operation_id="op-1")
    dies(journal)
    own = journal.execute(operation_id="op-1", deduplicated=True)
    journal.carry()
    journal.result("call_one", own)
    journal.result("call_two", own)
    journal.ask(2)
    assert levels(journal.check("correlation.own-result")) == []


def reaches(state: str) -> Written:
    """A run that died and ends like this before the turn that it must reach."""
    turns = [{"calls": [{"as": "book", "tool": "reserve_seat", "args": SEAT}]}]
    wanted = scenario(turns=[*turns, {"say": "Done.", "must_reach": True}])
    journal = one_round(scenario_=wanted)
    dies(journal)
    journal.end(state)
    return journal


def test_a_run_that_ends_behind_a_death_need_not_reach_what_it_must_reach() -> None:
    assert levels(reaches("failed").check("scenario.expects")) == []


def test_a_run_that_says_it_is_completed_has_reached_it() -> None:
    assert levels(reaches("completed").check("scenario.expects")) == ["must"]
