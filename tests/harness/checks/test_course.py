"""What journals tell of pauses, decisions, cancellations, parts and deaths."""

from __future__ import annotations

from controlled import OTHER, WAITS, cancel, decide, died, leg, paused
from journals import SEAT, Written, one_round

from loopcheck.harness.checks.course import approvals
from loopcheck.harness.checks.evidence import Ended


def states(journal: Written) -> list[list[str]]:
    return [[end.state for end in ends] for ends in journal.evidence().ends]


class TestEnds:
    def test_a_case_of_one_leg(self) -> None:
        journal = one_round()
        journal.end("completed")
        assert states(journal) == [["completed"]]

    def test_a_case_without_any_outcome(self) -> None:
        assert states(one_round()) == [[]]

    def test_a_resumed_run_is_one_part(self) -> None:
        journal = paused()
        leg(journal)
        journal.end("completed")
        assert states(journal) == [["completed"]]
        evidence = journal.evidence()
        assert [end.state for end in evidence.told] == ["paused", "completed"]
        assert evidence.outcome == evidence.told[-1]

    def test_two_processes_tell_two_ends(self) -> None:
        journal = paused()
        leg(journal)
        journal.end("completed")
        journal.end("failed", "taken")
        assert states(journal) == [["completed", "failed"]]

    def test_a_message_and_another_run_begin_parts(self) -> None:
        journal = one_round()
        journal.end("completed")
        leg(journal, "follow_up")
        journal.end("refused")
        leg(journal, "run", "r2")
        journal.end("limit")
        assert states(journal) == [["completed"], ["refused"], ["limit"]]

    def test_of_a_leg_that_died_the_pause_before_it_is_what_was_told(self) -> None:
        journal = paused()
        leg(journal)
        died(journal)
        assert states(journal) == [["paused"]]
        assert journal.evidence().deaths == (7,)

    def test_a_part_that_died_without_a_word(self) -> None:
        journal = one_round()
        died(journal)
        leg(journal, "run", "r2")
        journal.end("completed")
        assert states(journal) == [[], ["completed"]]


def test_pauses_last_until_the_case_goes_on() -> None:
    journal = paused()
    decide(journal)
    resumed = leg(journal)
    journal.end("paused", "awaiting_approval", pending=[WAITS])
    first, second = journal.evidence().pauses
    assert (first.n, first.until, first.calls) == (4, resumed, (WAITS,))
    assert (second.n, second.until) == (7, None)


def test_decisions_in_their_order() -> None:
    journal = paused()
    decide(journal, "deny")
    decide(journal, "approve", OTHER, pending=False)
    told = [(d.n, d.decide, d.label, d.pending) for d in journal.evidence().decisions]
    assert told == [(5, "deny", "book", True), (6, "approve", "book", False)]


def test_a_call_may_run_with_what_was_approved_in_its_place() -> None:
    journal = paused()
    decide(journal, arguments=OTHER)
    (response,) = journal.evidence().responses
    assert response.calls[0].approved == OTHER


def test_a_denial_puts_nothing_in_its_place() -> None:
    journal = paused()
    decide(journal, "deny", SEAT)
    (response,) = journal.evidence().responses
    assert response.calls[0].approved is None


def test_the_first_cancellation_counts() -> None:
    journal = one_round()
    first = cancel(journal)
    cancel(journal)
    assert journal.evidence().cancelled_n == first


def test_ends_of_processes_are_no_cancellation() -> None:
    journal = one_round()
    died(journal)
    assert journal.evidence().cancelled_n is None


def test_an_end_tells_all_that_the_loop_said_of_it() -> None:
    journal = one_round()
    journal.end("failed", "KeyError", "Sorry.", exception="KeyError")
    assert journal.evidence().outcome == Ended(
        n=4, state="failed", reason="KeyError", text="Sorry.", exception="KeyError"
    )


def test_the_first_word_about_a_call_that_waits_is_what_was_approved() -> None:
    journal = paused()
    decide(journal, "approve", OTHER, pending=False)
    decide(journal, "deny")
    decide(journal, "approve")
    decide(journal, "approve", OTHER, label="other")
    decide(journal, "approve", label="other")
    told = approvals(journal.entries)
    assert {label: one.arguments for label, one in told.items()} == {"other": OTHER}


def test_the_first_word_about_a_call_that_waits_counts() -> None:
    journal = paused()
    decide(journal, "deny")
    decide(journal, "approve", OTHER)
    (response,) = journal.evidence().responses
    assert response.calls[0].approved is None


def test_a_word_about_a_call_that_waits_counts_before_others() -> None:
    journal = paused()
    decide(journal, "deny", pending=False)
    decide(journal, "approve", OTHER)
    (response,) = journal.evidence().responses
    assert response.calls[0].approved == OTHER


def test_of_words_about_a_call_that_does_not_wait_the_first_counts() -> None:
    journal = paused()
    decide(journal, "approve", OTHER, pending=False)
    decide(journal, "approve", SEAT, pending=False)
    (response,) = journal.evidence().responses
    assert response.calls[0].approved == OTHER
