"""effect.once and the checks of histories: on journals written by hand."""

from __future__ import annotations

import pytest
from journals import Json, Written, call, honest, levels, one_round

pytestmark = pytest.mark.usefixtures("every_word")
KEY: Json = {"event": "E1"}


def booked_twice(operation: Json | None, *, deduplicated: bool = False) -> Written:
    journal = one_round()
    journal.execute(operation=operation)
    journal.carry()
    journal.result("call_book", "Error: connection closed")
    journal.ask(2)
    journal.answer(call("again"))
    journal.execute(operation=operation, deduplicated=deduplicated)
    return journal


@pytest.mark.parametrize(("can", "level"), [((), "should"), (("operation_ids",), "must")])
def test_two_effects_of_one_operation(can: tuple[str, ...], level: str) -> None:
    result = booked_twice(KEY).check("effect.once", *can)
    (finding,) = result.findings
    assert finding.level == level
    assert result.status == ("fail" if can else "pass")
    assert finding.expected == '1 effect of reserve_seat for {"event":"E1"}'
    assert finding.seen == "2 effects, from book and again"
    assert finding.entries == (10, 5)


def test_an_empty_key_makes_all_calls_one_operation() -> None:
    assert levels(booked_twice({}).check("effect.once", "operation_ids")) == ["must"]


def test_a_recognised_repetition_is_no_second_effect() -> None:
    result = booked_twice(KEY, deduplicated=True).check("effect.once", "operation_ids")
    assert (result.status, result.findings) == ("pass", ())


def test_without_a_key_each_call_is_its_own_operation() -> None:
    result = booked_twice(None).check("effect.once", "operation_ids")
    assert result.status == "not exercised"


def test_an_honest_run_has_a_valid_and_continuous_history() -> None:
    journal = honest()
    assert journal.check("history.valid").status == "pass"
    assert journal.check("history.continuous").status == "pass"


def refused(rule: str | None, grade: str | None) -> Written:
    journal = one_round()
    journal.carry()
    journal.ask(2, role="refused")
    journal.note(
        "refused",
        request=2,
        rule=rule,
        grade=grade,
        status=400,
        message="No tool output found for function call call_book.",
        param="input",
    )
    return journal


@pytest.mark.parametrize(
    ("rule", "grade", "level"),
    [("R1", "I", "must"), ("M1", "R", "must"), ("C8", "S", "should"), (None, None, "should")],
)
def test_a_refusal_weighs_as_much_as_its_evidence(
    rule: str | None, grade: str | None, level: str
) -> None:
    (finding,) = refused(rule, grade).check("history.valid").findings
    assert finding.level == level
    assert finding.entries == (5, 4)
    assert finding.seen == (
        "status 400 at input: No tool output found for function call call_book."
    )
    assert finding.expected == (
        f"rule {rule} kept in request 2" if rule else "a well-formed request kept in request 2"
    )


def test_a_request_that_was_refused_for_a_missing_result_is_first_of_all_unanswered() -> None:
    journal = refused("R1", "I")
    journal.end("failed", "BadRequestError")
    assert [found.check for found in journal.judged().findings[:2]] == [
        "correlation.answered",
        "history.valid",
    ]


def test_a_divergent_request_fails() -> None:
    journal = one_round()
    journal.ask(2, role="divergent", why="the call of 'x' was never issued in this case")
    result = journal.check("history.continuous")
    assert result.status == "fail"
    assert result.findings[0].seen == "the call of 'x' was never issued in this case"
    assert result.findings[0].entries == (4,)


def test_one_request_continues_nothing_and_none_breaks_no_rule() -> None:
    journal = Written()
    assert journal.check("history.valid").status == "not exercised"
    journal.ask()
    assert journal.check("history.continuous").status == "not exercised"
    assert journal.check("history.valid").status == "pass"


def test_operations_are_told_apart_by_tool_and_key() -> None:
    journal = one_round()
    journal.execute(operation={"event": "E1", "seat": 1})
    journal.execute(operation={"event": "E1", "seat": 2})
    journal.execute("get_weather", {}, effect=True, operation={"event": "E1", "seat": 1})
    assert journal.check("effect.once").findings == ()


def test_the_order_of_its_members_changes_no_key() -> None:
    journal = one_round()
    journal.execute(operation={"event": "E1", "seat": 1})
    journal.execute(operation={"seat": 1, "event": "E1"})
    (finding,) = journal.check("effect.once").findings
    assert finding.seen == "2 effects, from book and execution 2"


def test_a_refusal_without_a_place_names_none() -> None:
    journal = refused("C1", "I")
    journal.entries[-1].update(param=None, message="x" * 300)
    (finding,) = journal.check("history.valid").findings
    assert finding.seen == f"status 400: {'x' * 97} ... {'x' * 97}"


def test_a_refusal_of_a_request_that_is_not_there_is_its_own_proof() -> None:
    journal = refused("C1", "I")
    journal.entries[-1]["request"] = 7
    (finding,) = journal.check("history.valid").findings
    assert (finding.expected, finding.entries) == ("rule C1 kept in request 7", (5,))


def test_history_that_was_never_issued_needs_no_words() -> None:
    journal = one_round()
    journal.ask(2, role="divergent")
    (finding,) = journal.check("history.continuous").findings
    assert finding.seen == "history that was never issued"


def test_a_key_that_is_no_object_is_none() -> None:
    journal = one_round()
    journal.execute(operation="E1")  # type: ignore[arg-type]
    assert journal.check("effect.once").status == "not exercised"
