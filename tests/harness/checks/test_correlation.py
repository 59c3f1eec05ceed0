"""answered, known-id, own-result: on journals written by hand."""

from __future__ import annotations

import pytest
from journals import Json, Written, call, honest, levels, one_round, scenario, two_rounds

from loopcheck.harness.results import CheckResult

pytestmark = pytest.mark.usefixtures("every_word")
SKY: Json = {"city": "Basel"}
SEA: Json = {"city": "Brest"}


def test_an_honest_run_passes_all_three() -> None:
    journal = honest(call("book"), call("sky", "get_weather", SKY))
    for name in ("answered", "known-id", "own-result"):
        result = journal.check(f"correlation.{name}")
        assert (result.status, result.findings) == ("pass", ())


def test_without_calls_none_is_exercised() -> None:
    journal = Written()
    journal.ask()
    journal.answer(text="Done.")
    journal.end(text="Done.")
    for name in ("answered", "known-id", "own-result"):
        assert journal.check(f"correlation.{name}").status == "not exercised"


def test_a_loop_that_sends_text_in_place_of_calls_cannot_be_observed() -> None:
    journal = one_round()
    journal.items.append({"kind": "user", "path": "messages[1]", "text": "Observation: ok"})
    journal.ask(2)
    for name in ("answered", "known-id", "own-result"):
        assert journal.check(f"correlation.{name}").status == "not observable"


def test_a_call_without_result_fails() -> None:
    journal = two_rounds(call("a"), call("b"), results=[("call_a", "ok")])
    result = journal.check("correlation.answered")
    assert result.status == "fail"
    (finding,) = result.findings
    assert finding.expected == "1 result for call b in request 2"
    assert finding.seen == "none, under id 'call_b' (reserve_seat, messages[2])"
    assert finding.entries == (4, 3)


@pytest.mark.parametrize("role", ["refused", "divergent"])
def test_requests_that_were_turned_down_prove_it_too(role: str) -> None:
    journal = one_round()
    journal.carry()
    journal.ask(2, role=role)
    assert levels(journal.check("correlation.answered")) == ["must"]


def test_a_call_with_two_results_fails_once_however_often_it_is_sent() -> None:
    journal = two_rounds(call("a"), results=[("call_a", "no"), ("call_a", "ok")])
    journal.answer(status=500, ends="failed", fault="http")
    journal.ask(2, 2)
    (finding,) = journal.check("correlation.answered").findings
    assert finding.seen == "2, under id 'call_a' (reserve_seat, messages[1])"


def test_a_repeated_id_is_counted_by_occurrence() -> None:
    twins = (call("a", call_id="call_x"), call("b", call_id="call_x"))
    answered = two_rounds(*twins, results=[("call_x", "1"), ("call_x", "2")])
    assert levels(answered.check("correlation.answered")) == []
    assert levels(answered.check("correlation.known-id")) == []
    half = two_rounds(*twins, results=[("call_x", "1")])
    assert levels(half.check("correlation.answered")) == ["must"]


def test_an_id_that_returns_in_the_next_turn_is_answered_again() -> None:
    journal = two_rounds(call("a", call_id="call_0"), results=[("call_0", "1")])
    journal.answer(call("b", call_id="call_0"))
    journal.carry()
    journal.result("call_0", "2")
    journal.ask(3)
    assert levels(journal.check("correlation.answered")) == []
    assert levels(journal.check("correlation.known-id")) == []


def test_a_cut_call_that_is_carried_wants_an_answer() -> None:
    journal = Written()
    journal.ask()
    journal.answer(call("a"), call("b", arguments='{"seat":1'), ends="marked", stop="length")
    journal.carry()
    journal.result("call_a", "ok")
    journal.ask(2)
    assert levels(journal.check("correlation.answered")) == ["must"]


def test_a_truncated_response_may_be_left_out() -> None:
    journal = Written()
    journal.ask()
    journal.answer(call("a"), ends="marked", stop="length")
    journal.ask(1, 2)
    assert journal.check("correlation.answered").status == "not exercised"


@pytest.mark.parametrize(("odd", "level"), [(False, "must"), (True, "should")])
def test_a_sister_that_is_lost_has_no_result(odd: bool, level: str) -> None:
    journal = one_round(call("a"), call("b"))
    journal.entries[-1]["odd"] = odd
    journal.carry(journal.given[0])
    journal.result("call_a", "ok")
    journal.ask(2)
    (finding,) = journal.check("correlation.answered").findings
    assert (finding.level, finding.seen) == (level, "request 2 holds nothing of b")


