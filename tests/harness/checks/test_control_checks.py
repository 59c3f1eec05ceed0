"""approval.bound, cancel.stops and unapproved executions: on journals written by hand."""

from __future__ import annotations

import pytest
from controlled import OTHER, asking, cancel, decide, disabled, goes_on, leg, paused
from journals import SEAT, Json, Written, call, honest, levels, one_round

pytestmark = pytest.mark.usefixtures("every_word")
BOUND = "approval.bound"
STOPS = "cancel.stops"
ALLOWED = "execution.allowed"


def approved(arguments: Json = SEAT, executed: Json = SEAT) -> Written:
    """A call that a person approved with these arguments, and that ran with those."""
    journal = paused()
    decide(journal, arguments=arguments)
    leg(journal)
    return goes_on(journal, journal.execute(arguments=executed))


class TestApprovals:
    def test_what_was_approved_runs(self) -> None:
        journal = approved()
        assert (journal.check(BOUND).status, journal.check(ALLOWED).status) == ("pass", "pass")
        assert journal.judged("approval", "resume", "cancel").verdict == "pass"

    def test_without_a_pause_there_is_nothing_to_judge(self) -> None:
        assert honest().check(BOUND).status == "not exercised"

    def test_another_seat_than_the_approved_one(self) -> None:
        result = approved(executed=OTHER).check(BOUND)
        assert result.findings == ()
        assert approved(executed=OTHER).check("execution.exact-arguments").status == "fail"

    def test_changed_arguments_are_what_was_approved(self) -> None:
        journal = approved(arguments=OTHER, executed=OTHER)
        assert [journal.check(each).status for each in (BOUND, ALLOWED)] == ["pass", "pass"]
        assert journal.check("execution.exact-arguments").status == "pass"

    def test_a_loop_that_runs_what_the_model_asked_for_instead(self) -> None:
        (finding,) = approved(arguments=OTHER).check(BOUND).findings
        assert finding.level == "must"
        assert finding.expected == "reserve_seat(event='E1', seat=13)"
        assert finding.seen == "reserve_seat(event='E1', seat=12)"
        assert finding.entries == (7, 5)

    def test_one_of_several_approvals_is_enough(self) -> None:
        journal = paused()
        decide(journal, arguments=OTHER)
        decide(journal)
        leg(journal)
        goes_on(journal, journal.execute())
        assert journal.check(BOUND).status == "pass"

    @pytest.mark.parametrize("word", ["deny", None])
    def test_a_call_that_nobody_approved(self, word: str | None) -> None:
        journal = paused()
        if word is not None:
            decide(journal, word)
        leg(journal)
        goes_on(journal, journal.execute())
        (finding,) = journal.check(ALLOWED).findings
        why = "denied by a person" if word else "nobody approved it"
        assert finding.level == "must"
        assert finding.expected == f"0 executions for call book: {why}"

    @pytest.mark.parametrize("approved", ["book", "again"])
    def test_of_equal_calls_the_approved_one_is_the_one_that_runs(self, approved: str) -> None:
        journal = paused(call("book"), call("again"))
        for label in ("book", "again"):
            decide(journal, "approve" if label == approved else "deny", label=label)
        leg(journal)
        goes_on(journal, journal.execute())
        assert journal.check(ALLOWED).status == "pass"
        journal.execute()
        assert levels(journal.check(ALLOWED)) == ["must"]

    def test_a_denied_call_that_does_not_run(self) -> None:
        journal = paused()
        decide(journal, "deny")
        leg(journal)
        goes_on(journal, "A person said no.")
        assert [journal.check(each).status for each in (BOUND, ALLOWED)] == ["pass", "pass"]

    def test_a_word_behind_the_decision_changes_nothing(self) -> None:
        journal = paused()
        decide(journal, "deny")
        decide(journal, "approve", pending=False)
        leg(journal)
        goes_on(journal, journal.execute())
        assert levels(journal.check(ALLOWED)) == ["must"]

    def test_a_target_need_not_say_what_waits(self) -> None:
        journal = one_round(scenario_=asking())
        journal.end("paused", "awaiting_approval")
        decide(journal, pending=False)
        leg(journal)
        goes_on(journal, journal.execute())
        assert [journal.check(each).status for each in (BOUND, ALLOWED)] == ["pass", "pass"]

    def test_an_approval_behind_the_execution_is_none(self) -> None:
        journal = one_round(scenario_=asking())
        journal.execute()
        decide(journal)
        assert levels(journal.check(ALLOWED)) == ["must"]

    def test_a_tool_that_is_disabled(self) -> None:
        journal = one_round(scenario_=disabled())
        journal.execute()
        (finding,) = journal.check(ALLOWED).findings
        assert finding.expected == "0 executions for call book: the tool is disabled"


