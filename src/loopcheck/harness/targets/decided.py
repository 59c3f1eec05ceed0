"""What people decided about the calls of a framework, matched to the calls that wait."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

from loopcheck.harness.task import Decision, Pending, Task, Tool


def offered(task: Task) -> list[Tool]:
    """The tools that an agent may be given: all but those that are never to run."""
    return [spec for spec in task.specs if spec.approval != "disabled"]


def is_gated(spec: Tool) -> bool:
    """Whether calls of this tool wait for a person."""
    return spec.kind == "ask" or spec.approval == "ask"


def rulings(pending: Sequence[Pending], decisions: Iterable[Decision]) -> list[Decision | None]:
    """For each call that waits the decision about it: one that names its id, tool and arguments,
    else one that names its id and tool, and changes its arguments. Each decision counts once."""
    left = list(decisions)
    found: list[Decision | None] = [_taken(left, call, exactly=True) for call in pending]
    return [
        one if one is not None else _taken(left, call, exactly=False)
        for call, one in zip(pending, found, strict=True)
    ]


def _taken(left: list[Decision], call: Pending, *, exactly: bool) -> Decision | None:
    for decision in left:
        same = (decision.call_id, decision.tool) == (call.call_id, call.tool)
        if same and (decision.arguments == call.arguments or not exactly):
            left.remove(decision)
            return decision
    return None


class Decided:
    """Decisions for a framework that wants those about all waiting calls at once: kept in the
    run's folder until the last of them is made."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "decisions.json"

    def about(
        self, pending: Sequence[Pending], decisions: Iterable[Decision]
    ) -> list[Decision] | None:
        """The decision about each of the calls, in their order; None while one is missing."""
        found = rulings(pending, [*self._kept(), *decisions])
        made = [decision for decision in found if decision is not None]
        if len(made) < len(pending):
            self._file.write_text(json.dumps([asdict(one) for one in made]), encoding="utf-8")
            return None
        self._file.unlink(missing_ok=True)
        return made

    def _kept(self) -> list[Decision]:
        if not self._file.exists():
            return []
        return [Decision(**one) for one in json.loads(self._file.read_text(encoding="utf-8"))]


def answer_text(value: object) -> str:
    """What a person answered, as the result of the tool."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
