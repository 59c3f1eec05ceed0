"""What people decide, between the words of a task and those of the reference loop."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from loopcheck.fake_providers.wire import JsonObject
from loopcheck.harness.task import Decision, Pending, Permission, Tool
from loopcheck.reference_loop import Approval, Question, ToolFailure
from loopcheck.reference_loop.policy import Permission as LoopPermission

_PERMISSIONS: Final[dict[Permission, LoopPermission]] = {
    "allow": "always",
    "ask": "ask",
    "disabled": "disabled",
}


def permissions(specs: Iterable[Tool]) -> dict[str, LoopPermission]:
    """The policy that the task tells of; what a person answers, a person is asked."""
    return {
        spec.name: "ask" if spec.kind == "ask" else _PERMISSIONS[spec.approval] for spec in specs
    }


def pending(questions: Iterable[Question]) -> tuple[Pending, ...]:
    """The calls that wait for a person."""
    return tuple(
        Pending(call_id=q.call_id, tool=q.tool, arguments=dict(q.arguments or {}))
        for q in questions
        if q.about == "approval"
    )


def approvals(decisions: Iterable[Decision], questions: Sequence[Question]) -> tuple[Approval, ...]:
    """The decisions that answer an open question, bound to just what was asked. One that says
    something else, or is about a call that does not wait, answers none."""
    found: dict[str, Approval] = {}
    for decision in decisions:
        question = next((q for q in questions if _answers(decision, q)), None)
        if question is not None and question.digest not in found:
            found[question.digest] = Approval(
                digest=question.digest, approved=decision.decide != "deny", reason=decision.reason
            )
    return tuple(found.values())


def _answers(decision: Decision, question: Question) -> bool:
    return (
        question.about == "approval"
        and question.call_id == decision.call_id
        and question.tool == decision.tool
        and question.arguments == decision.arguments
    )


class Answers:
    """What people answered to tools that only a person can carry out, kept in the run's folder
    so that it survives the process."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "answers.json"

    def keep(self, decisions: Iterable[Decision]) -> None:
        """Keeps the answers among these decisions."""
        given = {d.call_id: d.value for d in decisions if d.decide == "answer"}
        if given:
            self._file.write_text(json.dumps(self._kept() | given), encoding="utf-8")

    async def tell(
        self, arguments: JsonObject, *, call_id: str, operation_id: str | None = None
    ) -> str:
        """The answer to this call, as the result of its tool."""
        kept = self._kept()
        if call_id not in kept:
            raise ToolFailure("not_answered", "Nobody has answered this.")
        value = kept[call_id]
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

    def _kept(self) -> JsonObject:
        if not self._file.exists():
            return {}
        kept: JsonObject = json.loads(self._file.read_text(encoding="utf-8"))
        return kept
