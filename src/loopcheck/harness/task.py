"""What a loop on trial is given, and what it gives back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from loopcheck.fake_providers.script import DialectName
from loopcheck.fake_providers.wire import JsonObject

State: TypeAlias = Literal["completed", "refused", "limit", "failed", "paused", "cancelled"]
STATES: tuple[State, ...] = ("completed", "refused", "limit", "failed", "paused", "cancelled")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits that the scenario hands to the target; None where it sets none."""

    rounds: int | None = None
    tool_calls: int | None = None
    seconds: float | None = None
    tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool of the simulated world, in whatever form a loop wants it.

    `function` is a real function with signature, annotations and docstring, for frameworks that
    introspect; it is a coroutine function where the target is one. `call` and `acall` take the
    arguments as a mapping, and, where the loop knows them, the wire call id and the operation
    id. All of them return the result as text and raise what the world's tool raises.
    """

    name: str
    description: str
    parameters: JsonObject
    kind: Literal["read", "write"]
    operation: tuple[str, ...] | None = None
    function: Callable[..., object]
    call: Callable[..., str]
    acall: Callable[..., Awaitable[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One task for the loop on trial.

    `base_url` is what the dialect's own SDK expects (with `/v1` for OpenAI's, without for
    Anthropic's). `tools` are callables, `specs` the same tools with name, schema and both kinds
    of call. `folder` is a directory of this run for whatever the loop wants to keep.
    """

    case: str
    dialect: DialectName
    stream: bool
    base_url: str
    api_key: str
    model: str
    prompt: str
    specs: tuple[Tool, ...] = ()
    limits: Limits = field(default_factory=Limits)
    tool_choice: str = "auto"
    folder: Path = field(default_factory=Path)

    @property
    def tools(self) -> list[Callable[..., object]]:
        """The tools as functions, in the scenario's order."""
        return [spec.function for spec in self.specs]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a run ended, as the loop sees it. Each state but `completed` wants a reason."""

    state: State
    reason: str = ""
    text: str = ""
    exception: str | None = None


def final(text: str | None) -> Outcome:
    """A run that ended with the model's final answer."""
    return Outcome(state="completed", reason="final_answer", text=text or "")


def ended(state: State, reason: str, *, text: str | None = None) -> Outcome:
    """A run that ended in any other way that the loop can name."""
    return Outcome(state=state, reason=reason, text=text or "")


Ends: TypeAlias = Mapping[type[BaseException], State]
