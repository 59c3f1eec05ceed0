"""What an observer is told about a run.

Events carry ids, names, digests, decisions, counts and durations. What people, models and tools
said stands in the fields named in CONTENT, and there only for an observer that asks for it. Keys
and what a service said about an error stand nowhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from loopcheck.reference_loop.checkpoints import CheckpointName
from loopcheck.reference_loop.events import Usage
from loopcheck.reference_loop.machine import Phase, State
from loopcheck.reference_loop.records import CallDecision, CallOutcome

ResponseKind: TypeAlias = Literal[
    "final", "calls", "refused", "incomplete", "failed", "cancelled", "error"
]
PersonsDecision: TypeAlias = Literal["approved", "denied", "found", "absent"]
ToolKind: TypeAlias = Literal["read", "write"]

# Everything else may be shown to whoever runs the loop.
CONTENT: Final = frozenset({"prompt", "text", "arguments", "message", "result"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelName:
    """Who answers: the provider by the name that OpenTelemetry has for it, and the model."""

    provider: str = ""
    model: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallName:
    """Which call it is. `kind` is None where there is no such tool."""

    round: int
    position: int
    call_id: str
    tool: str
    kind: ToolKind | None
    arguments_digest: str
    operation_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted:
    """A run begins. `tools` is how many it has."""

    run_id: str
    model: ModelName
    tools: int
    prompt: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResumed:
    """A stored run goes on from this phase, after so many rounds."""

    run_id: str
    model: ModelName
    tools: int
    phase: Phase
    rounds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnded:
    """Nobody works on the run any more. `state` and `reason` are the outcome's.

    `state` is None where an exception ended it, and `error` is the exception's type then.
    `seconds` is how long it was worked on this time; the counts are those of the whole run.
    `text` is the answer or the refusal, never what went wrong.
    """

    run_id: str
    state: State | None
    reason: str
    error: str
    rounds: int
    calls: int
    tokens: int
    cost: float
    seconds: float
    text: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestStarted:
    """The model is asked. `attempt` counts from 1 within the round."""

    run_id: str
    model: ModelName
    round: int
    attempt: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestEnded:
    """The model answered, or did not.

    `response` says what came of it: the kind of reply, `cancelled` if it was given up, `error` if
    the adapter raised. `finish` is the reason that the protocol gave. `error` is the status or the
    type of an exception. `first_seconds` is how long the first event of a stream took. What the
    adapter does not know is None, or empty.
    """

    run_id: str
    model: ModelName
    round: int
    attempt: int
    response: ResponseKind
    error: str
    calls: int
    usage: Usage | None
    seconds: float
    first_seconds: float | None
    response_id: str
    finish: str
    status: int | None
    bytes_sent: int | None
    bytes_received: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryScheduled:
    """Something failed and is tried again, after so many seconds.

    It is the request to the model, or else the read that this call asked for. `error` is the
    status, the type of an exception, or the code of the tool's failure.
    """

    run_id: str
    round: int
    error: str
    failures: int
    after_seconds: float
    call: CallName | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallDecided:
    """It was decided what may become of a call.

    `code` says why it may not run; `by` is who approved or denied it. `arguments` is what the
    model wrote.
    """

    run_id: str
    call: CallName
    decision: CallDecision
    code: str
    by: str
    arguments: str | None = None
    message: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStarted:
    """A tool begins with a call."""

    run_id: str
    call: CallName
    arguments: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolEnded:
    """A tool has ended, in so many seconds, all tries and look-ups included.

    `code` says what went wrong. Where an exception went through, or the user gave it up, the
    outcome is still `begun` and `code` is the exception's type.
    """

    run_id: str
    call: CallName
    outcome: CallOutcome
    code: str
    seconds: float
    result: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalAsked:
    """A person has to decide: whether a call may run, or what the `outcome` of a write was."""

    run_id: str
    call_id: str
    tool: str
    about: Literal["approval", "outcome"]
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalDecided:
    """A person has decided; `seconds` is how long that took, as far as is known."""

    run_id: str
    call_id: str
    tool: str
    about: Literal["approval", "outcome"]
    digest: str
    decision: PersonsDecision
    by: str
    seconds: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointSaved:
    """The run was saved in one commit, in so many seconds."""

    run_id: str
    name: CheckpointName
    seconds: float


RunEvent: TypeAlias = (
    RunStarted
    | RunResumed
    | RunEnded
    | RequestStarted
    | RequestEnded
    | RetryScheduled
    | CallDecided
    | ToolStarted
    | ToolEnded
    | ApprovalAsked
    | ApprovalDecided
    | CheckpointSaved
)
Observe: TypeAlias = Callable[[RunEvent], None]


@dataclass(frozen=True, slots=True)
class Observer:
    """Is told what happens; with `content`, also what was said.

    It is called where things happen: between ToolStarted and ToolEnded, in the task in which the
    tool runs. It must not wait for anything. What it raises is logged and changes nothing.
    """

    observe: Observe
    content: bool = field(default=False, kw_only=True)
