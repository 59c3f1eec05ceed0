"""What can happen to a run, and what the machine asks for next.

A `Reply` is one complete event of a provider: everything a response said, after its protocol
said that it is over. There is no event for half a response.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from loopcheck.reference_loop.arguments import JsonObject

Shortfall: TypeAlias = Literal["length", "context", "content_filter", "empty"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedCall:
    """A call the model proposes. `arguments_text` is exactly what it wrote, never repaired."""

    call_id: str
    name: str
    arguments_text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CallResult:
    """The answer to one call. `arguments` is None where the model's text was unusable."""

    call_id: str
    text: str
    is_error: bool = False
    arguments: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class Final:
    """The model gave its final answer."""

    text: str


@dataclass(frozen=True, slots=True)
class Calls:
    """The model wants these calls answered before it goes on.

    `turn` is the provider's own record of the response, which only the adapter understands and
    which goes back unchanged. Without calls, the service wants just that record back.
    """

    calls: tuple[ProposedCall, ...]
    turn: object


@dataclass(frozen=True, slots=True)
class Refused:
    """The model refused; what it proposed beside that is void."""

    text: str


@dataclass(frozen=True, slots=True)
class Incomplete:
    """The response ended, marked as cut or filtered, or without saying anything."""

    why: Shortfall


@dataclass(frozen=True, slots=True)
class Failed:
    """There is no complete response. `retryable`: the same request may go better."""

    error: str
    retryable: bool


Reply: TypeAlias = Final | Calls | Refused | Incomplete | Failed


@dataclass(frozen=True, slots=True)
class Started:
    """The task was given."""


@dataclass(frozen=True, slots=True)
class ToolsFinished:
    """Every call of the batch has its result, in the order of the calls."""

    calls: Calls
    results: tuple[CallResult, ...]


@dataclass(frozen=True, slots=True)
class ResultsSaved:
    """The response and the results of its calls are part of the conversation."""


@dataclass(frozen=True, slots=True)
class TimeUp:
    """The run's time is over."""


@dataclass(frozen=True, slots=True)
class Cancelled:
    """The user wants no more."""


Event: TypeAlias = Reply | Started | ToolsFinished | ResultsSaved | TimeUp | Cancelled


@dataclass(frozen=True, slots=True)
class RequestModel:
    """Ask for the next response, after a pause."""

    after_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class ExecuteTools:
    """Answer every call of this response."""

    calls: Calls


@dataclass(frozen=True, slots=True)
class SaveResults:
    """Add the response and its results to the conversation."""

    calls: Calls
    results: tuple[CallResult, ...]


Action: TypeAlias = RequestModel | ExecuteTools | SaveResults
