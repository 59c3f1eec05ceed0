"""What can happen to a run, and what the machine asks for next.

A `Reply` is one complete event of a provider: everything a response said, after its protocol
said that it is over. There is no event for half a response.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from loopcheck.reference_loop.arguments import JsonObject
from loopcheck.reference_loop.content import Part

Shortfall: TypeAlias = Literal["length", "context", "content_filter", "empty"]
Verdict: TypeAlias = Literal["allowed", "ask", "denied", "invalid"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What one response cost in tokens. `input_tokens` is the whole context that was read, cached
    or not; `reasoning_tokens` are part of the output."""

    input_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0

    @property
    def total(self) -> int:
        return self.input_tokens + self.output_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedCall:
    """A call the model proposes. `arguments_text` is exactly what it wrote, never repaired."""

    call_id: str
    name: str
    arguments_text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CallResult:
    """The answer to one call. `arguments` is None where the model's text was unusable.

    A result with images has `parts`, which are the whole of it; `text` has a mark for each image.
    """

    call_id: str
    text: str
    is_error: bool = False
    arguments: JsonObject | None = None
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True)
class Final:
    """The model gave its final answer. `turn` is the provider's own record of the response, where
    the adapter keeps one so that the conversation can go on."""

    text: str
    usage: Usage | None = field(default=None, kw_only=True)
    turn: object = field(default=None, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Calls:
    """The model wants these calls answered before it goes on.

    `turn` is the provider's own record of the response, which only the adapter understands and
    which goes back unchanged. Without calls, the service wants just that record back.
    """

    calls: tuple[ProposedCall, ...]
    turn: object
    usage: Usage | None = field(default=None, kw_only=True)


@dataclass(frozen=True, slots=True)
class Refused:
    """The model refused; what it proposed beside that is void."""

    text: str
    usage: Usage | None = field(default=None, kw_only=True)


@dataclass(frozen=True, slots=True)
class Incomplete:
    """The response ended, marked as cut or filtered, or without saying anything."""

    why: Shortfall
    usage: Usage | None = field(default=None, kw_only=True)


@dataclass(frozen=True, slots=True)
class Failed:
    """There is no complete response. `retryable`: the same request may go better.

    `status` is the HTTP status, where there was one; `retry_after` is how many seconds the
    service asked to wait. `invited`: the service itself says that the request may be repeated,
    whatever its status.
    """

    error: str
    retryable: bool
    status: int | None = field(default=None, kw_only=True)
    invited: bool = field(default=False, kw_only=True)
    retry_after: float | None = field(default=None, kw_only=True)
    usage: Usage | None = field(default=None, kw_only=True)


Reply: TypeAlias = Final | Calls | Refused | Incomplete | Failed


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedCall:
    """A call and what may become of it. `code` and `message` say why, where it may not run."""

    call: ProposedCall
    verdict: Verdict
    arguments: JsonObject | None = None
    code: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True)
class Started:
    """The task was given."""


@dataclass(frozen=True, slots=True)
class CallsChecked:
    """It was decided, for every call of the response, whether it may run."""

    calls: Calls
    checked: tuple[CheckedCall, ...]


@dataclass(frozen=True, slots=True)
class Decided:
    """People have decided about calls; they have to be checked again."""

    calls: Calls


@dataclass(frozen=True, slots=True)
class Undecided:
    """Nobody is here to decide now."""


@dataclass(frozen=True, slots=True)
class ToolsFinished:
    """Every call of the batch has its result, in the order of the calls."""

    calls: Calls
    results: tuple[CallResult, ...]
    checked: tuple[CheckedCall, ...] = ()


@dataclass(frozen=True, slots=True)
class OutcomeUnknown:
    """Nobody can say whether a write took effect; a person has to find out."""

    text: str


@dataclass(frozen=True, slots=True)
class ResultsSaved:
    """The response and the results of its calls are part of the conversation."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """The final answer will do."""


@dataclass(frozen=True, slots=True)
class Rejected:
    """The final answer will not do."""

    why: str


@dataclass(frozen=True, slots=True)
class TimeUp:
    """The run's time is over."""


@dataclass(frozen=True, slots=True)
class Cancelled:
    """The user wants no more."""


@dataclass(frozen=True, slots=True)
class Resumed:
    """The run goes on where it stopped. `calls` is the response whose calls are still open."""

    calls: Calls | None


Event: TypeAlias = (
    Reply
    | Started
    | CallsChecked
    | Decided
    | Undecided
    | ToolsFinished
    | OutcomeUnknown
    | ResultsSaved
    | Accepted
    | Rejected
    | TimeUp
    | Cancelled
    | Resumed
)


@dataclass(frozen=True, slots=True)
class RequestModel:
    """Ask for the next response, after a pause."""

    after_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class CheckCalls:
    """Find out what may become of each call of this response."""

    calls: Calls


@dataclass(frozen=True, slots=True)
class AskApproval:
    """Have people decide about the calls that need it. Nothing runs before."""

    calls: Calls


@dataclass(frozen=True, slots=True)
class ExecuteTools:
    """Answer every call of this response."""

    calls: Calls
    checked: tuple[CheckedCall, ...]


@dataclass(frozen=True, slots=True)
class SaveResults:
    """Add the response and its results to the conversation."""

    calls: Calls
    results: tuple[CallResult, ...]


@dataclass(frozen=True, slots=True)
class JudgeAnswer:
    """Find out whether this final answer will do."""

    text: str


Action: TypeAlias = (
    RequestModel | CheckCalls | AskApproval | ExecuteTools | SaveResults | JudgeAnswer
)
