"""The loop as a pure state machine.

Two rules. All transitions stand in `TABLE`; `step` only looks them up. An event that is not
listed for the phase raises, names both, and changes nothing.

A run is a value and a step returns another one, with at most one action for the caller to carry
out; the event that the action brings is the next step's. Whoever wants a run to survive its
process saves the value between steps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, TypeAlias, get_args

from loopcheck.reference_loop import events as e
from loopcheck.reference_loop.limits import Limits, Retries

State: TypeAlias = Literal["completed", "refused", "limit", "failed", "paused", "cancelled"]
Phase: TypeAlias = Literal["ready", "requesting_model", "executing_tools", "saving_results"] | State

OUTCOMES: Final[tuple[State, ...]] = get_args(State)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Everything the machine knows about a run. `failures` counts those since the last reply."""

    limits: Limits = field(default_factory=Limits)
    retries: Retries = field(default_factory=Retries)
    phase: Phase = "ready"
    reason: str = ""
    text: str = ""
    rounds: int = 0
    tool_calls: int = 0
    failures: int = 0


@dataclass(frozen=True, slots=True)
class TransitionError(Exception):
    """An event came that has no place in this phase: a mistake of the caller."""

    phase: Phase
    event: str

    def __str__(self) -> str:
        return f"{self.event} cannot happen in phase {self.phase}"


Step: TypeAlias = tuple[Run, e.Action | None]
_Transition: TypeAlias = Callable[[Run, Any], Step]


def step(run: Run, event: e.Event) -> Step:
    """The run after this event, and what to do next; nothing once the run is over.

    Raises TransitionError when the table does not list the event for the phase.
    """
    transition = TABLE[run.phase].get(type(event))
    if transition is None:
        raise TransitionError(run.phase, type(event).__name__)
    return transition(run, event)


def _end(run: Run, state: State, reason: str, text: str = "") -> Step:
    return replace(run, phase=state, reason=reason, text=text), None


def _accepted(run: Run) -> Run:
    return replace(run, rounds=run.rounds + 1, failures=0)


def _begin(run: Run, _event: e.Started) -> Step:
    return replace(run, phase="requesting_model"), e.RequestModel()


def _complete(run: Run, event: e.Final) -> Step:
    return _end(_accepted(run), "completed", "final_answer", event.text)


def _refuse(run: Run, event: e.Refused) -> Step:
    return _end(_accepted(run), "refused", "refused", event.text)


def _fall_short(run: Run, event: e.Incomplete) -> Step:
    state: State = "refused" if event.why == "content_filter" else "failed"
    return _end(_accepted(run), state, "incomplete_response")


def _ask_again(run: Run, event: e.Failed) -> Step:
    failures = run.failures + 1
    if not event.retryable or failures > run.retries.count:
        return _end(run, "failed", "provider_failure", event.error)
    return replace(run, failures=failures), e.RequestModel(run.retries.delay(failures))


def _accept_calls(run: Run, event: e.Calls) -> Step:
    run = _accepted(run)
    wanted = run.tool_calls + len(event.calls)
    if run.limits.tool_calls is not None and wanted > run.limits.tool_calls:
        return _end(run, "limit", "max_tool_calls")
    return replace(run, phase="executing_tools", tool_calls=wanted), e.ExecuteTools(event)


def _save(run: Run, event: e.ToolsFinished) -> Step:
    return replace(run, phase="saving_results"), e.SaveResults(event.calls, event.results)


def _go_on(run: Run, _event: e.ResultsSaved) -> Step:
    if run.rounds >= run.limits.rounds:
        return _end(run, "limit", "max_rounds")
    return replace(run, phase="requesting_model"), e.RequestModel()


def _run_out(run: Run, _event: e.TimeUp) -> Step:
    return _end(run, "limit", "max_elapsed")


def _cancel(run: Run, _event: e.Cancelled) -> Step:
    return _end(run, "cancelled", "cancelled_by_user")


TABLE: Final[Mapping[Phase, Mapping[type[e.Event], _Transition]]] = {
    "ready": {
        e.Started: _begin,  # -> requesting_model
    },
    "requesting_model": {
        e.Final: _complete,  # -> completed
        e.Calls: _accept_calls,  # -> executing_tools, or limit
        e.Refused: _refuse,  # -> refused
        e.Incomplete: _fall_short,  # -> failed, or refused
        e.Failed: _ask_again,  # -> requesting_model, or failed
        e.TimeUp: _run_out,  # -> limit
        e.Cancelled: _cancel,  # -> cancelled
    },
    "executing_tools": {
        e.ToolsFinished: _save,  # -> saving_results
        e.Cancelled: _cancel,  # -> cancelled, before the first tool began
    },
    "saving_results": {
        e.ResultsSaved: _go_on,  # -> requesting_model, or limit
    },
    **{outcome: {} for outcome in OUTCOMES},
}
