"""scenario.expects: what a scenario says itself, at each level."""

from __future__ import annotations

import pytest
from journals import SEAT, Json, Written, call, honest, levels, one_round, scenario

from loopcheck.harness.results import Finding

pytestmark = pytest.mark.usefixtures("every_word")
SKY: Json = {"city": "Basel"}


def expecting(**must: object) -> Json:
    return {"expect": {"must": must}}


def findings(journal: Written) -> list[Finding]:
    return list(journal.check("scenario.expects").findings)


def booked(times: int = 1, **expect: object) -> Written:
    calls = [call(f"c{place}") for place in range(times)]
    return honest(*calls, scenario_=scenario(expect=expect))


def test_without_expectations_there_is_nothing_to_judge() -> None:
    assert honest().check("scenario.expects").status == "not exercised"


@pytest.mark.parametrize(
    ("quantity", "times", "met"),
    [
        (1, 1, True),
        (1, 2, False),
        (2, 1, False),
        ({"at_most": 1}, 1, True),
        ({"at_most": 1}, 2, False),
        ({"at_least": 2}, 1, False),
        ({"at_least": 2}, 3, True),
        ([SEAT], 1, True),
        ([SEAT, SEAT], 1, False),
        ([{"event": "E1", "seat": "12"}], 1, True),
        ([{"event": "E1", "seat": 13}], 1, False),
        ({"any_of": [3, [SEAT, SEAT]]}, 2, True),
        ({"any_of": [3, {"at_most": 1}]}, 2, False),
    ],
)
@pytest.mark.parametrize("what", ["executions", "effects"])
def test_quantities(what: str, quantity: object, times: int, met: bool) -> None:
    journal = booked(times, must={what: {"reserve_seat": quantity}})
    assert (findings(journal) == []) is met
    assert journal.check("scenario.expects").status == ("pass" if met else "fail")


def test_too_many_are_proven_by_those_beyond_and_too_few_by_the_end() -> None:
    (many,) = findings(booked(2, must={"effects": {"reserve_seat": 1}}))
    assert (many.expected, many.entries) == ("1 effect of reserve_seat", (8, 5))
    assert many.seen == ("2: reserve_seat(event='E1', seat=12); reserve_seat(event='E1', seat=12)")
    few = booked(1, must={"executions": {"reserve_seat": {"at_least": 2}}})
    (finding,) = findings(few)
    assert (finding.expected, finding.entries) == (
        "at least 2 executions of reserve_seat",
        (len(few.entries), 4),
    )


def test_arguments_that_were_not_expected_are_the_proof() -> None:
    sets = [SEAT, {"event": "E1", "seat": 13}]
    (finding,) = findings(booked(2, must={"executions": {"reserve_seat": sets}}))
    assert finding.entries == (7, 4)


def test_under_must_what_is_not_named_is_none() -> None:
    (finding,) = findings(booked(1, must={"executions": {"get_weather": 0}}))
    assert finding.expected == "0 executions of reserve_seat"
    assert findings(booked(1, should={"executions": {"get_weather": 0}})) == []
    assert findings(booked(1, must={"effects": {"reserve_seat": 1}})) == []


def test_levels_keep_their_weight() -> None:
    journal = booked(1, should={"executions": {"reserve_seat": 2}}, may={"outcome": "refused"})
    result = journal.check("scenario.expects")
    assert (result.status, levels(result)) == ("pass", ["should", "may"])


@pytest.mark.parametrize(
    ("expected", "met"),
    [
        ("completed", True),
        ("completed/final_answer", True),
        ("completed/other", False),
        ("failed", False),
        ({"any_of": ["failed", "completed"]}, True),
    ],
)
def test_outcomes(expected: object, met: bool) -> None:
    journal = one_round(scenario_=scenario(**expecting(outcome=expected)))
    journal.end("completed", "final_answer")
    assert (findings(journal) == []) is met


def answered(
    expected: object, *, result: str | None, how: str = "result", mark: bool | None = None
) -> Written:
    """One call, executed, and a request that holds it with this result ({} takes its own)."""
    journal = one_round(scenario_=scenario(**expecting(results={"book": expected})))
    own = journal.execute(how=how)
    journal.carry()
    if result is not None:
        journal.result("call_book", result.replace("{}", own))
        journal.items[-1]["is_error"] = mark
    journal.ask(2)
    journal.answer(text="Done.")
    journal.end()
    return journal


