"""Executions are matched to calls, as many as possible, in whatever order they come."""

from __future__ import annotations

from itertools import permutations

import pytest
from controlled import decide
from hypothesis import given
from hypothesis import strategies as st
from journals import SEAT, Json, Written, call, one_round

from loopcheck.harness.checks.matching import equal_calls, is_complete, match, pair_up
from loopcheck.harness.checks.tokens import owners
from loopcheck.harness.checks.values import Reading

COSTS = st.lists(
    st.lists(st.none() | st.integers(0, 2), min_size=4, max_size=4), min_size=0, max_size=4
)


def most_pairs(costs: list[list[int | None]], rights: int) -> int:
    """By trying every way to give the lefts a right of their own, or none."""
    places = [*range(rights), *[None] * len(costs)]
    return max(
        (
            sum(
                right is not None and costs[left][right] is not None
                for left, right in enumerate(chosen)
            )
            for chosen in permutations(places, len(costs))
        ),
        default=0,
    )


def paired(costs: list[list[int | None]]) -> dict[int, int]:
    return pair_up(range(len(costs)), range(4), lambda left, right: costs[left][right])


@given(COSTS)
def test_pairs_are_as_many_as_possible_and_allowed(costs: list[list[int | None]]) -> None:
    pairs = paired(costs)
    assert len(pairs) == most_pairs(costs, 4)
    assert len(set(pairs.values())) == len(pairs)
    assert all(costs[left][right] is not None for left, right in pairs.items())


@given(COSTS, st.randoms(use_true_random=False))
def test_the_number_of_pairs_does_not_depend_on_order(
    costs: list[list[int | None]], random: object
) -> None:
    shuffled = list(costs)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert len(paired(shuffled)) == len(paired(costs))


def test_cheaper_pairs_come_first() -> None:
    assert paired([[2, 0, None, None], [0, 2, None, None]]) == {0: 1, 1: 0}


def test_equals_are_paired_in_their_order() -> None:
    assert paired([[0, 0, 0, None], [0, 0, 0, None], [0, 0, 0, None]]) == {0: 0, 1: 1, 2: 2}


def test_a_cheap_pair_gives_way_where_another_finds_none_otherwise() -> None:
    assert paired([[0, 2, None, None], [1, None, None, None]]) == {0: 1, 1: 0}


def test_several_pairs_may_give_way_one_after_another() -> None:
    costs: list[list[int | None]] = [[0, 0, None, None], [None, 0, 0, None], [0, None, None, None]]
    assert paired(costs) == {0: 1, 1: 2, 2: 0}


def matched(journal: Written) -> dict[int, str]:
    return {found.execution.number: found.call.name for found in match(journal.evidence()).matches}


def strays(journal: Written) -> list[int]:
    return [one.number for one in match(journal.evidence()).strays]


def test_executions_go_to_calls_by_arguments() -> None:
    journal = one_round(call("a"), call("b", arguments={"event": "E1", "seat": 13}))
    journal.execute(arguments={"event": "E1", "seat": 13})
    journal.execute()
    assert matched(journal) == {1: "b", 2: "a"}
    assert strays(journal) == []


def test_equal_calls_are_a_budget_and_the_later_execution_is_the_stray() -> None:
    journal = one_round(call("a"), call("b"))
    for _ in range(3):
        journal.execute()
    assert set(matched(journal).values()) == {"a", "b"}
    assert strays(journal) == [3]


def test_an_id_that_was_passed_on_tells_equal_calls_apart() -> None:
    journal = one_round(call("a"), call("b"))
    journal.execute(call_id="call_b")
    journal.execute(call_id="call_a")
    assert matched(journal) == {1: "b", 2: "a"}


def test_what_was_approved_in_place_of_the_arguments_is_as_exact_as_they_are() -> None:
    journal = one_round(call("more", arguments={**SEAT, "more": 1}), call("book"))
    decide(journal, label="more")
    decide(journal, "deny")
    journal.execute()
    assert matched(journal) == {1: "more"}


def test_an_exact_execution_is_preferred_to_a_lossless_one() -> None:
    journal = one_round(
        call("text", arguments={"event": "E1", "seat": "12"}), call("number", arguments=SEAT)
    )
    journal.execute()
    found = match(journal.evidence()).matches
    assert [(one.call.name, one.reading) for one in found] == [("number", Reading.EXACT)]


def test_the_next_response_is_current_from_its_first_byte() -> None:
    journal = one_round(call("a"))
    journal.execute()
    journal.carry()
    journal.ask(2)
    journal.answer(call("b"))
    journal.execute()
    assert matched(journal) == {1: "a", 2: "b"}


