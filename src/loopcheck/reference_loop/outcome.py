"""How a run ended."""

from __future__ import annotations

from dataclasses import dataclass, field

from loopcheck.reference_loop.approvals import Question
from loopcheck.reference_loop.machine import State
from loopcheck.reference_loop.records import CallRecord


@dataclass(frozen=True, slots=True)
class LoopOutcome:
    """How a run ended, and what was done until then.

    `text` is the answer, the refusal, or what went wrong. `calls` are the records of all calls,
    also where a limit ended the run; `questions` are what a paused run waits for. `conversation`
    is the adapter's own, in which every call has its result. Two outcomes are equal when the
    first three are.
    """

    state: State
    reason: str
    text: str
    run_id: str = field(default="", compare=False, kw_only=True)
    rounds: int = field(default=0, compare=False, kw_only=True)
    tokens: int = field(default=0, compare=False, kw_only=True)
    cost: float = field(default=0.0, compare=False, kw_only=True)
    elapsed: float = field(default=0.0, compare=False, kw_only=True)
    calls: tuple[CallRecord, ...] = field(default=(), compare=False, kw_only=True)
    questions: tuple[Question, ...] = field(default=(), compare=False, kw_only=True)
    conversation: object = field(default=None, compare=False, kw_only=True, repr=False)
