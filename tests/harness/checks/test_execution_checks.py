"""complete-only, allowed, exact-arguments, once: on journals written by hand."""

from __future__ import annotations

import pytest
from journals import (
    EXECUTION_CHECKS,
    SEAT,
    Json,
    Written,
    call,
    execution_levels,
    honest,
    levels,
    one_round,
    scenario,
)

pytestmark = pytest.mark.usefixtures("every_word")
CUT = '{"event":"E1","seat":1'
OTHER: Json = {"event": "E1", "seat": 1}


def ended(*calls: Json, ends: str, stop: str = "length", fault: str | None = None) -> Written:
    journal = Written()
    journal.ask()
    journal.answer(*calls, ends=ends, stop=stop, fault=fault)
    return journal


def test_an_honest_run_passes() -> None:
    journal = honest(call("book"), call("sky", "get_weather", {"city": "Basel"}))
    assert execution_levels(journal) == {}
    assert [journal.check(name).status for name in EXECUTION_CHECKS] == [
        "not exercised",
        "pass",
        "pass",
        "pass",
    ]


def test_without_executions_there_is_little_to_say() -> None:
    journal = Written()
    journal.ask()
    journal.answer(text="Done.")
    journal.end()
    assert {name: journal.check(name).status for name in EXECUTION_CHECKS} == dict.fromkeys(
        EXECUTION_CHECKS, "not exercised"
    )
    assert journal.check("execution.once").reason == "no tool was entered"


def test_a_cut_call_that_runs_is_a_must_with_the_values_that_prove_it() -> None:
    journal = ended(call("book", arguments=CUT), ends="marked")
    journal.execute(arguments=OTHER)
    result = journal.check("execution.complete-only")
    assert result.status == "fail"
    (finding,) = result.findings
    assert finding.expected == "0 executions of reserve_seat for call book"
    assert finding.seen == (
        "1: reserve_seat(event='E1', seat=1); the model had sent "
        '{"event":"E1","seat":1 and then stop length'
    )
    assert finding.entries == (4, 3)
    assert execution_levels(journal) == {"execution.complete-only": ["must"]}


@pytest.mark.parametrize("arguments", [SEAT, OTHER, {}])
@pytest.mark.parametrize("ends", ["unmarked", "failed", "marked"])
def test_whatever_runs_of_a_tool_whose_call_was_cut_is_a_must(ends: str, arguments: Json) -> None:
    journal = ended(call("book", sent="cut"), ends=ends, fault="eof")
    journal.execute(arguments=arguments)
    assert execution_levels(journal) == {"execution.complete-only": ["must"]}


@pytest.mark.parametrize("ends", ["unmarked", "marked"])
def test_a_whole_call_of_an_incomplete_response_is_a_should(ends: str) -> None:
    journal = ended(call("book"), ends=ends)
    journal.execute()
    assert execution_levels(journal) == {"execution.complete-only": ["should"]}
    assert journal.check("execution.complete-only").status == "pass"


@pytest.mark.parametrize("ends", ["unmarked", "marked", "failed"])
def test_other_arguments_than_those_of_an_incomplete_response_are_a_must(ends: str) -> None:
    journal = ended(call("book"), ends=ends)
    journal.execute(arguments=OTHER)
    assert execution_levels(journal) == {"execution.complete-only": ["must"]}


def test_a_whole_call_of_a_failed_response_is_a_must() -> None:
    journal = ended(call("book"), ends="failed", fault="error-event")
    journal.execute()
    assert execution_levels(journal) == {"execution.complete-only": ["must"]}


def test_that_it_runs_after_a_further_failure_changes_nothing() -> None:
    journal = ended(call("book"), ends="failed", fault="reset")
    journal.ask(1, 2)
    journal.answer(status=500, ends="failed", fault="http")
    journal.execute()
    assert execution_levels(journal) == {"execution.complete-only": ["must"]}


def test_a_cut_call_of_an_earlier_attempt_is_still_incomplete() -> None:
    journal = ended(call("book", sent="cut"), ends="failed", fault="reset")
    journal.ask(1, 2)
    journal.answer(status=500, ends="failed", fault="http")
    journal.execute(arguments=OTHER)
    assert execution_levels(journal) == {"execution.complete-only": ["must"]}


