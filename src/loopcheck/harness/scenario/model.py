"""The scenario format as types: what a valid YAML file means. See docs/format.md.

Only the keys that are built stand here. `NOT_BUILT` names the others of the format, so that a
file which uses one is told so and not that the key is unknown.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field, Tag

from loopcheck.fake_providers.script import DialectName, ErrorName, FaultKind, Mode, Stop
from loopcheck.harness.scenario.duration import milliseconds
from loopcheck.harness.scenario.expectations import (
    AnyOfOutcome,
    AnyOfQuantity,
    AnyOfResult,
    AtLeast,
    AtMost,
    Exact,
    Expect,
    ExpectLevel,
    Quantity,
    RequestsModel,
    ResultWord,
    ValueResult,
)
from loopcheck.harness.scenario.shapes import (
    ByShape,
    Flag,
    PerDialect,
    Positive,
    Strict,
    Whole,
    as_list,
)

__all__ = [
    "NOT_BUILT",
    "NOT_BUILT_WORDS",
    "AnyOfOutcome",
    "AnyOfQuantity",
    "AnyOfResult",
    "AtLeast",
    "AtModel",
    "AtMost",
    "AttemptModel",
    "Behaviour",
    "CallModel",
    "DeliveryModel",
    "Exact",
    "Expect",
    "ExpectLevel",
    "ItemModel",
    "LimitsModel",
    "PlaceModel",
    "Quantity",
    "RequestsModel",
    "ResultWord",
    "RulesModel",
    "Scenario",
    "ToolModel",
    "TurnModel",
    "UsageModel",
    "ValueResult",
]

NOT_BUILT: Final[dict[str, frozenset[str]]] = {
    "Scenario": frozenset({"earlier", "state", "lanes", "quirks", "meanwhile", "variants"}),
    "ToolModel": frozenset({"type", "returns_parts", "commits_after", "approval", "permission"}),
    "TurnModel": frozenset({"think", "raw", "raw_body", "quirks", "user", "run", "if"}),
    "ItemModel": frozenset({"think", "redacted", "hosted_result"}),
    "AttemptModel": frozenset(
        {"until", "quirks", "think", "raw", "raw_body", "items", "form", "terminal"}
    ),
    "LimitsModel": frozenset({"cost", "context", "repeats"}),
    "CallModel": frozenset({"form"}),
    "DeliveryModel": frozenset({"pauses"}),
    "ExpectLevel": frozenset({"history"}),
}
NOT_BUILT_WORDS: Final = frozenset(
    {"ask", "hosted", "never-answers", "rate-limited", "commit-then-hang", "commit-late"}
)

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
Text: TypeAlias = Annotated[str, Field(min_length=1)]


def _duration(text: str) -> str:
    milliseconds(text)
    return text


Behaviours: TypeAlias = Annotated[tuple[Behaviour, ...], Field(min_length=1)]


class ToolModel(Strict):
    """One tool of the simulated world. `parameters` is always filled in: the schema that the
    loop is given, from `args` or `schema`."""

    kind: Literal["read", "write"]
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


class CallModel(Strict):
    """A scripted call. Exactly one of `args` and `raw_args`; `id` may differ per dialect."""

    label: str = Field(alias="as")
    tool: str
    args: dict[str, object] | None = None
    raw_args: str | None = None
    id: PerDialect[str] | None = None


class UsageModel(Strict):
    input: Whole
    output: Whole
    reasoning: Whole = 0


Interleave: TypeAlias = Annotated[
    Annotated[Flag, Tag("true or false")]
    | Annotated[Literal["seeded"], Tag("text")]
    | Annotated[tuple[str, ...], Tag("a list")],
    ByShape,
]


class DeliveryModel(Strict):
    """Unset keys (None) take the value of the level above, then the default."""

    fragments: Annotated[
        Annotated[Literal["whole", "char", "seeded", "escapes"], Tag("text")]
        | Annotated[Positive, Tag("a whole number")]
        | Annotated[dict[str, tuple[str, ...]], Tag("a mapping")]
        | Annotated[None, Tag("nothing")],
        ByShape,
    ] = None
    interleave: PerDialect[Interleave] | None = None
    segments: Annotated[
        Annotated[Literal["frame", "all", "byte", "seeded", "utf8", "crlf"], Tag("text")]
        | Annotated[Positive, Tag("a whole number")]
        | Annotated[None, Tag("nothing")],
        ByShape,
    ] = None
    newline: Literal["lf", "crlf"] | None = None
    comments: Whole | None = None
    pings: Whole | None = None
    data_lines: Positive | None = None
    space: Flag | None = None
    keep_alive: Flag | None = None
    bom: Flag | None = None


class PlaceModel(Strict):
    """`at` of a fault: one of the forms of docs/format.md, section 4."""

    frame: Annotated[
        Annotated[Positive, Tag("a whole number")]
        | Annotated[Literal["finish", "terminal"], Tag("text")]
        | Annotated[None, Tag("nothing")],
        ByShape,
    ] = None
    in_: str | None = Field(default=None, alias="in")
    after: Text | None = None
    before: Text | None = None
    bytes: Whole | None = None


AtModel: TypeAlias = Annotated[
    Annotated[Literal["start", "end"], Tag("text")] | Annotated[PlaceModel, Tag("a mapping")],
    ByShape,
]


class AttemptModel(Strict):
    """What one request for a turn gets: a fault, other content than the turn's, or both."""

    fault: FaultKind | None = None
    at: PerDialect[AtModel] | None = None
    error: ErrorName | None = None
    status: Annotated[int, Field(strict=True, ge=400, le=599)] | None = None
    retry_after: Annotated[str, AfterValidator(_duration)] | None = None
    headers: dict[str, str] = Field(default_factory=dict)
    body: str | None = None
    then: Literal["eof", "reset", "stall"] | None = None
    times: Positive = 1
    say: str | None = None
    calls: tuple[CallModel, ...] | None = None
    refuse: str | None = None
    stop: PerDialect[Stop] | None = None
    usage: UsageModel | None = None
    delivery: DeliveryModel | None = None

    @property
    def replaces_nothing(self) -> bool:
        """Whether the content is the turn's own."""
        return self.say is None and self.calls is None and self.refuse is None