class TestPauses:
    def test_a_run_that_goes_on_in_the_background(self) -> None:
        journal = paused()
        journal.ask(2)
        journal.execute()
        decide(journal)
        leg(journal)
        (finding,) = journal.check(BOUND).findings
        assert finding.level == "must"
        assert finding.expected == "nothing new while reserve_seat waits for a person"
        assert finding.seen == "request 2; reserve_seat(event='E1', seat=12)"
        assert finding.entries == (5, 6, 4)

    def test_what_ends_during_a_pause_had_begun_before(self) -> None:
        journal = one_round(scenario_=asking())
        journal.note("execution", execution=1, tool="get_weather", arguments={}, token="")
        journal.end("paused", "awaiting_approval", pending=[{"call_id": "c", "tool": "t"}])
        journal.note("ended", execution=1, how="result", result="sunny")
        assert journal.check(BOUND).status == "pass"

    def test_titles_may_be_asked_for_during_a_pause(self) -> None:
        journal = paused()
        journal.ask(role="side")
        assert journal.check(BOUND).status == "pass"

    def test_a_run_that_waits_for_nobody_is_not_held(self) -> None:
        journal = one_round()
        journal.end("paused", "outcome_unknown")
        journal.ask(2)
        assert journal.check(BOUND).status == "not exercised"


class TestCancelling:
    def test_nothing_starts_behind_the_confirmation(self) -> None:
        journal = one_round(scenario_=asking())
        cancel(journal)
        journal.end("cancelled", "cancelled_by_user")
        assert journal.check(STOPS).status == "pass"

    def test_without_a_cancellation(self) -> None:
        assert honest().check(STOPS).status == "not exercised"

    def test_a_run_whose_end_nobody_heard_of(self) -> None:
        journal = one_round()
        cancel(journal)
        assert journal.check(STOPS).status == "not exercised"

    def test_what_is_done_before_the_confirmation_is_no_breach(self) -> None:
        journal = one_round()
        cancel(journal)
        journal.execute()
        journal.ask(2)
        journal.end("cancelled", "cancelled_by_user")
        assert journal.check(STOPS).status == "pass"

    def test_a_run_that_ended_as_if_nothing_were(self) -> None:
        """It was too late: the run was over before it heard."""
        journal = one_round()
        cancel(journal)
        journal.end("completed", "final_answer")
        assert journal.check(STOPS).status == "pass"

    @pytest.mark.parametrize("state", ["cancelled", "completed", "failed"])
    def test_work_that_goes_on_behind_it(self, state: str) -> None:
        journal = one_round(scenario_=asking())
        asked = cancel(journal)
        confirmed = journal.end(state, "x")
        journal.execute()
        journal.ask(2)
        (finding,) = journal.check(STOPS).findings
        assert finding.level == "must"
        assert finding.expected == f"nothing new behind the outcome {state}/x"
        assert finding.seen == "reserve_seat(event='E1', seat=12); request 2"
        assert finding.entries == (6, 9, confirmed, asked)

    def test_another_run_is_none_of_its_business(self) -> None:
        journal = one_round()
        cancel(journal)
        journal.end("cancelled", "cancelled_by_user")
        leg(journal, "run", "r2")
        journal.ask(2)
        journal.execute()
        assert journal.check(STOPS).status == "pass"

    def test_a_pause_confirms_nothing(self) -> None:
        """A run that pauses although it was cancelled is told once more when it is resumed."""
        journal = one_round(scenario_=asking())
        cancel(journal)
        journal.end("paused", "awaiting_approval")
        leg(journal)
        journal.ask(2)
        journal.end("cancelled", "cancelled_by_user")
        assert journal.check(STOPS).status == "pass"

    def test_what_starts_between_a_pause_and_the_confirmation_is_no_breach(self) -> None:
        journal = one_round(scenario_=asking())
        cancel(journal)
        journal.end("paused", "awaiting_approval")
        journal.execute()
        leg(journal)
        journal.end("cancelled", "cancelled_by_user")
        assert journal.check(STOPS).status == "pass"


def test_what_was_approved_is_read_by_the_schema() -> None:
    journal = approved(arguments={"event": "E1", "seat": "13"}, executed=OTHER)
    assert journal.check(BOUND).findings == ()


def test_all_calls_that_wait_are_named() -> None:
    journal = one_round(scenario_=asking())
    waiting = [{"call_id": f"c{tool}", "tool": tool} for tool in ("reserve_seat", "get_weather")]
    journal.end("paused", "awaiting_approval", pending=waiting)
    journal.ask(2)
    (finding,) = journal.check(BOUND).findings
    assert finding.expected == "nothing new while reserve_seat, get_weather waits for a person"