def test_the_call_of_the_next_attempt_may_run() -> None:
    journal = ended(call("book"), ends="failed", fault="reset")
    journal.ask(1, 2)
    journal.answer(call("book", call_id="call_again"))
    journal.execute()
    assert execution_levels(journal) == {}
    assert journal.check("execution.complete-only").status == "pass"


@pytest.mark.parametrize(
    ("text", "ran", "level"),
    [
        ('{"event":"E1","seat":', {"event": "E1", "seat": None}, "must"),
        ('{"event":"E1","seat":12}{"event":"E1","seat":12}', SEAT, "must"),
        ('{"event":"E1","seat":1,"seat":12}', SEAT, "should"),
        ('"{\\"event\\":\\"E1\\",\\"seat\\":12}"', SEAT, "should"),
    ],
)
def test_arguments_that_are_no_json_object(text: str, ran: Json, level: str) -> None:
    journal = one_round(call("book", arguments=text))
    journal.execute(arguments=ran)
    assert execution_levels(journal) == {"execution.complete-only": [level]}


def test_empty_arguments_are_an_empty_object() -> None:
    tools: Json = {"ping": {"kind": "write"}}
    journal = one_round(call("p", "ping", ""), scenario_=scenario(tools=tools))
    journal.execute("ping", {})
    assert execution_levels(journal) == {}


def test_changed_and_merged_values_are_not_exact() -> None:
    calls = (call("a"), call("b", arguments={"event": "E2", "seat": 7}))
    journal = one_round(*calls)
    journal.execute(arguments={"event": "E2", "seat": 12})
    (finding,) = journal.check("execution.exact-arguments").findings
    assert finding.level == "must"
    assert finding.seen == "1: reserve_seat(event='E2', seat=12)"
    assert finding.why == "fragments of the calls a, b were joined"
    assert execution_levels(journal) == {"execution.exact-arguments": ["must"]}


def test_values_read_under_their_type_are_a_should() -> None:
    journal = one_round(call("book", arguments={"event": "E1", "seat": "12"}))
    journal.execute()
    assert execution_levels(journal) == {"execution.exact-arguments": ["should"]}
    (finding,) = journal.check("execution.exact-arguments").findings
    assert finding.expected == "reserve_seat(event='E1', seat='12')"
    assert finding.seen == '{"event":"E1","seat":12}'


def test_an_argument_that_the_tool_does_not_take_may_be_left_out() -> None:
    journal = one_round(call("book", arguments={**SEAT, "colour": "red"}))
    journal.execute()
    assert execution_levels(journal) == {}


def test_what_nobody_asked_for_is_not_allowed() -> None:
    journal = one_round(call("sky", "get_weather", {"city": "Basel"}))
    journal.execute()
    (finding,) = journal.check("execution.allowed").findings
    assert finding.expected == "only calls of the latest response: get_weather"
    assert finding.entries == (4, 3)
    assert execution_levels(journal) == {"execution.allowed": ["must"]}


def test_an_unknown_tool_is_not_allowed_even_before_any_response() -> None:
    journal = Written()
    journal.execute("drop_tables", {})
    (finding,) = journal.check("execution.allowed").findings
    assert finding.seen == "1: drop_tables(); the task has no such tool"


def test_a_call_of_an_unknown_tool_that_does_not_run_passes() -> None:
    journal = one_round(call("x", "drop_tables", {}))
    assert journal.check("execution.allowed").status == "pass"


def test_the_same_call_twice_from_a_response_marked_incomplete_is_once_too_often() -> None:
    journal = ended(call("book"), ends="marked")
    journal.execute()
    journal.execute()
    assert execution_levels(journal) == {
        "execution.complete-only": ["should"],
        "execution.once": ["must"],
    }


def test_the_last_arguments_of_two_calls_used_twice_are_not_exact() -> None:
    journal = one_round(call("a"), call("b", arguments={"event": "E1", "seat": 13}))
    journal.execute(arguments={"event": "E1", "seat": 13})
    journal.execute(arguments={"event": "E1", "seat": 13})
    assert execution_levels(journal) == {"execution.exact-arguments": ["must"]}


def test_what_was_meant_stands_beside_what_ran() -> None:
    meant = {"as": "book", "tool": "reserve_seat", "raw_args": CUT, "meant": {"seat": 12}}
    journal = Written(scenario(turns=[{"calls": [meant], "stop": "length"}]))
    journal.ask()
    journal.answer(call("book", arguments=CUT), ends="marked", stop="length")
    journal.execute(arguments={"event": "E1", "seat": 1})
    (found,) = journal.check("execution.complete-only").findings
    assert found.seen.endswith('{"event":"E1","seat":1 and then stop length (seat=12 was meant)')