def test_without_ids_nobody_knows_which_attempt_was_taken() -> None:
    journal = one_round(call("a", call_id=""))
    journal.ask(1, 2)
    journal.answer(call("b", call_id=""), call("c", call_id=""))
    journal.carry(call("b", call_id="new_1"))
    journal.result("new_1", "ok")
    journal.ask(2)
    assert levels(journal.check("correlation.answered")) == []
    assert levels(journal.check("correlation.known-id")) == []


@pytest.mark.parametrize(
    ("state", "limit", "expected"),
    [
        ("failed", None, ["should"]),
        ("completed", None, ["should"]),
        ("limit", None, []),
        ("paused", None, []),
        ("failed", 1, []),
    ],
)
def test_a_loop_that_stops_before_it_answers(
    state: str, limit: int | None, expected: list[str]
) -> None:
    limits = {} if limit is None else {"limits": {"rounds": limit}}
    journal = one_round(scenario_=scenario(**limits))
    journal.end(state, "KeyError")
    assert levels(journal.check("correlation.answered")) == expected


def test_a_result_under_another_id_fails() -> None:
    journal = two_rounds(call("a"), results=[("call_b", "ok")])
    result = journal.check("correlation.known-id")
    assert result.status == "fail"
    (finding,) = result.findings
    assert finding.expected == "an id of a call in request 2: 'call_a'"
    assert finding.seen == "a result under 'call_b' (messages[2]): 'ok'"


def test_a_call_that_was_never_issued_fails() -> None:
    journal = Written()
    journal.ask()
    journal.answer(text="Wait.")
    journal.carry(call("x"))
    journal.result("call_x", "ok")
    journal.ask(2)
    (finding,) = journal.check("correlation.known-id").findings
    assert finding.level == "must"
    assert finding.seen == ("1 call of reserve_seat under 'call_x' in request 2, never issued")


def test_new_ids_that_keep_their_pairs_are_a_should() -> None:
    journal = one_round(call("a"), call("b"))
    journal.carry(call("a", call_id="call_1"), call("b", call_id="call_2"))
    journal.result("call_1", "ok")
    journal.result("call_2", "ok")
    journal.ask(2)
    result = journal.check("correlation.known-id")
    assert (result.status, levels(result)) == ("pass", ["should", "should"])
    assert result.findings[0].seen == "'call_1' in request 2"


def test_one_new_id_for_two_calls_is_no_pair() -> None:
    journal = one_round(call("a"), call("b", arguments={"event": "E2", "seat": 1}))
    journal.carry(*(call(label, call_id="call_1") for label in ("a", "b")))
    journal.result("call_1", "ok")
    journal.result("call_1", "ok")
    journal.ask(2)
    assert levels(journal.check("correlation.known-id"))[0] == "must"


def test_a_call_that_stands_there_twice_is_no_pair() -> None:
    journal = one_round(call("a"))
    journal.carry()
    journal.carry()
    journal.result("call_a", "ok")
    journal.ask(2)
    (finding,) = journal.check("correlation.known-id").findings
    assert finding.seen.endswith(
        "2 calls of reserve_seat under 'call_a' in request 2, which was issued less often"
    )


def test_empty_ids_may_be_replaced() -> None:
    journal = one_round(call("a", call_id=""), call("b", call_id=""))
    journal.carry(call("a", call_id="new_1"), call("b", call_id="new_2"))
    journal.result("new_1", "ok")
    journal.result("new_2", "ok")
    journal.ask(2)
    assert levels(journal.check("correlation.known-id")) == []
    assert levels(journal.check("correlation.answered")) == []


def test_only_errors_exercise_nothing() -> None:
    journal = two_rounds(call("a"), results=[("call_a", "Error")])
    result = journal.check("correlation.own-result")
    assert (result.status, result.reason) == (
        "not exercised",
        "no result in any request carries a token",
    )


def sent_back(issued: str, held: str, *, sent: str = "whole") -> CheckResult:
    """What the check of ids says where a call was issued so and stands so in the history."""
    journal = one_round(call("book", arguments=issued, sent=sent))
    journal.carry(call("book", arguments=held))
    journal.result("call_book", "done")
    journal.ask(2)
    return journal.check("correlation.known-id")


@pytest.mark.parametrize(
    ("issued", "held"),
    [
        ('{"event":"E1","seat":12}', '{ "seat": 12.0, "event": "E\\u0031" }'),
        ('{"event":"E1","seat":"12"}', '{"event":"E1","seat":12}'),
        ('{"event":"E1","sea', "{}"),
        ('"{}"', "{}"),
        ("", "{}"),
    ],
)
def test_a_call_may_be_written_another_way(issued: str, held: str) -> None:
    assert levels(sent_back(issued, held)) == []


def test_a_call_whose_arguments_were_cut_may_be_replaced() -> None:
    assert levels(sent_back('{"event":"E1","seat":12}', "{}", sent="cut")) == []


@pytest.mark.parametrize("held", ['{"event":"E1","seat":1}', "{}", "no JSON", ""])
def test_a_call_with_other_arguments_is_a_should(held: str) -> None:
    (finding,) = sent_back('{"event":"E1","seat":12}', held).findings
    assert (finding.level, finding.expected) == ("should", '{"event":"E1","seat":12} for call book')
    assert finding.seen == f"{held} under 'call_book' in request 2 (messages[1])"


def test_a_call_may_go_back_as_it_was_approved() -> None:
    journal = one_round()
    approved = {"event": "E1", "seat": 14}
    journal.note("decision", decide="approve", label="book", arguments=approved)
    journal.carry(call("book", arguments=approved))
    journal.result("call_book", journal.execute(arguments=approved))
    journal.ask(2)
    assert levels(journal.check("correlation.known-id")) == []


def test_a_call_that_was_never_issued_is_missing_its_result_all_the_same() -> None:
    journal = one_round(call("a"))
    journal.carry(call("a"), call("x"))
    journal.result("call_a", "ok")
    journal.ask(2)
    (finding,) = journal.check("correlation.answered").findings
    assert (finding.expected, finding.entries) == ("1 result for call 'call_x' in request 2", (4,))


OTHER: Json = {"event": "E2", "seat": 7}


@pytest.mark.parametrize("turns_before", [0, 1, 2])
def test_a_lost_sister_is_found_under_new_ids_where_there_was_one_attempt(
    turns_before: int,
) -> None:
    journal = Written()
    for turn in range(1, turns_before + 1):
        journal.ask(turn)
        journal.answer(call(f"c{turn}"))
        journal.carry()
        journal.result(f"call_c{turn}", "ok")
    journal.ask(turns_before + 1)
    journal.answer(call("a"), call("b", arguments=OTHER))
    journal.carry(call("a", call_id="new"))
    journal.result("new", "ok")
    journal.ask(turns_before + 2)
    (finding,) = journal.check("correlation.answered").findings
    assert finding.seen == f"request {turns_before + 2} holds nothing of b"


@pytest.mark.parametrize(
    ("ids", "held", "lost"),
    [(("", ""), "new", False), (("id2", "id3"), "new", False), (("id2", "id3"), "id2", True)],
)
def test_of_two_attempts_an_id_tells_which_one_was_taken(
    ids: tuple[str, str], held: str, lost: bool
) -> None:
    journal = one_round(call("a", call_id=""))
    journal.ask(1, 2)
    calls = (call("b", call_id=ids[0]), call("c", call_id=ids[1], arguments=OTHER))
    journal.answer(*calls)
    journal.carry(call("b", call_id=held))
    journal.result(held, "ok")
    journal.ask(2)
    assert levels(journal.check("correlation.answered")) == (["must"] if lost else [])


def test_an_end_without_a_reason_is_told_by_its_state() -> None:
    journal = one_round()
    journal.end("failed")
    (finding,) = journal.check("correlation.answered").findings
    assert finding.seen == "the run ended: failed"


def test_results_and_arguments_are_shown_in_short() -> None:
    journal = two_rounds(call("a"), results=[("call_a", "ok"), ("x", "z" * 90)])
    (finding,) = journal.check("correlation.known-id").findings
    assert finding.seen == f"a result under 'x' (messages[3]): '{'z' * 27} ... {'z' * 27}'"
    changed = sent_back(f'{{"event":"{"y" * 90}"}}', f'{{"event":"{"z" * 90}"}}')
    (finding,) = changed.findings
    assert finding.expected == f'{{"event":"{"y" * 27} ... {"y" * 35}"}} for call book'
    assert finding.seen.startswith(f'{{"event":"{"z" * 27} ... {"z" * 35}"}} under')


def test_all_sisters_that_are_lost_are_named() -> None:
    journal = one_round(call("a"), call("b"), call("c"))
    journal.carry(journal.given[0])
    journal.result("call_a", "ok")
    journal.ask(2)
    (finding,) = journal.check("correlation.answered").findings
    assert finding.seen == "request 2 holds nothing of b, c"


def test_all_calls_that_were_left_are_named() -> None:
    journal = one_round(call("a"), call("b"))
    journal.end("failed")
    (finding,) = journal.check("correlation.answered").findings
    assert finding.expected == "a request with results for a, b"
