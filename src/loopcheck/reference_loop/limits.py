"""How far a run may go, how tools run, and how often something is tried again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from loopcheck.reference_loop.events import Failed, Usage

Price: TypeAlias = Callable[[Usage], float]

# Timeouts, conflicts, too many requests, and whatever the service, or a proxy before it, says is
# its own trouble.
PASSING_STATUSES: Final = frozenset(
    {408, 409, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds of one run, resumed or not; None sets none.

    `rounds` counts accepted model responses, the final answer included. `tool_calls` counts
    calls; a batch that would exceed it is not begun. `seconds` bounds the waiting for the model;
    a tool that runs is not interrupted, and waiting for a person does not count. `tokens` and
    `cost` are those of all responses, `context_tokens` those of the last one: once they are
    spent, no further request is made. `repeats` is how often in a row the same calls, or the
    same two batches in turns, are carried out. `invalid_rounds` is in how many rounds in a row
    calls of one tool may be unusable.

    Where a run stops after a response with calls, these calls are still executed and answered,
    so that no history is left with an open call.
    """

    rounds: int = 50
    tool_calls: int | None = None
    seconds: float | None = None
    tokens: int | None = None
    cost: float | None = None
    context_tokens: int | None = None
    repeats: int | None = None
    invalid_rounds: int | None = 10

    def __post_init__(self) -> None:
        for name in ("rounds", "repeats", "invalid_rounds"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"{name} must be at least 1, not {value}")
        for name in ("tool_calls", "seconds", "tokens", "cost", "context_tokens"):
            value = getattr(self, name)
            if value is not None and value < 0:
                raise ValueError(f"{name} must not be negative, not {value}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Retries:
    """What is tried again: how often, and after how long.

    `count` is how often in a row, `budget` how often in a whole run. A wait doubles each time
    from `first_seconds` up to `longest_seconds`; what the other side asks for goes first, and
    where it asks for longer than that, nothing is tried again. For the model, it repeats the
    request and nothing else: what tools did stays done. For tools, it is for reads alone.
    """

    count: int = 2
    first_seconds: float = 0.5
    longest_seconds: float = 60.0
    budget: int | None = None
    statuses: frozenset[int] = PASSING_STATUSES

    def delay(self, failures: int, asked: float | None = None) -> float | None:
        """Seconds to wait after this many failures in a row; None if it is of no use."""
        if asked is not None:
            return asked if asked <= self.longest_seconds else None
        return min(self.first_seconds * float(2 ** (failures - 1)), self.longest_seconds)

    def wait(self, failed: Failed, *, failures: int, spent: int) -> float | None:
        """Seconds to wait before the request is made again; None if it is not."""
        if not self._worth_it(failed) or failures > self.count:
            return None
        if self.budget is not None and spent >= self.budget:
            return None
        return self.delay(failures, failed.retry_after)

    def _worth_it(self, failed: Failed) -> bool:
        passes = failed.invited or failed.status is None or failed.status in self.statuses
        return failed.retryable and passes


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolLimits:
    """Bounds of tools, where a tool does not set its own.

    `together` is how many reads run at a time. A result longer than `result_characters` is cut,
    and says so; so does one whose images have more than `result_image_bytes`, which are left out.
    """

    together: int = 8
    seconds: float | None = None
    result_characters: int = 1_000_000
    result_image_bytes: int = 3_750_000
    retries: Retries = Retries(count=0)

    def __post_init__(self) -> None:
        if self.together < 1:
            raise ValueError(f"together must be at least 1, not {self.together}")
        for name in ("result_characters", "result_image_bytes"):
            if (value := getattr(self, name)) < 0:
                raise ValueError(f"{name} must not be negative, not {value}")
