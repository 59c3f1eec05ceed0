"""The table, exhaustively: each event in each phase is either listed, or refused."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest

from loopcheck.reference_loop.events import (
    Accepted,
    AskApproval,
    CallResult,
    Calls,
    CallsChecked,
    Cancelled,
    CheckCalls,
    CheckedCall,
    Decided,
    Event,
    ExecuteTools,
    Failed,
    Final,
    Incomplete,
    JudgeAnswer,
    OutcomeUnknown,
    ProposedCall,
    Refused,
    Rejected,
    RequestModel,
    ResultsSaved,
    Resumed,
    SaveResults,
    Started,
    TimeUp,
    ToolsFinished,
    Undecided,
)
from loopcheck.reference_loop.limits import Limits, Retries
from loopcheck.reference_loop.machine import (
    OUTCOMES,
    TABLE,
    Phase,
    Run,
    Step,
    TransitionError,
    step,
)

CALL = ProposedCall(call_id="c1", name="look", arguments_text="{}")
CALLS = Calls((CALL,), "turn")
CHECKED = (CheckedCall(call=CALL, verdict="allowed", arguments={}),)
RESULTS = (CallResult(call_id="c1", text="ok"),)
FINISHED = ToolsFinished(CALLS, RESULTS, CHECKED)

EVENTS: tuple[Event, ...] = (
    Started(),
    Final("Done."),
    CALLS,
    Refused("No."),
    Incomplete("length"),
    Failed("broke", retryable=True),
    CallsChecked(CALLS, CHECKED),
    Decided(CALLS),
    Undecided(),
    FINISHED,
    OutcomeUnknown("it is unknown"),
    ResultsSaved(),
    Accepted(),
    Rejected("too short"),
    TimeUp(),
    Cancelled(),
    Resumed(CALLS),
)
PHASES: tuple[Phase, ...] = (
    "ready",
    "requesting_model",
    "checking_calls",
    "awaiting_approval",
    "executing_tools",
    "saving_results",
    "judging_answer",
    *OUTCOMES,
)

LISTED: dict[tuple[Phase, type[Event]], Phase] = {
    ("ready", Started): "requesting_model",
    ("requesting_model", Final): "judging_answer",
    ("requesting_model", Calls): "checking_calls",
    ("requesting_model", Refused): "refused",
    ("requesting_model", Incomplete): "failed",
    ("requesting_model", Failed): "requesting_model",
    ("requesting_model", TimeUp): "limit",
    ("requesting_model", Cancelled): "cancelled",
    ("requesting_model", Resumed): "requesting_model",
    ("checking_calls", CallsChecked): "executing_tools",
    ("checking_calls", Cancelled): "cancelled",
    ("checking_calls", Resumed): "checking_calls",
    ("awaiting_approval", Decided): "checking_calls",
    ("awaiting_approval", Undecided): "paused",
    ("awaiting_approval", Cancelled): "cancelled",
    ("awaiting_approval", Resumed): "checking_calls",
    ("executing_tools", ToolsFinished): "saving_results",
    ("executing_tools", OutcomeUnknown): "paused",
    ("executing_tools", Resumed): "checking_calls",
    ("saving_results", ResultsSaved): "requesting_model",
    ("judging_answer", Accepted): "completed",
    ("judging_answer", Rejected): "failed",
    ("judging_answer", Cancelled): "cancelled",
    ("judging_answer", Resumed): "judging_answer",
    ("paused", Resumed): "checking_calls",
}


def answer(run: Run, event: Event) -> Step:
    """What comes of a final answer that is accepted."""
    run, action = step(run, event)
    return step(run, Accepted()) if isinstance(action, JudgeAnswer) else (run, action)


def test_the_table_is_the_list_here() -> None:
    listed = {(phase, event) for phase, row in TABLE.items() for event in row}
    assert listed == set(LISTED)
    for (phase, event), after in LISTED.items():
        assert after in TABLE[phase][event].to


def test_every_event_has_an_example_here() -> None:
    assert {type(event) for event in EVENTS} == set(get_args(Event))


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_an_event_is_listed_or_changes_nothing(phase: Phase, event: Event) -> None:
    run = Run(phase=phase, rounds=3, tool_calls=4, failures=1)
    before = replace(run)
    expected = LISTED.get((phase, type(event)))
    if expected is None:
        with pytest.raises(TransitionError) as caught:
            step(run, event)
        assert (caught.value.phase, caught.value.event) == (phase, type(event).__name__)
        assert str(caught.value) == f"{type(event).__name__} cannot happen in phase {phase}"
    else:
        after, _ = step(run, event)
        assert after.phase == expected
    assert run == before


def test_the_table_lists_every_phase() -> None:
    assert set(TABLE) == set(PHASES)


def test_nothing_is_left_to_do_once_an_outcome_is_reached() -> None:
    for phase, event_type in LISTED:
        event = next(event for event in EVENTS if type(event) is event_type)
        run, action = step(Run(phase=phase), event)
        assert (action is None) == (run.phase in OUTCOMES)


def test_a_run_with_one_round_of_tools() -> None:
    run, action = step(Run(), Started())
    assert action == RequestModel(0.0)
    run, action = step(run, CALLS)
    assert action == CheckCalls(CALLS)
    run, action = step(run, CallsChecked(CALLS, CHECKED))
    assert action == ExecuteTools(CALLS, CHECKED)
    run, action = step(run, FINISHED)
    assert action == SaveResults(CALLS, RESULTS)
    run, action = step(run, ResultsSaved())
    assert action == RequestModel(0.0)
    run, action = step(run, Final("Done."))
    assert action == JudgeAnswer("Done.")
    run, action = step(run, Accepted())
    assert action is None
    assert run == Run(
        phase="completed", reason="final_answer", text="Done.", rounds=2, tool_calls=1
    )


def test_one_call_that_needs_a_decision_holds_up_the_batch() -> None:
    asked = (*CHECKED, CheckedCall(call=CALL, verdict="ask", arguments={}))
    run, action = step(Run(phase="checking_calls"), CallsChecked(CALLS, asked))
    assert action == AskApproval(CALLS)
    paused, action = step(run, Undecided())
    assert action is None
    assert (paused.phase, paused.reason) == ("paused", "awaiting_approval")
    assert step(paused, Resumed(CALLS))[1] == CheckCalls(CALLS)
    assert step(run, Decided(CALLS))[1] == CheckCalls(CALLS)


def test_an_answer_that_will_not_do() -> None:
    run, _ = step(Run(phase="requesting_model"), Final("Done."))
    run, action = step(run, Rejected("It names no seat."))
    assert action is None
    assert (run.phase, run.reason, run.text) == ("failed", "answer_rejected", "It names no seat.")


def test_an_answer_is_judged_again_after_a_death() -> None:
    run, _ = step(Run(phase="requesting_model"), Final("Done."))
    assert step(run, Resumed(None)) == (run, JudgeAnswer("Done."))


def test_open_calls_cannot_be_forgotten() -> None:
    with pytest.raises(TransitionError, match="Resumed without calls cannot happen in phase paus"):
        step(Run(phase="paused"), Resumed(None))


def test_a_paused_run_forgets_why_it_paused() -> None:
    run, _ = step(Run(phase="executing_tools"), OutcomeUnknown("nobody knows"))
    assert (run.phase, run.reason, run.text) == ("paused", "outcome_unknown", "nobody knows")
    run, _ = step(run, Resumed(CALLS))
    assert (run.reason, run.text) == ("", "")


@pytest.mark.parametrize(
    ("event", "phase", "reason", "text"),
    [
        (Final("Done."), "completed", "final_answer", "Done."),
        (Refused("No."), "refused", "refused", "No."),
        (Incomplete("length"), "failed", "incomplete_response", ""),
        (Incomplete("context"), "failed", "incomplete_response", ""),
        (Incomplete("empty"), "failed", "incomplete_response", ""),
        (Incomplete("content_filter"), "refused", "incomplete_response", ""),
        (Failed("no key", retryable=False), "failed", "provider_failure", "no key"),
        (TimeUp(), "limit", "max_elapsed", ""),
        (Cancelled(), "cancelled", "cancelled_by_user", ""),
    ],
)
def test_how_a_run_ends(event: Event, phase: Phase, reason: str, text: str) -> None:
    run, _ = answer(Run(phase="requesting_model"), event)
    assert (run.phase, run.reason, run.text) == (phase, reason, text)


def test_the_last_allowed_round_is_executed_and_saved_before_the_run_stops() -> None:
    run = Run(limits=Limits(rounds=2), phase="requesting_model", rounds=1)
    run, action = step(run, CALLS)
    assert action == CheckCalls(CALLS)
    run, action = step(run, CallsChecked(CALLS, CHECKED))
    assert action == ExecuteTools(CALLS, CHECKED)
    run, _ = step(run, FINISHED)
    run, action = step(run, ResultsSaved())
    assert action is None
    assert (run.phase, run.reason, run.rounds) == ("limit", "max_rounds", 2)


def test_a_final_answer_may_take_the_last_round() -> None:
    run = Run(limits=Limits(rounds=2), phase="requesting_model", rounds=1)
    run, _ = answer(run, Final("Done."))
    assert (run.phase, run.rounds) == ("completed", 2)


def test_a_batch_that_would_exceed_the_calls_is_not_begun() -> None:
    run = Run(limits=Limits(tool_calls=2), phase="requesting_model", tool_calls=1)
    after, action = step(run, CALLS)
    assert action == CheckCalls(CALLS)
    assert after.tool_calls == 2
    after, action = step(run, Calls((CALL, CALL), "turn"))
    assert action is None
    assert (after.phase, after.reason, after.tool_calls) == ("limit", "max_tool_calls", 1)


def test_a_broken_response_is_asked_for_again_a_few_times_and_ever_later() -> None:
    run = Run(retries=Retries(count=2, first_seconds=0.5), phase="requesting_model", rounds=1)
    broken = Failed("connection lost", retryable=True)
    run, action = step(run, broken)
    assert action == RequestModel(0.5)
    run, action = step(run, broken)
    assert action == RequestModel(1.0)
    assert run.rounds == 1
    run, action = step(run, broken)
    assert action is None
    assert (run.phase, run.reason, run.text) == ("failed", "provider_failure", "connection lost")


def test_a_reply_makes_the_count_of_failures_start_again() -> None:
    run, _ = step(Run(phase="requesting_model"), Failed("connection lost", retryable=True))
    assert run.failures == 1
    run, _ = step(run, CALLS)
    assert run.failures == 0