def test_a_call_that_runs_late_is_still_its_own() -> None:
    journal = one_round(call("a"))
    journal.carry()
    journal.ask(2)
    journal.answer(text="Wait.")
    journal.execute()
    assert matched(journal) == {1: "a"}


def test_a_call_that_was_cut_or_never_sent_matches_nothing() -> None:
    journal = one_round(call("a", sent="cut"), call("b", sent="none"))
    journal.execute()
    assert strays(journal) == [1]


def test_a_whole_call_of_a_response_that_ended_badly_is_matched_but_not_complete() -> None:
    journal = Written()
    journal.ask()
    journal.answer(call("a"), ends="marked", stop="length")
    journal.execute()
    (found,) = match(journal.evidence()).matches
    assert found.call.name == "a"
    assert not is_complete(found.call, found.response)


def test_calls_of_a_later_attempt_are_named_with_it() -> None:
    journal = Written()
    journal.ask()
    journal.answer(status=500, ends="failed", fault="http")
    journal.ask(1, 2)
    journal.answer(call("a"))
    journal.execute()
    assert matched(journal) == {1: "a/2"}


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        (call("a"), call("b"), True),
        (call("a"), call("b", "get_weather"), False),
        (call("a", arguments='{"x":1}'), call("b", arguments='{ "x": 1.0 }'), True),
        (call("a", arguments='{"x":1}'), call("b", arguments='{"x":2}'), False),
        (call("a", arguments='{"x":'), call("b", arguments='{"x":'), True),
        (call("a", arguments='{"x":'), call("b", arguments='{"y":'), False),
        (call("a", arguments='{"x":1}', sent="cut"), call("b", arguments='{ "x":1}'), False),
    ],
)
def test_calls_are_equal_by_tool_and_arguments(one: Json, other: Json, equal: bool) -> None:
    left, right = one_round(one, other).evidence().responses[0].calls
    assert equal_calls(left, right) is equal
    assert equal_calls(right, left) is equal


def test_whose_token_a_result_carries() -> None:
    journal = one_round(call("a"), call("b", arguments={"event": "E2", "seat": 7}))
    first, second = journal.execute(), journal.execute(arguments={"event": "E2", "seat": 7})
    stray = journal.execute("get_weather", {"city": "Basel"})
    evidence = journal.evidence()
    a, b = evidence.responses[0].calls
    tokens = owners(evidence)
    assert tokens.own(a) == {"tok-001"}
    assert tokens.own(b) == {"tok-002"}
    assert [tokens.foreign(text, a) for text in (first, second, stray)] == [False, True, True]
    assert tokens.names(f"{second}{stray}") == "call b and get_weather"


def test_a_token_is_that_of_the_call_of_its_own_response_first() -> None:
    journal = one_round(call("a"))
    journal.execute()
    journal.carry()
    journal.ask(2)
    journal.answer(call("b"))
    journal.execute()
    tokens = owners(journal.evidence())
    assert tokens.names("tok-001") == "call a"
    assert tokens.names("tok-002") == "call b"


def test_a_token_of_arguments_that_no_call_has_is_loose() -> None:
    journal = one_round(call("a"))
    journal.execute(arguments={"event": "E9", "seat": 9})
    evidence = journal.evidence()
    (a,) = evidence.responses[0].calls
    tokens = owners(evidence)
    assert tokens.own(a) == frozenset()
    assert tokens.foreign("tok-001", a) is False
    assert tokens.names("tok-001") == "reserve_seat"


def test_a_call_runs_late_also_behind_a_failure() -> None:
    journal = one_round(call("a"))
    journal.carry()
    journal.ask(2)
    journal.answer(status=500, ends="failed", fault="http")
    journal.execute()
    assert matched(journal) == {1: "a"}


def test_a_late_execution_is_that_of_one_call() -> None:
    """Two turns asked for the same, and it ran once: the later of them is taken."""
    journal = one_round(call("a"))
    for turn, calls in ((2, [call("b")]), (3, [])):
        journal.carry()
        journal.ask(turn)
        journal.answer(*calls, text="" if calls else "Wait.")
    journal.execute()
    assert [found.call.name for found in match(journal.evidence()).matches] == ["b"]


def test_of_equal_calls_the_one_that_was_approved_so_is_the_one_that_ran() -> None:
    journal = one_round(call("changed"), call("plain"))
    decide(journal, arguments={"event": "E1", "seat": 13}, label="changed")
    decide(journal, label="plain")
    journal.execute()
    assert matched(journal) == {1: "plain"}


def test_what_was_approved_reads_by_the_schema() -> None:
    journal = one_round(call("plain"), call("changed"))
    decide(journal, arguments={"event": "E1", "seat": "12"}, label="changed")
    journal.execute()
    assert matched(journal) == {1: "changed"}
