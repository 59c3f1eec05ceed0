"""effect.reported: on journals written by hand."""

from __future__ import annotations

import pytest
from controlled import cancel, died, goes_on, leg
from journals import SEAT, Json, Written, call, honest, levels, one_round

pytestmark = pytest.mark.usefixtures("every_word")
REPORTED = "effect.reported"
CAN = ("reports_effects",)


def told(result: str | None = None, *, how: str = "result", **fields: object) -> Written:
    """A write with an effect that ended like this, and what the model was told of it."""
    journal = one_round()
    own = journal.execute(how=how, effect=True, **fields)  # type: ignore[arg-type]
    return goes_on(journal, own if result is None else result)


def test_its_own_result_is_given_to_the_model() -> None:
    assert told().check(REPORTED, *CAN).status == "pass"
    assert honest().check(REPORTED, *CAN).status == "pass"


@pytest.mark.parametrize(
    "text",
    [
        "Error: connection closed",
        '{"error": "timed out"}',
        "The tool call was not executed.",
        "Tool execution was cancelled by the user",
    ],
)
def test_a_confirmed_effect_is_denied(text: str) -> None:
    result = told(text).check(REPORTED)
    (finding,) = result.findings
    assert (result.status, finding.level) == ("fail", "must")
    assert finding.expected == "the result of call book, which the world confirmed"
    assert finding.entries == (7, 4)


@pytest.mark.parametrize("text", ["Reserved.", "ok", "", "{}"])
def test_a_result_may_be_told_in_other_words(text: str) -> None:
    assert told(text).check(REPORTED, *CAN).findings == ()


def test_words_of_failure_around_the_result_deny_nothing() -> None:
    journal = one_round()
    own = journal.execute()
    goes_on(journal, f"no error; {own}")
    assert journal.check(REPORTED).status == "pass"


def test_each_effect_is_told_of_once() -> None:
    journal = told("Error: connection closed")
    journal.ask(3)
    assert levels(journal.check(REPORTED)) == ["must"]


@pytest.mark.parametrize("first", ["book", "again"])
def test_of_two_equal_calls_nobody_can_say_which_of_them_failed(first: str) -> None:
    """The one was carried out, the other failed, and each result stands under one of them."""
    journal = one_round(call("book"), call("again"))
    done = journal.execute()
    journal.execute(how="error", effect=False)
    journal.carry()
    second = "again" if first == "book" else "book"
    journal.result(f"call_{first}", done)
    journal.result(f"call_{second}", '{"error": "sold out"}')
    journal.ask(2)
    assert journal.check(REPORTED).findings == ()


def test_without_an_effect_nothing_can_be_denied() -> None:
    journal = one_round()
    journal.execute(how="error", effect=False)
    goes_on(journal, "Error: sold out")
    assert journal.check(REPORTED, *CAN).status == "not exercised"


class TestUnknownOutcomes:
    @pytest.mark.parametrize("how", ["raised", "abandoned"])
    def test_a_write_that_raised_may_have_happened(self, how: str) -> None:
        result = told("Error: connection closed", how=how).check(REPORTED, *CAN)
        (finding,) = result.findings
        assert (result.status, finding.level) == ("pass", "should")
        assert finding.expected == "that it is unknown whether book took effect"

    def test_it_is_asked_of_those_that_declare_it(self) -> None:
        assert told("Error: connection closed", how="raised").check(REPORTED).findings == ()

    @pytest.mark.parametrize("text", ["The outcome is unknown.", "It may have been booked."])
    def test_that_it_is_unknown(self, text: str) -> None:
        assert told(text, how="raised").check(REPORTED, *CAN).findings == ()

    def test_a_result_that_came_behind_the_request_was_not_confirmed_to_it(self) -> None:
        """The loop waited no longer: to the model it could only say that it does not know."""
        journal = one_round()
        journal.note("execution", execution=1, tool="reserve_seat", token="tok-1", arguments=SEAT)
        journal.note("effect", execution=1, tool="reserve_seat", arguments=SEAT)
        goes_on(journal, "Error: timed out")
        journal.note("ended", execution=1, how="result", result="tok-1")
        assert levels(journal.check(REPORTED)) == []
        assert levels(journal.check(REPORTED, *CAN)) == ["should"]

    def test_a_process_that_died_had_not_heard(self) -> None:
        journal = one_round()
        journal.execute()
        died(journal)
        leg(journal)
        goes_on(journal, "Error: the process was restarted")
        assert levels(journal.check(REPORTED)) == []
        assert levels(journal.check(REPORTED, *CAN)) == ["should"]

    def test_unless_it_did_it_again_and_the_system_recognised_it(self) -> None:
        journal = one_round()
        journal.execute(operation_id="op-1")
        died(journal)
        leg(journal)
        goes_on(journal, journal.execute(operation_id="op-1", deduplicated=True))
        assert levels(journal.check(REPORTED, *CAN)) == []

    def test_unless_it_looked_the_operation_up(self) -> None:
        journal = one_round()
        journal.execute(operation_id="op-1")
        died(journal)
        leg(journal)
        journal.note("lookup", tool="reserve_seat", operation_id="op-1", answer="found")
        goes_on(journal, "Error: the process was restarted")
        assert levels(journal.check(REPORTED)) == ["must"]

    def test_what_came_while_the_run_was_given_up_is_a_should(self) -> None:
        journal = one_round()
        cancel(journal)
        journal.execute()
        goes_on(journal, "The tool call was cancelled.")
        assert levels(journal.check(REPORTED)) == ["should"]

    def test_what_ended_just_before_that_may_not_have_been_heard(self) -> None:
        journal = one_round()
        journal.execute()
        cancel(journal)
        goes_on(journal, "The tool call was cancelled.")
        assert levels(journal.check(REPORTED)) == ["should"]

    def test_what_was_told_before_that_had_been_heard(self) -> None:
        journal = one_round()
        goes_on(journal, journal.execute())
        cancel(journal)
        journal.carry()
        journal.result("call_book", "The tool call was cancelled.")
        journal.ask(3)
        assert levels(journal.check(REPORTED)) == ["must"]


