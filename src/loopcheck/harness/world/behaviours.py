"""What each behaviour of a tool does: whether it commits, and how its body ends."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from loopcheck.harness.scenario.model import Behaviour, ToolModel
from loopcheck.harness.world.results import TEXTS


@dataclass(frozen=True, slots=True)
class Ending:
    """How a tool body ends. `exception` is set where `how` is raised."""

    how: Literal["result", "error", "raised"]
    text: str
    exception: Exception | None = None


_RAISED: Final[Mapping[Behaviour, Callable[[str], Exception]]] = {
    "raises": lambda tool: RuntimeError(f"{tool} failed"),
    "raises-timeout": lambda tool: TimeoutError(f"{tool} timed out"),
    "rejects": lambda tool: PermissionError(f"rejected by the executor: {tool} is not allowed"),
    "commit-then-raise": lambda tool: RuntimeError(f"{tool} failed"),
    "commit-then-lose-response": lambda _: ConnectionError(
        "connection closed before the response arrived"
    ),
}
_NO_EFFECT: Final[frozenset[Behaviour]] = frozenset(
    {"error-result", "raises", "raises-timeout", "rejects"}
)


def choose(model: ToolModel, *, label: str | None, of_tool: int, of_label: int) -> Behaviour:
    """The behaviour of the execution that is this tool's `of_tool`-th and that label's
    `of_label`-th; the last of a list repeats."""
    if not isinstance(model.behaves, dict):
        return _nth(model.behaves, of_tool)
    return _nth(model.behaves.get(label, ()) if label is not None else (), of_label)


def _nth(behaviours: tuple[Behaviour, ...], n: int) -> Behaviour:
    return behaviours[min(n, len(behaviours)) - 1] if behaviours else "normal"


def commits(model: ToolModel, behaviour: Behaviour) -> bool:
    """Whether this behaviour has an effect; a read never has one."""
    return model.kind == "write" and behaviour not in _NO_EFFECT


def carries_token(behaviour: Behaviour) -> bool:
    """Whether the result can carry the token of its execution."""
    return behaviour in TEXTS and behaviour != "empty"


def ending(behaviour: Behaviour, tool: str, value: object, token: str) -> Ending:
    """How the body ends; `value` is what the tool returns when all is well."""
    if behaviour in _RAISED:
        exception = _RAISED[behaviour](tool)
        return Ending("raised", described(exception), exception)
    if behaviour == "error-result":
        error = {"code": "tool_error", "message": f"{tool} could not do this", "retryable": False}
        return Ending("error", json.dumps({"error": error}, separators=(",", ":")))
    return Ending("result", TEXTS[behaviour](value, token))


def described(exception: BaseException) -> str:
    """The exception as the journal keeps it: its class and its text."""
    return f"{type(exception).__name__}: {exception}"
