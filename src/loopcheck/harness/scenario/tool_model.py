"""The type of a tool in a scenario."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import BeforeValidator, Field, Tag

from loopcheck.harness.scenario.shapes import ByShape, Flag, PerDialect, Strict, Text, as_list

Behaviour: TypeAlias = Literal[
    "normal",
    "error-result",
    "raises",
    "raises-timeout",
    "rejects",
    "commit-then-raise",
    "commit-then-lose-response",
    "empty",
    "large",
    "hostile",
]
Point: TypeAlias = str
Behaviours: TypeAlias = Annotated[tuple[Behaviour, ...], Field(min_length=1)]


class ToolModel(Strict):
    """One tool of the simulated world. `parameters` is always filled in: the schema that the
    loop is given, from `args` or `schema`. A hosted tool is the service's; loops never get it,
    and `type` is what its calls are on the wire."""

    kind: Literal["read", "write", "hosted"]
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
    behaves: Annotated[
        Annotated[Behaviours, Tag("a list")] | Annotated[dict[str, Behaviours], Tag("a mapping")],
        ByShape,
    ] = ("normal",)
    returns_after: Annotated[tuple[Point, ...], BeforeValidator(as_list)] = ()
    body: Literal["async", "blocking"] = "async"
    operation: tuple[str, ...] | None = None
    lookup: Literal["found", "absent", "inconclusive", "none"] = "none"
    deduplicates: Flag = False

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