class TestSeveralResults:
    def test_the_last_one_is_what_the_model_is_told(self) -> None:
        journal = one_round()
        own = journal.execute()
        journal.carry()
        journal.result("call_book", "Error: timed out")
        journal.result("call_book", own)
        journal.ask(2)
        assert journal.check(REPORTED).findings == ()

    def test_each_denied_effect_is_found(self) -> None:
        journal = one_round(call("book"), call("other", arguments={**SEAT, "seat": 13}))
        journal.execute()
        journal.execute(arguments={**SEAT, "seat": 13})
        journal.carry()
        for label in ("book", "other"):
            journal.result(f"call_{label}", "Error: timed out")
        journal.ask(2)
        assert levels(journal.check(REPORTED)) == ["must", "must"]

    def test_the_token_under_another_call_excuses_nothing(self) -> None:
        journal = one_round(call("book"), call("sky", "get_weather", {"city": "Basel"}))
        own = journal.execute()
        journal.carry()
        journal.result("call_book", "Error: timed out")
        journal.result("call_sky", own)
        journal.ask(2)
        assert levels(journal.check(REPORTED)) == ["must"]

    def test_nor_does_what_an_equal_call_was_told_before(self) -> None:
        journal = one_round(call("book"), call("again"))
        own = journal.execute(call_id="call_book")
        journal.carry()
        journal.result("call_book", "Error: timed out")
        journal.result("call_again", own)
        journal.result("call_again", "Error: timed out")
        journal.ask(2)
        assert levels(journal.check(REPORTED)) == ["must"]

    def test_a_call_that_was_never_issued_says_nothing_of_it(self) -> None:
        journal = one_round()
        own = journal.execute()
        journal.carry()
        journal.carry(call("made up", call_id="x"))
        journal.result("call_book", "Error: timed out")
        journal.result("x", own)
        journal.ask(2)
        assert levels(journal.check(REPORTED)) == ["must"]


@pytest.mark.parametrize(
    ("place", "lookup"),
    [
        ("behind the death", {"answer": "absent"}),
        ("behind the death", {"tool": "get_weather"}),
        ("behind the death", {"operation_id": "op-2"}),
        ("before the death", {}),
        ("behind the request", {}),
    ],
    ids=str,
)
def test_a_look_up_has_to_be_that_of_the_operation(place: str, lookup: Json) -> None:
    found: Json = {"tool": "reserve_seat", "operation_id": "op-1", "answer": "found", **lookup}
    journal = one_round()
    journal.execute(operation_id="op-1")
    if place == "before the death":
        journal.note("lookup", **found)
    died(journal)
    if place == "behind the death":
        journal.note("lookup", **found)
    goes_on(journal, "Error: the process was restarted")
    if place == "behind the request":
        journal.note("lookup", **found)
    assert levels(journal.check(REPORTED)) == []
    assert levels(journal.check(REPORTED, *CAN)) == ["should"]


def test_a_run_that_was_given_up_at_once_had_heard_of_nothing() -> None:
    journal = Written()
    cancel(journal)
    journal.ask()
    journal.answer(call("book"))
    journal.execute()
    goes_on(journal, "The tool call was cancelled.")
    assert levels(journal.check(REPORTED)) == ["should"]


def test_what_the_model_was_told_is_shown_in_short() -> None:
    journal = told(f"Error: {'x' * 200}")
    (finding,) = journal.check(REPORTED).findings
    assert finding.seen == f"'Error: {'x' * 40} ... {'x' * 47}'"
    unknown = told(f"Error: {'x' * 200}", how="raised")
    (finding,) = unknown.check(REPORTED, *CAN).findings
    assert finding.seen == f"'Error: {'x' * 40} ... {'x' * 47}'"
