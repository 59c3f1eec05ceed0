"""limits.kept for everything that a run may use up: on journals written by hand."""

from __future__ import annotations

import pytest
from journals import Json, Written, call, levels, scenario

pytestmark = pytest.mark.usefixtures("every_word")


def spending(limits: Json, *calls_of_turns: int, told: str = "limit", cost: int = 10) -> Written:
    """A loop that carries out so many calls of each turn; each response costs so much."""
    journal = Written(scenario(limits=limits))
    for turn, count in enumerate(calls_of_turns, 1):
        journal.ask(turn)
        labels = [f"c{turn}_{number}" for number in range(count)]
        journal.answer(*(call(label) for label in labels))
        journal.entries[-1]["usage"] = {"input": cost - 1, "output": 1}
        journal.carry()
        for label in labels:
            journal.result(f"call_{label}", journal.execute())
    journal.end(told)
    return journal


@pytest.mark.parametrize(
    ("calls", "told", "expected"),
    [
        ((2, 1), "limit", []),
        ((2, 2), "limit", ["should"]),
        ((4, 3), "completed", ["must"]),
    ],
)
def test_calls_are_held_against_their_limit(
    calls: tuple[int, ...], told: str, expected: list[str]
) -> None:
    journal = spending({"tool_calls": 3}, *calls, told=told)
    assert levels(journal.check("limits.kept", "tool_call_limit")) == expected


def test_calls_within_the_limit_put_nothing_to_the_test() -> None:
    journal = spending({"tool_calls": 3}, 2, 1, told="completed")
    result = journal.check("limits.kept", "tool_call_limit")
    assert (result.status, result.reason) == ("not exercised", "the model asked for 3 calls only")


def test_a_batch_that_was_left_out_is_no_breach() -> None:
    journal = spending({"tool_calls": 3}, 2, told="failed")
    journal.ask(2)
    journal.answer(call("x"), call("y"))
    assert journal.check("limits.kept", "tool_call_limit").status == "pass"


@pytest.mark.parametrize(
    ("rounds", "told", "expected"),
    [(2, "limit", []), (3, "limit", ["should"]), (4, "limit", ["must"])],
)
def test_tokens_are_held_against_their_limit(rounds: int, told: str, expected: list[str]) -> None:
    journal = spending({"tokens": 13}, *[1] * rounds, told=told)
    result = journal.check("limits.kept", "token_limit")
    assert levels(result) == expected
    if expected == ["must"]:
        assert result.findings[0].seen == "30 tokens"
        assert result.findings[0].expected == "13 tokens, or twice as many at most"


@pytest.mark.parametrize(("told", "status"), [("completed", "not exercised"), ("limit", "pass")])
def test_tokens_that_were_not_spent_put_nothing_to_the_test(told: str, status: str) -> None:
    journal = spending({"tokens": 20}, 1, 1, told=told)
    assert journal.check("limits.kept", "token_limit").status == status


def test_a_journal_without_costs_says_nothing_of_tokens() -> None:
    journal = repeating(5, 1, 2, 3)
    journal = Written(scenario(limits={"tokens": 5}), entries=journal.entries)
    assert journal.check("limits.kept", "token_limit").status == "not observable"


@pytest.mark.parametrize(
    "limits",
    [{"tool_calls": 1}, {"tokens": 5}, {"cost": 0.00001}, {"context": 5}, {"repeats": 1}],
)
def test_each_limit_is_declared_by_a_word_of_its_own(limits: Json) -> None:
    journal = spending(limits, 3, 3)
    result = journal.check("limits.kept", "limits")
    assert result.status == "not declared"
    both = spending({"rounds": 2, **limits}, 3, 3)
    assert both.check("limits.kept", "limits").status == "pass"


@pytest.mark.parametrize(
    ("rounds", "limit", "expected", "seen"),
    [
        (2, 0.012, [], ""),
        (3, 0.012, ["should"], "0.02002 dollars"),
        (3, 0.01, ["must"], "0.02002 dollars"),
    ],
)
def test_cost_is_counted_by_the_prices_of_the_task(
    rounds: int, limit: float, expected: list[str], seen: str
) -> None:
    result = spending({"cost": limit}, *[1] * rounds, cost=4001).check("limits.kept", "cost_limit")
    assert levels(result) == expected
    assert [found.seen for found in result.findings] == ([seen] if expected else [])


@pytest.mark.parametrize(
    ("limit", "expected"), [(10, []), (9, ["should"]), (5, ["should"]), (4, ["must"])]
)
def test_the_context_is_that_of_the_latest_response(limit: int, expected: list[str]) -> None:
    journal = spending({"context": limit}, 1, 1, 1)
    result = journal.check("limits.kept", "context_limit")
    assert levels(result) == expected
    if expected == ["must"]:
        assert result.findings[0].seen == "10 context tokens"


def repeating(limit: int, *seats: int, told: str = "limit", executed: int = 99) -> Written:
    """A loop that is asked for these seats in turn, and reserves the first so many."""
    journal = Written(scenario(limits={"repeats": limit}))
    for turn, seat in enumerate(seats, 1):
        wanted: Json = {"event": "E1", "seat": seat}
        journal.ask(turn)
        journal.answer(call(f"c{turn}", arguments=wanted))
        journal.carry()
        result = journal.execute(arguments=wanted) if turn <= executed else "no more"
        journal.result(f"call_c{turn}", result)
    journal.ask(len(seats) + 1)
    journal.answer(text="Done.")
    journal.end(told)
    return journal


