"""Questions to people, and their answers, bound to exactly what was asked.

A question's digest covers the run, the place of the call, the tool with its version, the exact
arguments and the time of asking. An answer names the digest; if anything differs, it answers
another question and is refused.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from loopcheck.reference_loop.arguments import JsonObject, digest
from loopcheck.reference_loop.records import CallRecord, Records


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a person has to decide before the run goes on.

    `approval`: may this call run? `outcome`: did this write take effect?
    """

    about: Literal["approval", "outcome"]
    digest: str
    call_id: str
    tool: str
    arguments: JsonObject | None
    reason: str
    operation_id: str | None
    asked_at: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """A person's answer to whether a call may run."""

    digest: str
    approved: bool
    by: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """A person's answer to what became of a write. `text` is the result that was missed."""

    digest: str
    answer: Literal["found", "absent"]
    text: str = ""
    by: str = ""


PersonsAnswer: TypeAlias = Approval | Settlement


@dataclass(frozen=True, slots=True)
class Answered:
    """A question that was answered, and after how long, as far as is known."""

    question: Question
    answer: PersonsAnswer
    seconds: float | None


AskPeople: TypeAlias = Callable[[Sequence[Question]], Awaitable[Sequence[PersonsAnswer]]]


class AnswerError(Exception):
    """An answer fits no open question: it was changed, is stale, or was answered before."""


@dataclass(frozen=True, slots=True)
class Questions:
    """The open questions of one run."""

    run_id: str
    records: Records
    seconds: float | None = None

    def open(self, now: float) -> tuple[Question, ...]:
        return tuple(question for question, _ in self._open(now).values())

    def answer(self, answers: Sequence[PersonsAnswer], now: float) -> tuple[Answered, ...]:
        """Enters the answers. Raises AnswerError if one fits no question; then none is entered."""
        open_questions = self._open(now)
        entries: dict[str, CallRecord] = {}
        answered: list[Answered] = []
        for answer in answers:
            question, record = open_questions.get(answer.digest, (None, None))
            about = "approval" if isinstance(answer, Approval) else "outcome"
            if record is None or question is None or question.about != about:
                raise AnswerError(f"no open {about} question has the digest {answer.digest!r}")
            if answer.digest in entries:
                raise AnswerError(f"the question {answer.digest!r} was answered twice")
            entries[answer.digest] = _answered(record, answer, now)
            asked_at = question.asked_at
            answered.append(
                Answered(question, answer, None if asked_at is None else now - asked_at)
            )
        for record in entries.values():
            self.records.put(record)
        return tuple(answered)

    def is_current(self, record: CallRecord, now: float) -> bool:
        """Whether what was asked about this call, and maybe decided, still holds."""
        if record.asked_at is None:
            return False
        return self.seconds is None or now - record.asked_at <= self.seconds

    def _open(self, now: float) -> dict[str, tuple[Question, CallRecord]]:
        found: dict[str, tuple[Question, CallRecord]] = {}
        for record in self.records.all():
            question = self._question(record, now)
            if question is not None:
                found[question.digest] = question, record
        return found

    def _question(self, record: CallRecord, now: float) -> Question | None:
        about: Literal["approval", "outcome"]
        if record.outcome in ("begun", "unknown"):
            about = "outcome"
        elif record.decision == "asked" and self.is_current(record, now):
            about = "approval"
        else:
            return None
        covered = [
            self.run_id,
            about,
            record.place,
            record.call_id,
            [record.tool, record.tool_version],
            record.arguments,
            record.asked_at,
            record.began_at,
        ]
        return Question(
            about=about,
            digest=digest(covered),
            call_id=record.call_id,
            tool=record.tool,
            arguments=record.arguments,
            reason=record.reason,
            operation_id=record.operation_id,
            asked_at=record.asked_at,
        )


def _answered(record: CallRecord, answer: PersonsAnswer, now: float) -> CallRecord:
    if isinstance(answer, Approval):
        return replace(
            record,
            decision="approved" if answer.approved else "denied",
            decided_by=answer.by,
            decided_at=now,
            reason=answer.reason,
        )
    if answer.answer == "found":
        return replace(record, outcome="done", text=answer.text, ended_at=now)
    # A call that has its result keeps it; one that was interrupted may begin again.
    return replace(record, outcome="not_done" if record.is_over else "waiting", ended_at=now)