class ItemModel(Strict):
    """One piece of a turn's content: exactly one of its keys."""

    say: str | None = None
    refuse: str | None = None
    call: CallModel | None = None


Attempts: TypeAlias = Annotated[
    tuple[
        Annotated[
            Annotated[Literal["normal"], Tag("text")] | Annotated[AttemptModel, Tag("a mapping")],
            ByShape,
        ],
        ...,
    ],
    Field(min_length=1),
]


class TurnModel(Strict):
    """One model response. `say`, then `calls`, or a refusal; `items` gives another order."""

    say: str | None = None
    calls: tuple[CallModel, ...] = ()
    refuse: str | None = None
    items: tuple[ItemModel, ...] | None = None
    stop: PerDialect[Stop] | None = None
    usage: UsageModel | None = None
    optional: Flag = False
    must_reach: Flag = False
    attempts: Attempts = ("normal",)
    delivery: DeliveryModel | None = None

    @property
    def every_call(self) -> tuple[CallModel, ...]:
        """The calls of the turn, then those of attempts that say something else."""
        items = self.items or ()
        own = (*self.calls, *(item.call for item in items if item.call is not None))
        others = (attempt.calls or () for attempt in self.attempts if attempt != "normal")
        return (*own, *(call for calls in others for call in calls))


class LimitsModel(Strict):
    rounds: Positive | None = None
    tool_calls: Positive | None = None
    seconds: Annotated[float, Field(strict=True, gt=0)] | None = None
    tokens: Positive | None = None

    @property
    def given(self) -> bool:
        """Whether the scenario sets any limit."""
        return self != LimitsModel()


class RulesModel(Strict):
    on: tuple[str, ...] = ()
    off: tuple[str, ...] = ()


class Scenario(Strict):
    """One scenario. `id` is its path below the scenarios folder, without the ending."""

    id: str = ""
    format: Literal[1]
    title: Text
    rule: Text
    grounds: tuple[Annotated[str, Field(pattern=r"^B\d{3}$")], ...] = ()
    needs: tuple[str, ...] = ()
    dialects: Annotated[
        Annotated[Literal["all"], Tag("text")]
        | Annotated[
            Annotated[tuple[DialectName, ...], Field(min_length=1)],
            Tag("a list"),
        ],
        ByShape,
    ] = "all"
    modes: Annotated[tuple[Mode, ...], Field(min_length=1)] = ("whole", "stream")
    prompt: Text
    tool_choice: str = "auto"
    limits: LimitsModel = LimitsModel()
    tools: dict[str, ToolModel] = Field(default_factory=dict)
    turns: tuple[TurnModel, ...]
    otherwise: Annotated[tuple[TurnModel, ...], BeforeValidator(as_list), Field(min_length=1)] = (
        TurnModel(say="Finished."),
    )
    delivery: DeliveryModel = DeliveryModel()
    rules: RulesModel = RulesModel()
    expect: Expect = Expect()

    @property
    def labels(self) -> tuple[str, ...]:
        """Every call label of the file, in order of appearance, each once."""
        turns = (*self.turns, *self.otherwise)
        return tuple(dict.fromkeys(call.label for turn in turns for call in turn.every_call))
