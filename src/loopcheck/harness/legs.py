"""The parts that a case is run in: the first, and whatever follows from what happens meanwhile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from loopcheck.harness.task import Resume

FIRST_RUN: Final = "r1"

How: TypeAlias = Literal["run", "follow_up", "resume"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Leg:
    """One part, from a start of the target until it gives its outcome or its process dies.

    `run` names the run: each `run` entry of a scenario has its own, and it stays the same when
    the run is resumed or the user says more. `prompt` is what the user says, at the start of the
    run or now; `follows` says that it is said in a conversation that goes on, also where that
    leg is resumed. `copies` go on at once; `cancelled` says that the user wants no more before it
    begins. `clock_seconds` is how far the scenario's clock is ahead.
    """

    number: int = 1
    how: How = "run"
    run: str = FIRST_RUN
    prompt: str
    follows: bool = False
    resume: Resume | None = None
    copies: int = 1
    cancelled: bool = False
    clock_seconds: float = 0.0
