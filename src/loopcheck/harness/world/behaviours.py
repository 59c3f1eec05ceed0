"""What each behaviour of a tool does: whether it commits, and how its body ends."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from loopcheck.harness.scenario.duration import milliseconds
from loopcheck.harness.scenario.model import Behaviour, ToolModel
from loopcheck.harness.scenario.tool_model import BehaviourEntry, RateLimitedModel, name_of
from loopcheck.harness.tool_values import RateLimited
from loopcheck.harness.world.results import TEXTS, with_token

How: TypeAlias = Literal["result", "error", "raised", "rejected", "abandoned"]

_STATUS: Final[Mapping[type[BaseException], int]] = {
    TimeoutError: 504,
    PermissionError: 403,
    ConnectionError: 502,
    RateLimited: 429,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """The behaviour of one execution. `permitted` is what the executor says of it, and
    `retry_after` how many seconds a busy system asks to wait."""

    name: Behaviour
    permitted: bool = True
    retry_after: float | None = None


class Elsewhere(str):
    """The result of a function in another process, in words. The value itself, with its token,
    stays there."""


class RaisedElsewhere(Exception):
    """What a function in another process raised, in words; it is raised there."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How a tool body ended.

    `text` is what is handed back, a `Parts` where the result has parts, or the exception in
    words; `exception` is set where the caller gets one. `value` is the result of an agent's own
    function.
    """

    how: How
    text: str
    exception: Exception | None = None
    value: object = None

    @property
    def status(self) -> int:
        """The HTTP status that says the same."""
        if self.exception is None:
            return 200
        return _STATUS.get(type(self.exception), 500)

    @property
    def headers(self) -> tuple[tuple[str, str], ...]:
        """The HTTP headers that go with the status. Retry-After counts whole seconds."""
        wait = getattr(self.exception, "retry_after", None)
        return () if wait is None else (("retry-after", str(math.ceil(wait))),)


_RAISED: Final[Mapping[Behaviour, Callable[[str], Exception]]] = {
    "raises": lambda tool: RuntimeError(f"{tool} failed"),
    "raises-timeout": lambda tool: TimeoutError(f"{tool} timed out"),
    "commit-then-raise": lambda tool: RuntimeError(f"{tool} failed"),
    "commit-then-lose-response": lambda _: ConnectionError(
        "connection closed before the response arrived"
    ),
}
_NO_EFFECT: Final[frozenset[Behaviour]] = frozenset(
    {"error-result", "raises", "raises-timeout", "rejects", "rate-limited", "never-answers"}
)


def choose(model: ToolModel, *, label: str | None, of_tool: int, of_label: int) -> Chosen:
    """The behaviour of the execution that is this tool's `of_tool`-th and that label's
    `of_label`-th; the last of a list repeats."""
    by_label = isinstance(model.behaves, dict)
    behaviours = model.behaviours_of(label)
    entry = behaviours[min(of_label if by_label else of_tool, len(behaviours)) - 1]
    permission = model.permission[min(of_tool, len(model.permission)) - 1]
    return Chosen(
        name=name_of(entry), permitted=permission == "granted", retry_after=_retry_after(entry)
    )


def _retry_after(entry: BehaviourEntry) -> float | None:
    return milliseconds(entry.rate_limited) / 1000 if isinstance(entry, RateLimitedModel) else None


def refusal(model: ToolModel, chosen: Chosen, tool: str) -> Exception | None:
    """What an execution is refused with before anything is done, None where it is let in."""
    if model.kind == "ask":
        return PermissionError(
            f"{tool} is answered by a person: a loop asks for the answer, and never runs the tool"
        )
    if not chosen.permitted or chosen.name == "rejects":
        return PermissionError(f"rejected by the executor: {tool} is not allowed")
    if chosen.name == "rate-limited":
        return RateLimited(f"{tool} is busy: too many requests", retry_after=chosen.retry_after)
    return None


def commits(model: ToolModel, chosen: Chosen) -> bool:
    """Whether this execution has an effect; a read never has one."""
    return model.kind == "write" and chosen.permitted and chosen.name not in _NO_EFFECT


def carries_token(model: ToolModel, chosen: Chosen) -> bool:
    """Whether a result can carry the token of its execution, be it one that is looked up."""
    if model.kind == "ask" or not chosen.permitted:
        return False
    if chosen.name in TEXTS:
        return chosen.name != "empty"
    return tells_results(model) and commits(model, chosen)


def tells_results(model: ToolModel) -> bool:
    """Whether a look-up of the tool's operations can tell what the result would have been."""
    return model.lookup in ("found", "absent")


def all_well(chosen: Chosen, value: object, token: str) -> str:
    """What is handed back where nothing goes wrong on the way."""
    return TEXTS.get(chosen.name, with_token)(value, token)


def runs_own_body(chosen: Chosen) -> bool:
    """Whether the body of an agent's own function is run: not where the world stands in for it."""
    return chosen.name not in _NO_EFFECT


def ending(chosen: Chosen, tool: str, value: object, token: str, *, own: bool = False) -> Ending:
    """How the body ends; `value` is what the tool returns when all is well."""
    name = chosen.name
    if name in _RAISED:
        exception = _RAISED[name](tool)
        return Ending("raised", described(exception), exception)
    if name == "error-result":
        error = {"code": "tool_error", "message": f"{tool} could not do this", "retryable": False}
        text = json.dumps({"error": error}, separators=(",", ":"))
        return Ending("error", text, value=text)
    if own and name == "normal":
        value = value if isinstance(value, Elsewhere) else marked(value, token)
        return Ending("result", in_words(value), value=value)
    text = TEXTS[name](value, token)
    return Ending("result", text, value=text)


def marked(value: object, token: str) -> object:
    """The result of an agent's own function with the token, if it is a text or a dict."""
    if isinstance(value, dict):
        return {**value, "token": token}
    return with_token(value, token) if type(value) is str else value


def in_words(value: object) -> str:
    """The result of an agent's own function as the journal keeps it."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def rejected(exception: Exception) -> Ending:
    """An execution that was refused before anything was done."""
    return Ending("rejected", described(exception), exception)


def abandoned(exception: Exception) -> Ending:
    """An execution that does not end, and that nobody waits for any more."""
    return Ending("abandoned", described(exception), exception)


def described(exception: BaseException) -> str:
    """The exception as the journal keeps it: its class and its text."""
    if isinstance(exception, RaisedElsewhere):
        return str(exception)
    return f"{type(exception).__name__}: {exception}"