@pytest.mark.parametrize(
    ("expected", "result", "how", "met"),
    [
        ("own", "Result: {}", "result", True),
        ("own", "Error", "result", False),
        ("own", None, "result", False),
        ("error", "Error", "result", True),
        ("error", "{}", "result", False),
        ("error", "{}", "raised", True),
        ("error", None, "result", False),
        ("none", "{}", "result", False),
        ("none", None, "result", False),
        ({"value": "plain"}, "plain", "result", True),
        ({"value": {"a": 1}}, '{"a": 1.0}', "result", True),
        ({"value": {"a": 1}}, "{}", "result", False),
        ({"value": {"a": 1}}, "plain", "result", False),
        ({"any_of": ["none", "error"]}, "Error", "result", True),
        ({"any_of": ["none", "own"]}, "Error", "result", False),
    ],
)
def test_results(expected: object, result: str | None, how: str, met: bool) -> None:
    assert (findings(answered(expected, result=result, how=how)) == []) is met


@pytest.mark.parametrize(
    ("result", "mark", "met"),
    [("Error", True, True), ("Error", False, False), ("Error", None, False), ("{}", True, False)],
)
def test_a_failure_may_have_to_be_marked(result: str, mark: bool | None, met: bool) -> None:
    assert (findings(answered("flagged", result=result, mark=mark)) == []) is met


def test_no_result_is_right_where_the_run_stopped() -> None:
    journal = one_round(scenario_=scenario(**expecting(results={"book": "none"})))
    journal.end("failed", "KeyError")
    assert findings(journal) == []
    journal.scenario = scenario(**expecting(results={"book": "own"}))
    (finding,) = findings(journal)
    assert (finding.expected, finding.seen) == ("result of book: own", "no result")


def test_a_label_that_was_never_issued_has_no_result() -> None:
    journal = one_round(scenario_=scenario(**expecting(results={"again": "own"})))
    journal.end()
    assert findings(journal) == []


@pytest.mark.parametrize(
    ("expected", "told", "met"),
    [("own", True, True), ("own", False, False), ("error", False, True)],
)
def test_results_told_as_text(expected: str, told: bool, met: bool) -> None:
    journal = one_round(scenario_=scenario(**expecting(results={"book": expected})))
    own = journal.execute()
    journal.items.append(
        {"kind": "user", "path": "messages[1]", "text": f"Observation: {own if told else '-'}"}
    )
    journal.ask(2)
    assert (findings(journal) == []) is met


def test_order_compares_points_that_came() -> None:
    calls = (call("a"), call("b"))
    journal = one_round(*calls, scenario_=scenario(**expecting(order=["b.started < a.started"])))
    journal.execute(label="a")
    journal.execute(label="b")
    (finding,) = findings(journal)
    assert finding.expected == "b.started before a.started"
    assert finding.seen == "a.started at entry 4, b.started at entry 7"
    journal.scenario = scenario(**expecting(order=["a.started<b.started", "b.ended < c.started"]))
    assert findings(journal) == []


def test_an_order_whose_gate_was_let_go_is_not_judged() -> None:
    journal = one_round(
        call("a"), call("b"), scenario_=scenario(**expecting(order=["b.ended < a.ended"]))
    )
    journal.execute(label="a")
    journal.execute(label="b")
    assert len(findings(journal)) == 1
    journal.note("gate", gate="a.ended waits for b.ended", how="forced")
    assert findings(journal) == []


@pytest.mark.parametrize(
    ("state", "ends", "expected"),
    [
        ("completed", "well", ["must"]),
        ("failed", "well", ["must"]),
        ("limit", "well", []),
        ("failed", "failed", []),
    ],
)
def test_a_turn_that_had_to_be_reached(state: str, ends: str, expected: list[str]) -> None:
    books = {"calls": [{"as": "book", "tool": "reserve_seat", "args": SEAT}]}
    journal = Written(scenario(turns=[books, {"say": "Done.", "must_reach": True}]))
    journal.ask()
    journal.answer(call("book"), ends=ends, fault=None if ends == "well" else "reset")
    journal.end(state)
    assert levels(journal.check("scenario.expects")) == expected


def test_quantities_of_alternatives_are_read_by_the_schema_too() -> None:
    text = {"event": "E1", "seat": "12"}
    journal = booked(1, must={"executions": {"reserve_seat": {"any_of": [3, [text]]}}})
    assert findings(journal) == []
    two = booked(2, must={"executions": {"reserve_seat": [text]}})
    assert [found.entries for found in findings(two)] == [(7, 4)]


