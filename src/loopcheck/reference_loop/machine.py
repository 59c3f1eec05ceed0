"""The loop as a pure state machine.

Two rules. All transitions stand in `TABLE`; `step` only looks them up. An event that is not
listed for the phase raises, names both, and changes nothing.

A run is a value and a step returns another one, with at most one action for the caller to carry
out; the event that the action brings is the next step's. The value is what a store keeps between
two steps, and `Resumed` is how a run goes on from what was kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, TypeAlias, get_args

from loopcheck.reference_loop import events as e
from loopcheck.reference_loop.limits import Limits, Price, Retries
from loopcheck.reference_loop.repetition import fingerprint, goes_in_circles, kept

State: TypeAlias = Literal["completed", "refused", "limit", "failed", "paused", "cancelled"]
Phase: TypeAlias = (
    Literal[
        "ready",
        "requesting_model",
        "checking_calls",
        "awaiting_approval",
        "executing_tools",
        "saving_results",
        "judging_answer",
    ]
    | State
)

OUTCOMES: Final[tuple[State, ...]] = get_args(State)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Everything the machine knows about a run.

    `failures` counts those since the last reply and `retried` all that were tried again.
    `context` is the size of the conversation in tokens, as far as the service told. `invalid`
    holds, by tool, in how many rounds in a row its calls were unusable; `recent` the
    fingerprints of the last batches.
    """

    limits: Limits = field(default_factory=Limits)
    retries: Retries = field(default_factory=Retries)
    price: Price | None = None
    phase: Phase = "ready"
    reason: str = ""
    text: str = ""
    rounds: int = 0
    tool_calls: int = 0
    failures: int = 0
    retried: int = 0
    tokens: int = 0
    cost: float = 0.0
    context: int = 0
    elapsed: float = 0.0
    invalid: tuple[tuple[str, int], ...] = ()
    recent: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TransitionError(Exception):
    """An event came that has no place in this phase: a mistake of the caller."""

    phase: Phase
    event: str

    def __str__(self) -> str:
        return f"{self.event} cannot happen in phase {self.phase}"


Step: TypeAlias = tuple[Run, e.Action | None]
_Go: TypeAlias = Callable[[Run, Any], Step]


@dataclass(frozen=True, slots=True)
class Transition:
    """What an event does in a phase: the phases it can lead to, and the function that decides."""

    to: tuple[Phase, ...]
    go: _Go


def step(run: Run, event: e.Event) -> Step:
    """The run after this event, and what to do next; nothing once the run is over.

    Raises TransitionError when the table does not list the event for the phase.
    """
    transition = TABLE[run.phase].get(type(event))
    if transition is None:
        raise TransitionError(run.phase, type(event).__name__)
    return transition.go(run, event)


def _end(run: Run, state: State, reason: str, text: str = "") -> Step:
    return replace(run, phase=state, reason=reason, text=text), None


def _paid(run: Run, usage: e.Usage | None) -> Run:
    if usage is None:
        return run
    cost = 0.0 if run.price is None else run.price(usage)
    return replace(run, tokens=run.tokens + usage.total, cost=run.cost + cost, context=usage.total)


def _accepted(run: Run, usage: e.Usage | None) -> Run:
    return replace(_paid(run, usage), rounds=run.rounds + 1, failures=0)


def _request(run: Run, after_seconds: float = 0.0) -> Step:
    """The next request, unless a budget is spent."""
    limits = run.limits
    spent: tuple[tuple[str, float, float | None], ...] = (
        ("max_rounds", run.rounds, limits.rounds),
        ("max_tokens", run.tokens, limits.tokens),
        ("max_cost", run.cost, limits.cost),
        ("context_limit", run.context, limits.context_tokens),
    )
    for reason, used, allowed in spent:
        if allowed is not None and used >= allowed:
            return _end(run, "limit", reason)
    return replace(run, phase="requesting_model"), e.RequestModel(after_seconds)


def _begin(run: Run, _event: e.Started) -> Step:
    return _request(run)


def _judge(run: Run, event: e.Final) -> Step:
    run = replace(_accepted(run, event.usage), phase="judging_answer", text=event.text)
    return run, e.JudgeAnswer(event.text)


def _judge_again(run: Run, _event: e.Resumed) -> Step:
    return run, e.JudgeAnswer(run.text)


def _complete(run: Run, _event: e.Accepted) -> Step:
    return _end(run, "completed", "final_answer", run.text)


def _turn_down(run: Run, event: e.Rejected) -> Step:
    return _end(run, "failed", "answer_rejected", event.why)


def _refuse(run: Run, event: e.Refused) -> Step:
    return _end(_accepted(run, event.usage), "refused", "refused", event.text)


def _fall_short(run: Run, event: e.Incomplete) -> Step:
    state: State = "refused" if event.why == "content_filter" else "failed"
    return _end(_accepted(run, event.usage), state, "incomplete_response")


def _ask_again(run: Run, event: e.Failed) -> Step:
    run = _paid(run, event.usage)
    failures = run.failures + 1
    wait = run.retries.wait(event, failures=failures, spent=run.retried)
    if wait is None:
        return _end(run, "failed", "provider_failure", event.error)
    return _request(replace(run, failures=failures, retried=run.retried + 1), wait)


