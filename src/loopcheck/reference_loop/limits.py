"""How far a run may go, and how often a broken response is asked for again."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds of one run.

    `rounds` counts accepted model responses, the final answer included. The calls of the last
    response are still executed, so that no history is left with an unanswered call. `tool_calls`
    counts calls; a batch that would exceed it is not begun. `seconds` bounds the waiting for the
    model; a tool that runs is not interrupted.
    """

    rounds: int = 50
    tool_calls: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        if self.rounds < 1:
            raise ValueError(f"rounds must be at least 1, not {self.rounds}")
        if self.tool_calls is not None and self.tool_calls < 0:
            raise ValueError(f"tool_calls must not be negative, not {self.tool_calls}")
        if self.seconds is not None and self.seconds < 0:
            raise ValueError(f"seconds must not be negative, not {self.seconds}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Retries:
    """How a response that broke off is asked for again: how often, and after how long.

    Such a retry repeats the request and nothing else: what tools did stays done.
    """

    count: int = 2
    first_seconds: float = 0.5

    def delay(self, failures: int) -> float:
        """Seconds to wait after this many failures in a row."""
        return self.first_seconds * float(2 ** (failures - 1))
