"""What became of every call of a run: the part of the store that is asked what was done."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from loopcheck.reference_loop.arguments import JsonObject
from loopcheck.reference_loop.content import Part
from loopcheck.reference_loop.events import CallResult

CallOutcome: TypeAlias = Literal[
    "waiting",
    "begun",
    "done",
    "failed",
    "unknown",
    "not_done",
    "rejected",
    "cancelled",
]
CallDecision: TypeAlias = Literal["allowed", "asked", "approved", "denied", "invalid"]
Place: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRecord:
    """One call: who decided what about it, what it was, what came of it, and when.

    `round` and `position` name the call, since call ids may repeat. `decided_by` is empty where
    the policy decided. `not_done` is a write of which it was found out that it never happened.
    `code` says what went wrong, as the model was told it. A result with images has `parts`.
    Times are seconds since 1970.
    """

    round: int
    position: int
    call_id: str
    tool: str
    tool_version: str = ""
    decision: CallDecision = "allowed"
    decided_by: str = ""
    reason: str = ""
    arguments: JsonObject | None = None
    arguments_digest: str = ""
    operation_id: str | None = None
    outcome: CallOutcome = "waiting"
    text: str = ""
    parts: tuple[Part, ...] = ()
    code: str = ""
    asked_at: float | None = None
    decided_at: float | None = None
    began_at: float | None = None
    ended_at: float | None = None

    @property
    def place(self) -> Place:
        return self.round, self.position

    @property
    def is_over(self) -> bool:
        """Whether the call has its result."""
        return self.outcome not in ("waiting", "begun")

    def result(self) -> CallResult:
        """The result that the model is given."""
        return CallResult(
            call_id=self.call_id,
            text=self.text,
            is_error=self.outcome != "done",
            arguments=self.arguments,
            parts=self.parts,
        )


@dataclass(slots=True)
class Records:
    """The records of one run, in memory; `changed` are those that the store does not have yet."""

    _by_place: dict[Place, CallRecord] = field(default_factory=dict)
    _by_operation: dict[str, Place] = field(default_factory=dict)
    _changed: dict[Place, CallRecord] = field(default_factory=dict)

    def load(self, records: Iterable[CallRecord]) -> None:
        """Takes those that the store has."""
        for record in records:
            self._enter(record)

    def all(self) -> tuple[CallRecord, ...]:
        return tuple(record for _, record in sorted(self._by_place.items()))

    def at(self, place: Place) -> CallRecord | None:
        return self._by_place.get(place)

    def __getitem__(self, place: Place) -> CallRecord:
        return self._by_place[place]

    def operation(self, operation_id: str) -> CallRecord | None:
        """The call that did this operation, or began it; None where it is as good as new."""
        place = self._by_operation.get(operation_id)
        return None if place is None else self._by_place[place]

    def put(self, record: CallRecord) -> CallRecord:
        self._enter(record)
        self._changed[record.place] = record
        return record

    def changed(self) -> tuple[CallRecord, ...]:
        return tuple(self._changed.values())

    def saved(self) -> None:
        """The store has all of them now."""
        self._changed.clear()

    def _enter(self, record: CallRecord) -> None:
        self._by_place[record.place] = record
        operation = record.operation_id
        if operation is None:
            return
        if record.outcome in ("begun", "done", "unknown"):
            self._by_operation[operation] = record.place
        elif self._by_operation.get(operation) == record.place:
            del self._by_operation[operation]
