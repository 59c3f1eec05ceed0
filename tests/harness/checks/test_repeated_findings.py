"""What a later request merely repeats is not found again, and nothing else is left out."""

from __future__ import annotations

import pytest
from journals import call, one_round, two_rounds

pytestmark = pytest.mark.usefixtures("every_word")


def test_missing_results_of_calls_that_share_an_id() -> None:
    twins = (call("a", call_id="x"), call("b", call_id="x"))
    assert len(two_rounds(*twins, results=[]).check("correlation.answered").findings) == 2


def test_missing_results_under_one_label() -> None:
    """Labels of turns beyond the script repeat."""
    journal = one_round(call("a", call_id="id1"))
    journal.carry()
    journal.ask(2)
    journal.answer(call("a", call_id="id2"))
    journal.carry()
    journal.ask(3)
    assert len(journal.check("correlation.answered").findings) == 2


def test_a_missing_result_that_comes_twice_later_on() -> None:
    journal = two_rounds(call("a"), results=[])
    for _ in range(2):
        journal.result("call_a", "ok")
    journal.ask(2, 2)
    seen = [found.seen for found in journal.check("correlation.answered").findings]
    assert [text.partition(",")[0] for text in seen] == ["none", "2"]


def test_results_that_grow_in_number() -> None:
    journal = two_rounds(call("a"), results=[("call_a", "1"), ("call_a", "2")])
    journal.result("call_a", "3")
    journal.ask(2, 2)
    (finding,) = journal.check("correlation.answered").findings
    assert finding.seen.startswith("2, under id")


def test_sisters_that_are_lost_in_two_turns() -> None:
    journal = one_round(call("a"), call("b"))
    for turn, labels in ((2, ("c", "d")), (3, ("e", "f"))):
        journal.carry(journal.given[0])
        journal.result(str(journal.given[0]["call_id"]), "ok")
        journal.ask(turn)
        journal.answer(*map(call, labels))
    assert [found.seen for found in journal.check("correlation.answered").findings] == [
        "request 2 holds nothing of b",
        "request 3 holds nothing of d",
    ]


def test_results_without_calls() -> None:
    journal = two_rounds(call("a"), results=[("call_a", "ok"), ("x", "ok"), ("y", "ok")])
    journal.ask(2, 2)
    assert len(journal.check("correlation.known-id").findings) == 2


def test_calls_that_were_never_issued() -> None:
    journal = one_round(call("a"))
    journal.carry(call("a"), call("x"), call("y"))
    journal.ask(2)
    seen = [found.seen for found in journal.check("correlation.known-id").findings]
    assert seen == [
        f"1 call of reserve_seat under 'call_{name}' in request 2, never issued"
        for name in ("x", "y")
    ]


def test_calls_that_came_back_changed() -> None:
    journal = one_round(call("a"), call("b"))
    other = [call(label, arguments={"event": "E9", "seat": 9}) for label in "abcd"]
    journal.carry(call("made up"), *other[:2])
    journal.ask(2)
    journal.answer(call("c"), call("d"))
    journal.carry(*other[2:])
    journal.ask(3)
    found = journal.check("correlation.known-id").findings
    assert [one.expected for one in found if one.level == "should"] == [
        f'{{"event": "E1", "seat": 12}} for call {label}' for label in "abcd"
    ]