@pytest.mark.parametrize(
    ("quantity", "times", "expected", "entries"),
    [
        ({"at_least": 2}, 2, None, ()),
        ([], 1, "exactly none of reserve_seat", (4,)),
        ({"any_of": [1, {"at_most": 2}]}, 3, "1 execution or at most 2 executions", (10, 4, 7)),
        ({"any_of": [4, {"at_least": 5}]}, 3, "4 executions or at least 5 executions", None),
        ({"any_of": [1, {"at_least": 5}]}, 3, "1 execution or at least 5 executions", None),
        ({"any_of": [{"at_least": 5}, {"at_least": 4}]}, 3, None, None),
        ({"any_of": [[SEAT, SEAT], 1]}, 3, None, (10, 4, 7)),
    ],
    ids=str,
)
def test_how_much_is_too_much(
    quantity: object, times: int, expected: str | None, entries: tuple[int, ...] | None
) -> None:
    journal = booked(times, must={"executions": {"reserve_seat": quantity}})
    found = findings(journal)
    assert (found == []) is (entries == ())
    for one in found:
        assert expected is None or one.expected.startswith(expected)
        assert one.entries == (entries or (len(journal.entries), 4, 7, 10))


def test_an_order_is_read_with_or_without_spaces() -> None:
    chain = "b.started<a.started"
    journal = one_round(call("a"), call("b"), scenario_=scenario(**expecting(order=[chain])))
    journal.execute(label="a")
    journal.execute(label="b")
    assert len(findings(journal)) == 1


def test_each_order_is_judged_by_itself() -> None:
    """The gate of the first was let go, the second was not kept."""
    chains = ["b.ended < a.ended", "b.started < a.started"]
    journal = one_round(call("a"), call("b"), scenario_=scenario(**expecting(order=chains)))
    journal.execute(label="a")
    journal.execute(label="b")
    journal.note("gate", gate="a.ended waits for b.ended", how="forced")
    (finding,) = findings(journal)
    assert finding.expected == "b.started before a.started"


def test_points_of_one_entry_have_no_order() -> None:
    journal = one_round(
        call("a"), call("b"), scenario_=scenario(**expecting(order=["b.asked < a.asked"]))
    )
    assert findings(journal) == []


def test_an_outcome_without_a_reason_is_told_by_its_state() -> None:
    journal = one_round(scenario_=scenario(**expecting(outcome="failed")))
    journal.end("completed")
    (finding,) = findings(journal)
    assert (finding.expected, finding.seen) == ("outcome failed", "completed")


@pytest.mark.parametrize(("must_reach", "expected"), [(True, [2, 3]), (False, [])])
def test_only_turns_that_have_to_be_reached_are_missed(
    must_reach: bool, expected: list[int]
) -> None:
    turns = [{"say": "Done.", "must_reach": must_reach} for _ in range(3)]
    journal = Written(scenario(turns=turns))
    journal.ask()
    journal.answer(text="Done.")
    journal.end("completed")
    assert [(found.expected, found.seen) for found in findings(journal)] == [
        (f"turn {number} is asked for", "the run ended before: completed") for number in expected
    ]


def test_a_result_is_shown_in_short_and_where_it_stands() -> None:
    (finding,) = findings(answered("own", result="x" * 200))
    assert (finding.seen, finding.entries) == (f"{'x' * 47} ... {'x' * 47}", (7,))
    (finding,) = findings(answered("own", result=""))
    assert finding.seen == "''"


def test_a_run_that_stopped_told_no_error_either() -> None:
    """It went on from nothing, so that nothing could stand in a request."""
    journal = one_round(scenario_=scenario(**expecting(results={"book": "error"})))
    journal.end("failed", "KeyError")
    (finding,) = findings(journal)
    assert (finding.expected, finding.seen) == ("result of book: error", "no result")


def test_all_results_under_a_call_are_shown() -> None:
    journal = answered("own", result="one")
    journal.result("call_book", "two")
    journal.ask(2, 2)
    (finding,) = findings(journal)
    assert finding.seen == "one; two"


def test_a_call_that_was_dropped_beside_others_has_no_result() -> None:
    """A loop that sends calls back does not tell results as text."""
    journal = one_round(
        call("book"), call("sky"), scenario_=scenario(**expecting(results={"book": "error"}))
    )
    journal.carry(journal.given[1])
    journal.result("call_sky", "Error")
    journal.ask(2)
    (finding,) = findings(journal)
    assert finding.seen == "no result"


def test_all_outcomes_that_were_expected_or_seen_are_named() -> None:
    expected = {"any_of": ["failed", "refused"]}
    journal = one_round(scenario_=scenario(**expecting(outcome=expected)))
    journal.end("completed", "final_answer")
    journal.end("limit")
    (finding,) = findings(journal)
    assert finding.expected == "outcome failed or refused"
    assert finding.seen == "completed/final_answer, limit"
    assert finding.entries == (4, 5)