def _accept_calls(run: Run, event: e.Calls) -> Step:
    run = _accepted(run, event.usage)
    wanted = run.tool_calls + len(event.calls)
    if run.limits.tool_calls is not None and wanted > run.limits.tool_calls:
        return _end(run, "limit", "max_tool_calls")
    repeats = run.limits.repeats
    if repeats is not None and event.calls:
        recent = (*run.recent, fingerprint(event.calls))
        if goes_in_circles(recent, repeats):
            return _end(run, "limit", "repeated_calls")
        run = replace(run, recent=kept(recent, repeats))
    return _check(replace(run, tool_calls=wanted), event)


def _check(run: Run, event: e.Calls) -> Step:
    return replace(run, phase="checking_calls"), e.CheckCalls(event)


def _check_again(run: Run, event: e.Decided | e.Resumed) -> Step:
    if event.calls is None:
        raise TransitionError(run.phase, "Resumed without calls")
    return _check(replace(run, reason="", text=""), event.calls)


def _permit(run: Run, event: e.CallsChecked) -> Step:
    if any(checked.verdict == "ask" for checked in event.checked):
        return replace(run, phase="awaiting_approval"), e.AskApproval(event.calls)
    action = e.ExecuteTools(event.calls, event.checked)
    return replace(run, phase="executing_tools"), action


def _wait(run: Run, _event: e.Undecided) -> Step:
    return _end(run, "paused", "awaiting_approval")


def _find_out(run: Run, event: e.OutcomeUnknown) -> Step:
    return _end(run, "paused", "outcome_unknown", event.text)


def _save(run: Run, event: e.ToolsFinished) -> Step:
    run = replace(run, phase="saving_results", invalid=_invalid(run, event.checked))
    return run, e.SaveResults(event.calls, event.results)


def _invalid(run: Run, checked: Iterable[e.CheckedCall]) -> tuple[tuple[str, int], ...]:
    """By tool, in how many rounds in a row no call of it was usable."""
    usable: dict[str, bool] = {}
    for call in checked:
        name = call.call.name
        usable[name] = usable.get(name, False) or call.verdict != "invalid"
    counts = dict(run.invalid)
    for name, was_usable in usable.items():
        counts[name] = 0 if was_usable else counts.get(name, 0) + 1
    return tuple((name, count) for name, count in counts.items() if count)


def _go_on(run: Run, _event: e.ResultsSaved) -> Step:
    allowed = run.limits.invalid_rounds
    for name, count in run.invalid:
        if allowed is not None and count >= allowed:
            text = f"no call of {name!r} was usable in {count} rounds in a row"
            return _end(run, "failed", "invalid_calls", text)
    return _request(run)


def _repeat_request(run: Run, _event: e.Resumed) -> Step:
    return _request(run)


def _run_out(run: Run, _event: e.TimeUp) -> Step:
    return _end(run, "limit", "max_elapsed")


def _cancel(run: Run, _event: e.Cancelled) -> Step:
    return _end(run, "cancelled", "cancelled_by_user")


_CANCEL: Final = Transition(("cancelled",), _cancel)
_CHECK_AGAIN: Final = Transition(("checking_calls",), _check_again)

TABLE: Final[Mapping[Phase, Mapping[type[e.Event], Transition]]] = {
    "ready": {
        e.Started: Transition(("requesting_model", "limit"), _begin),
    },
    "requesting_model": {
        e.Final: Transition(("judging_answer",), _judge),
        e.Calls: Transition(("checking_calls", "limit"), _accept_calls),
        e.Refused: Transition(("refused",), _refuse),
        e.Incomplete: Transition(("failed", "refused"), _fall_short),
        e.Failed: Transition(("requesting_model", "failed", "limit"), _ask_again),
        e.TimeUp: Transition(("limit",), _run_out),
        e.Cancelled: _CANCEL,
        e.Resumed: Transition(("requesting_model", "limit"), _repeat_request),
    },
    "checking_calls": {
        e.CallsChecked: Transition(("executing_tools", "awaiting_approval"), _permit),
        e.Cancelled: _CANCEL,
        e.Resumed: _CHECK_AGAIN,
    },
    "awaiting_approval": {
        e.Decided: _CHECK_AGAIN,
        e.Undecided: Transition(("paused",), _wait),
        e.Cancelled: _CANCEL,
        e.Resumed: _CHECK_AGAIN,
    },
    "executing_tools": {
        e.ToolsFinished: Transition(("saving_results",), _save),
        e.OutcomeUnknown: Transition(("paused",), _find_out),
        e.Resumed: _CHECK_AGAIN,
    },
    "saving_results": {
        e.ResultsSaved: Transition(("requesting_model", "limit", "failed"), _go_on),
    },
    "judging_answer": {
        e.Accepted: Transition(("completed",), _complete),
        e.Rejected: Transition(("failed",), _turn_down),
        e.Cancelled: _CANCEL,
        e.Resumed: Transition(("judging_answer",), _judge_again),
    },
    "paused": {
        e.Resumed: _CHECK_AGAIN,
    },
    "completed": {},
    "refused": {},
    "limit": {},
    "failed": {},
    "cancelled": {},
}