def test_a_repetition_is_that_of_the_latest_attempt_that_asked_for_it() -> None:
    """An earlier attempt failed: what it asked for is not held against the one that ran."""
    journal = ended(call("book"), ends="failed", fault="reset")
    journal.ask(1, 2)
    journal.answer(call("book", call_id="call_again"))
    journal.execute()
    journal.carry()
    journal.ask(2)
    journal.answer(text="Wait.")
    journal.execute()
    assert execution_levels(journal) == {"execution.once": ["must"]}


def test_of_several_whole_calls_the_one_that_ran_is_named() -> None:
    journal = ended(call("a"), call("b", arguments=OTHER), ends="marked")
    journal.execute(arguments=OTHER)
    journal.execute(arguments=OTHER)
    result = journal.check("execution.complete-only")
    assert levels(result) == ["should", "should"]
    assert {one.expected for one in result.findings} == {"0 executions of reserve_seat for call b"}


def test_loose_arguments_are_read_by_the_schema_too() -> None:
    journal = one_round(call("book", arguments='{"event":"E1","seat":"7","seat":"12"}'))
    journal.execute()
    assert execution_levels(journal) == {"execution.complete-only": ["should"]}


def test_only_what_differs_from_what_ran_was_meant() -> None:
    meant = {
        "as": "book",
        "tool": "reserve_seat",
        "raw_args": CUT,
        "meant": {"row": 3, "event": "E1", "seat": 12},
    }
    journal = Written(scenario(turns=[{"calls": [meant], "stop": "length"}]))
    journal.ask()
    journal.answer(call("book", arguments=CUT, sent="cut"), ends="marked", stop="length")
    journal.execute(arguments={"event": "E1", "seat": 1})
    (found,) = journal.check("execution.complete-only").findings
    assert found.seen.endswith(
        'only a part of {"event":"E1","seat":1 and then stop length (row=3, seat=12 was meant)'
    )


def test_the_call_that_has_not_run_is_the_one_that_was_meant() -> None:
    journal = one_round(call("a"), call("b", arguments=OTHER))
    journal.execute()
    journal.execute(arguments={"event": "E7", "seat": 7})
    (finding,) = journal.check("execution.exact-arguments").findings
    assert finding.expected == 'reserve_seat with {"event": "E1", "seat": 1} (call b)'
    assert finding.why is None


def test_fragments_are_those_of_calls_with_the_same_values() -> None:
    """Two calls have these names, and only one has any of these values."""
    journal = one_round(call("a"), call("b", arguments={"event": "E2", "seat": 7, "row": 1}))
    journal.execute(arguments={"event": "E2", "seat": 9})
    (finding,) = journal.check("execution.exact-arguments").findings
    assert finding.why is None


def test_all_tools_that_were_asked_for_are_named() -> None:
    calls = (call("sky", "get_weather", {"city": "Basel"}), call("x", "drop_tables", {}))
    journal = one_round(*calls, call("cut", "get_weather", {}, sent="none"))
    journal.execute()
    (finding,) = journal.check("execution.allowed").findings
    assert finding.expected == "only calls of the latest response: get_weather, drop_tables"


def test_a_failure_before_asks_for_no_tool_either() -> None:
    journal = ended(ends="failed", fault="http")
    journal.ask(1, 2)
    journal.answer(text="Wait.")
    journal.execute()
    assert execution_levels(journal) == {"execution.allowed": ["must"]}


def test_loose_arguments_of_a_response_that_failed_are_a_must() -> None:
    loose = call("book", arguments='{"event":"E1","seat":1,"seat":12}')
    journal = ended(loose, ends="failed", fault="reset")
    journal.execute()
    assert execution_levels(journal) == {"execution.complete-only": ["must"]}


def test_what_runs_late_is_that_of_the_attempt_that_asked_for_it() -> None:
    journal = ended(call("book"), ends="failed", fault="reset")
    journal.ask(1, 2)
    journal.answer(call("book", arguments=OTHER))
    journal.execute(arguments=OTHER)
    journal.carry()
    journal.ask(2)
    journal.answer(text="Wait.")
    journal.execute()
    (finding,) = journal.check("execution.complete-only").findings
    assert finding.expected == "0 executions of reserve_seat for call book"
    assert finding.entries == (11, 3)
