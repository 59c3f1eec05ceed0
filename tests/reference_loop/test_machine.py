"""The table, exhaustively: each event in each phase is either listed, or refused."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest

from loopcheck.reference_loop.events import (
    CallResult,
    Calls,
    Cancelled,
    Event,
    ExecuteTools,
    Failed,
    Final,
    Incomplete,
    ProposedCall,
    Refused,
    RequestModel,
    ResultsSaved,
    SaveResults,
    Started,
    TimeUp,
    ToolsFinished,
)
from loopcheck.reference_loop.limits import Limits, Retries
from loopcheck.reference_loop.machine import OUTCOMES, TABLE, Phase, Run, TransitionError, step

CALL = ProposedCall(call_id="c1", name="look", arguments_text="{}")
CALLS = Calls((CALL,), "turn")
RESULTS = (CallResult(call_id="c1", text="ok"),)

EVENTS: tuple[Event, ...] = (
    Started(),
    Final("Done."),
    CALLS,
    Refused("No."),
    Incomplete("length"),
    Failed("broke", retryable=True),
    ToolsFinished(CALLS, RESULTS),
    ResultsSaved(),
    TimeUp(),
    Cancelled(),
)
PHASES: tuple[Phase, ...] = (
    "ready",
    "requesting_model",
    "executing_tools",
    "saving_results",
    *OUTCOMES,
)

LISTED: dict[tuple[Phase, type[Event]], Phase] = {
    ("ready", Started): "requesting_model",
    ("requesting_model", Final): "completed",
    ("requesting_model", Calls): "executing_tools",
    ("requesting_model", Refused): "refused",
    ("requesting_model", Incomplete): "failed",
    ("requesting_model", Failed): "requesting_model",
    ("requesting_model", TimeUp): "limit",
    ("requesting_model", Cancelled): "cancelled",
    ("executing_tools", ToolsFinished): "saving_results",
    ("executing_tools", Cancelled): "cancelled",
    ("saving_results", ResultsSaved): "requesting_model",
}


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
    for phase in PHASES:
        for event in EVENTS:
            if (phase, type(event)) in LISTED:
                run, action = step(Run(phase=phase), event)
                assert (action is None) == (run.phase in OUTCOMES)


def test_a_run_with_one_round_of_tools() -> None:
    run, action = step(Run(), Started())
    assert action == RequestModel(0.0)
    run, action = step(run, CALLS)
    assert action == ExecuteTools(CALLS)
    run, action = step(run, ToolsFinished(CALLS, RESULTS))
    assert action == SaveResults(CALLS, RESULTS)
    run, action = step(run, ResultsSaved())
    assert action == RequestModel(0.0)
    run, action = step(run, Final("Done."))
    assert action is None
    assert run == Run(
        phase="completed", reason="final_answer", text="Done.", rounds=2, tool_calls=1
    )


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
    run, _ = step(Run(phase="requesting_model"), event)
    assert (run.phase, run.reason, run.text) == (phase, reason, text)


def test_the_last_allowed_round_is_executed_and_saved_before_the_run_stops() -> None:
    run = Run(limits=Limits(rounds=2), phase="requesting_model", rounds=1)
    run, action = step(run, CALLS)
    assert action == ExecuteTools(CALLS)
    run, _ = step(run, ToolsFinished(CALLS, RESULTS))
    run, action = step(run, ResultsSaved())
    assert action is None
    assert (run.phase, run.reason, run.rounds) == ("limit", "max_rounds", 2)


def test_a_final_answer_may_take_the_last_round() -> None:
    run, _ = step(Run(limits=Limits(rounds=2), phase="requesting_model", rounds=1), Final("Done."))
    assert (run.phase, run.rounds) == ("completed", 2)


def test_a_batch_that_would_exceed_the_calls_is_not_begun() -> None:
    run = Run(limits=Limits(tool_calls=2), phase="requesting_model", tool_calls=1)
    after, action = step(run, CALLS)
    assert action == ExecuteTools(CALLS)
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


@pytest.mark.parametrize(
    "wrong",
    [{"rounds": 0}, {"tool_calls": -1}, {"seconds": -0.1}],
    ids=lambda wrong: next(iter(wrong)),
)
def test_limits_are_checked_when_they_are_made(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Limits(**wrong)


def test_limits_may_be_tight() -> None:
    assert Limits(rounds=1, tool_calls=0, seconds=0.0).rounds == 1
