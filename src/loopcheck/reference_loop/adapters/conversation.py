"""The conversation of the three ready-made adapters: a history that only grows."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from loopcheck.reference_loop.adapters.interface import TaskInfo
from loopcheck.reference_loop.arguments import JsonObject
from loopcheck.reference_loop.events import CallResult

_TOOL_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True)
class Conversation:
    """The task, and the provider's own messages or items so far."""

    task: TaskInfo
    history: tuple[JsonObject, ...]
    tool_choice: str

    def extended(self, items: Iterable[JsonObject]) -> Conversation:
        """This conversation with more history. A forced tool choice has been obeyed by now."""
        choice = "none" if self.tool_choice == "none" else "auto"
        return replace(self, history=(*self.history, *items), tool_choice=choice)

    def local_id(self, ordinal: int) -> str:
        """An id for a call that came without one: the same whenever this turn is read again."""
        return f"call_local_{len(self.history)}_{ordinal}"


def begin(task: TaskInfo, first: JsonObject) -> Conversation:
    """A conversation of one message."""
    return Conversation(task, (first,), task.tool_choice)


def replayed_name(name: str) -> str:
    """The tool name as history may hold it: services refuse a history with an ill-formed one."""
    return name if _TOOL_NAME.fullmatch(name) else "invalid_tool_name"


def replayed_arguments(text: str, result: CallResult) -> str:
    """The argument text as history holds it: what the model wrote, if it was usable.

    Text that was no JSON object is replaced by an empty one, since services may refuse it; the
    error result that follows tells the model what it wrote.
    """
    return text if text and result.arguments is not None else "{}"
