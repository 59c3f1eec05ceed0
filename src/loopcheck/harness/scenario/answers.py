"""What a first scenario is made of, before it is one. Kept light: the command line reads it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

Twist: TypeAlias = Literal["nothing", "cut", "error", "raises", "twice"]
ToolKind: TypeAlias = Literal["read", "write"]

# A sample of each type that an argument may have.
SAMPLES: Final[Mapping[str, object]] = {
    "string": "A-1",
    "integer": 12,
    "number": 1.5,
    "boolean": True,
    "array": ["A-1"],
    "object": {"name": "A-1"},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """One tool, one call, and what goes wrong. `args` are names with their JSON types."""

    title: str
    rule: str
    tool: str
    kind: ToolKind
    args: Mapping[str, str] = field(default_factory=dict)
    twist: Twist = "nothing"
    prompt: str | None = None

    @property
    def sample(self) -> dict[str, object]:
        """Arguments of the right types."""
        return {name: SAMPLES[type_] for name, type_ in self.args.items()}

    def counts(self, number: object) -> dict[str, object]:
        """The executions that are expected, and for a write its effects."""
        kinds = ("executions", "effects") if self.kind == "write" else ("executions",)
        return {kind: {self.tool: number} for kind in kinds}
