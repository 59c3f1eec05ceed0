"""Business operations: the same action, however often and under whatever id it is asked for."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from loopcheck.reference_loop.arguments import JsonObject
from loopcheck.reference_loop.tools import LoopTool


def operation_id(tool: LoopTool, arguments: Mapping[str, object]) -> str | None:
    """The id of the action that this call asks for, the same under every call id.

    None for a tool without operation key.
    """
    if tool.operation is None:
        return None
    key = [tool.name, [[name, arguments.get(name)] for name in sorted(tool.operation)]]
    text = json.dumps(key, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Done:
    """The operation was carried out, with these arguments and this result."""

    arguments: JsonObject
    text: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """The operation was begun with these arguments, and nobody knows whether it took effect."""

    arguments: JsonObject


@dataclass(slots=True)
class OperationBook:
    """What this run knows about the operations it began."""

    _entries: dict[str, Done | Unknown] = field(default_factory=dict)

    def entry(self, operation: str) -> Done | Unknown | None:
        return self._entries.get(operation)

    def enter(self, operation: str, entry: Done | Unknown) -> None:
        self._entries[operation] = entry

    def strike(self, operation: str) -> None:
        """Nothing was done under this operation; it may be begun again."""
        self._entries.pop(operation, None)