@pytest.mark.parametrize(
    ("journal", "status", "expected"),
    [
        (repeating(2, 1, 1), "pass", []),
        (repeating(2, 1, 1, 1), "pass", ["should"]),
        (repeating(2, 1, 1, 1, 1, 1), "fail", ["must"]),
        (repeating(2, 1, 1, 1, 1, 1, executed=2), "pass", []),
        (repeating(2, 1, 1, 2, 1, 1, told="completed"), "not exercised", []),
        (repeating(2, 1, 1, told="completed"), "not exercised", []),
    ],
)
def test_repeats_in_a_row_are_held_against_their_limit(
    journal: Written, status: str, expected: list[str]
) -> None:
    result = journal.check("limits.kept", "repeat_limit")
    assert (result.status, levels(result)) == (status, expected)


def test_calls_in_another_order_are_the_same() -> None:
    journal = Written(scenario(limits={"repeats": 1}))
    for turn, seats in enumerate(((1, 2), (2, 1)), 1):
        journal.ask(turn)
        calls = [call(f"c{turn}{s}", arguments={"event": "E1", "seat": s}) for s in seats]
        journal.answer(*calls)
        journal.carry()
        for seat in seats:
            wanted: Json = {"seat": seat, "event": "E1"}
            journal.result(f"call_c{turn}{seat}", journal.execute(arguments=wanted))
    journal.end("limit")
    (finding,) = journal.check("limits.kept", "repeat_limit").findings
    assert (finding.level, finding.seen) == ("should", "2 repeats")


def test_seconds_are_not_judged() -> None:
    result = spending({"seconds": 0.1}, 3).check("limits.kept", "limits")
    assert result.status == "not exercised"


def test_a_run_without_responses_repeats_and_spends_nothing() -> None:
    for limits, can, reason in (
        ({"repeats": 1}, "repeat_limit", "the model asked for the same 0 times in a row at most"),
        ({"tokens": 1}, "token_limit", "the run took 0 tokens only"),
    ):
        journal = Written(scenario(limits=limits))
        journal.end("failed")
        result = journal.check("limits.kept", can)
        assert (result.status, result.reason) == ("not exercised", reason)


def test_a_limit_that_was_reached_by_nothing_was_kept() -> None:
    for limits, can in (({"repeats": 1}, "repeat_limit"), ({"cost": 0.5}, "cost_limit")):
        journal = Written(scenario(limits=limits))
        journal.end("limit")
        assert journal.check("limits.kept", can).status == "pass"


def test_one_round_alone_may_exceed_a_limit() -> None:
    """Nobody knows before a request what its answer costs."""
    journal = spending({"tokens": 5}, 1, told="completed")
    assert journal.check("limits.kept", "token_limit").status == "pass"


def test_the_longest_row_counts_however_few_of_it_were_carried_out() -> None:
    journal = repeating(1, 2, 2, 3, told="completed", executed=1)
    result = journal.check("limits.kept", "repeat_limit")
    assert (result.status, result.findings) == ("pass", ())


def test_of_several_rows_the_one_counts_that_was_carried_out_most() -> None:
    journal = repeating(1, 9, 8, 1, 1, told="limit")
    (finding,) = journal.check("limits.kept", "repeat_limit").findings
    assert (finding.seen, finding.entries) == ("2 repeats", (19,))


def test_calls_that_are_no_json_repeat_by_their_text() -> None:
    def journal(*texts: str) -> Written:
        made = Written(scenario(limits={"repeats": 1}))
        for turn, text in enumerate(texts, 1):
            made.ask(turn)
            made.answer(call(f"c{turn}", arguments=text))
            made.carry()
            made.result(f"call_c{turn}", "Error: no JSON")
        made.end("completed")
        return made

    same = journal('{"seat":1', '{"seat":1').check("limits.kept", "repeat_limit")
    other = journal('{"seat":1', '{"seat":2').check("limits.kept", "repeat_limit")
    assert (same.status, other.status) == ("pass", "not exercised")


def test_texts_between_end_a_row() -> None:
    journal = Written(scenario(limits={"repeats": 1}))
    for turn, calls in enumerate(([call("a")], [], [], [call("b")]), 1):
        journal.ask(turn)
        journal.answer(*calls, text="" if calls else "Wait.")
        journal.carry()
        for one in calls:
            journal.result(str(one["call_id"]), journal.execute())
    journal.end("completed")
    result = journal.check("limits.kept", "repeat_limit")
    assert result.reason == "the model asked for the same 1 time in a row at most"


def test_a_row_that_is_longer_counts_before_one_that_is_later() -> None:
    journal = repeating(1, 1, 1, 9, told="limit")
    (finding,) = journal.check("limits.kept", "repeat_limit").findings
    assert (finding.seen, finding.entries) == ("2 repeats", (9,))


def test_what_was_spent_up_to_the_limit_is_no_proof() -> None:
    (finding,) = spending({"tokens": 10}, 1, 1, 1).check("limits.kept", "token_limit").findings
    assert (finding.seen, finding.entries) == ("20 tokens", (12,))
