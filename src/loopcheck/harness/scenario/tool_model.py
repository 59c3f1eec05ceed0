"""The type of a tool in a scenario."""

from __future__ import annotations

from typing import Annotated, Final, Literal, TypeAlias

from pydantic import BeforeValidator, Field, Tag

from loopcheck.harness.scenario.shapes import ByShape, Flag, PerDialect, Strict, Text, as_list
from loopcheck.harness.scenario.stream_model import Duration

Behaviour: TypeAlias = Literal[
    "normal",
    "error-result",
    "raises",
    "raises-timeout",
    "rejects",
    "rate-limited",
    "never-answers",
    "commit-then-raise",
    "commit-then-lose-response",
    "commit-then-hang",
    "commit-late",
    "empty",
    "large",
    "hostile",
]
HANGING: Final[frozenset[Behaviour]] = frozenset(
    {"never-answers", "commit-then-hang", "commit-late"}
)
Point: TypeAlias = str
Points: TypeAlias = Annotated[tuple[Point, ...], BeforeValidator(as_list)]


class RateLimitedModel(Strict):
    """The behaviour `rate-limited`, with the time after which to ask again."""

    rate_limited: Duration = Field(alias="rate-limited")


BehaviourEntry: TypeAlias = Annotated[
    Annotated[Behaviour, Tag("text")] | Annotated[RateLimitedModel, Tag("a mapping")], ByShape
]
Behaviours: TypeAlias = Annotated[tuple[BehaviourEntry, ...], Field(min_length=1)]


class PartModel(Strict):
    """A part of a result: exactly one of its keys."""

    text: str | None = None
    image: Literal["png"] | None = None


def name_of(behaviour: BehaviourEntry) -> Behaviour:
    """The name of a behaviour, whether or not a value stands beside it."""
    return "rate-limited" if isinstance(behaviour, RateLimitedModel) else behaviour


class ToolModel(Strict):
    """One tool of the simulated world. `parameters` is always filled in: the schema that the
    loop is given, from `args` or `schema`. A hosted tool is the service's; loops never get it,
    and `type` is what its calls are on the wire. A person answers a tool of kind `ask`."""

    kind: Literal["read", "write", "ask", "hosted"]
    type: PerDialect[Text] | None = None
    description: str = ""
    args: dict[
        str,
        Annotated[
            Annotated[str, Tag("text")] | Annotated[dict[str, object], Tag("a mapping")], ByShape
        ],
    ] = Field(default_factory=dict)
    schema_: dict[str, object] | None = Field(default=None, alias="schema")
    returns: object = Field(default_factory=lambda: {"ok": True})
    returns_each: Annotated[tuple[object, ...], Field(min_length=1)] | None = None
    returns_parts: Annotated[tuple[PartModel, ...], Field(min_length=1)] | None = None
    behaves: Annotated[
        Annotated[Behaviours, Tag("a list")] | Annotated[dict[str, Behaviours], Tag("a mapping")],
        ByShape,
    ] = ("normal",)
    returns_after: Points = ()
    commits_after: Points = ()
    body: Literal["async", "blocking"] = "async"
    approval: Literal["allow", "ask", "disabled"] = "allow"
    permission: Annotated[
        tuple[Literal["granted", "denied"], ...], BeforeValidator(as_list), Field(min_length=1)
    ] = ("granted",)
    operation: tuple[str, ...] | None = None
    lookup: Literal["found", "absent", "inconclusive", "none"] = "none"
    deduplicates: Flag = False

    def behaviours_of(self, label: str | None) -> tuple[BehaviourEntry, ...]:
        """The behaviours that the executions of this call may have."""
        if not isinstance(self.behaves, dict):
            return self.behaves
        return self.behaves.get(label, ("normal",)) if label is not None else ("normal",)

    @property
    def parameters(self) -> dict[str, object]:
        """The JSON Schema that the loop is given."""
        if self.schema_ is not None:
            return self.schema_
        properties = {
            name: ({"type": spec} if isinstance(spec, str) else spec)
            for name, spec in self.args.items()
        }
        return {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }
