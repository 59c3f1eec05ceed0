"""The scenario format as types: what a valid YAML file means. See docs/format.md.

Only the keys that are built stand here. `NOT_BUILT` names the others of the format, so that a
file which uses one is told so and not that the key is unknown.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from loopcheck.fake_providers.script import DialectName, ErrorName, Mode, Stop
from loopcheck.harness.results import Level
from loopcheck.harness.task import State

NOT_BUILT: Final[dict[str, frozenset[str]]] = {
    "scenario": frozenset({"earlier", "state", "lanes", "quirks", "meanwhile", "variants"}),
    "tool": frozenset({"returns_parts", "commits_after", "approval", "permission"}),
    "turn": frozenset({"think", "raw", "quirks", "user", "run"}),
    "attempt": frozenset({"until", "quirks", "think", "raw"}),
    "limits": frozenset({"cost", "context", "repeats"}),
    "call": frozenset({"form"}),
    "delivery": frozenset({"pauses"}),
    "expect": frozenset({"history"}),
}


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


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
PerDialect: TypeAlias = dict[DialectName, object]


class ToolModel(Strict):
    """One tool of the simulated world. `parameters` is always filled in: the schema that the
    loop is given, from `args` or `schema`."""

    kind: Literal["read", "write"]
    description: str = ""
    args: dict[str, object] = {}
    schema_: dict[str, object] | None = Field(default=None, alias="schema")
    returns: object = Field(default_factory=lambda: {"ok": True})
    returns_each: tuple[object, ...] | None = None
    behaves: tuple[Behaviour, ...] | dict[str, tuple[Behaviour, ...]] = ("normal",)
    returns_after: tuple[Point, ...] = ()
    body: Literal["async", "blocking"] = "async"
    operation: tuple[str, ...] | None = None
    lookup: Literal["found", "absent", "inconclusive", "none"] = "none"
    deduplicates: bool = False

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
    id: str | dict[DialectName, str] | None = None


class UsageModel(Strict):
    input: int
    output: int
    reasoning: int = 0


class DeliveryModel(Strict):
    """Unset keys (None) take the value of the level above, then the default."""

    fragments: (
        Literal["whole", "char", "seeded", "escapes"] | int | dict[str, tuple[str, ...]] | None
    ) = None
    interleave: (
        bool
        | Literal["seeded"]
        | tuple[str, ...]
        | dict[DialectName, bool | Literal["seeded"] | tuple[str, ...]]
        | None
    ) = None
    segments: Literal["frame", "all", "byte", "seeded", "utf8", "crlf"] | int | None = None
    newline: Literal["lf", "crlf"] | None = None
    comments: int | None = None
    pings: int | None = None
    data_lines: int | None = None
    space: bool | None = None
    keep_alive: bool | None = None
    bom: bool | None = None


class PlaceModel(Strict):
    """`at` of a fault: one of the forms of docs/format.md, section 4."""

    frame: int | Literal["finish", "terminal"] | None = None
    in_: str | None = Field(default=None, alias="in")
    after: str | None = None
    before: str | None = None
    bytes: int | None = None


AtModel: TypeAlias = Literal["start", "end"] | PlaceModel


class AttemptModel(Strict):
    """What one request for a turn gets: a fault, other content than the turn's, or both."""

    fault: (
        Literal[
            "http",
            "close",
            "headers-only",
            "empty",
            "error-body",
            "eof",
            "half-chunk",
            "reset",
            "stall",
            "error-event",
        ]
        | None
    ) = None
    at: AtModel | dict[DialectName, AtModel] | None = None
    error: ErrorName | None = None
    status: int | None = None
    retry_after: str | None = None
    headers: dict[str, str] = {}
    body: str | None = None
    then: Literal["eof", "reset", "stall"] = "eof"
    times: int = 1
    say: str | None = None
    calls: tuple[CallModel, ...] | None = None
    refuse: str | None = None
    stop: Stop | dict[DialectName, Stop] | None = None
    usage: UsageModel | None = None
    delivery: DeliveryModel | None = None


class TurnModel(Strict):
    """One model response. `say`, then `calls`, or a refusal; `items` gives another order."""

    say: str | None = None
    calls: tuple[CallModel, ...] = ()
    refuse: str | None = None
    items: tuple[dict[str, object], ...] | None = None
    stop: Stop | dict[DialectName, Stop] | None = None
    usage: UsageModel | None = None
    optional: bool = False
    must_reach: bool = False
    attempts: tuple[Literal["normal"] | AttemptModel, ...] = ("normal",)
    delivery: DeliveryModel | None = None


class LimitsModel(Strict):
    rounds: int | None = None
    tool_calls: int | None = None
    seconds: float | None = None
    tokens: int | None = None


class RulesModel(Strict):
    on: tuple[str, ...] = ()
    off: tuple[str, ...] = ()


class AtMost(Strict):
    at_most: int


class AtLeast(Strict):
    at_least: int


Exact: TypeAlias = int | AtMost | AtLeast | tuple[dict[str, object], ...]


class AnyOfQuantity(Strict):
    any_of: tuple[Exact, ...]


Quantity: TypeAlias = Exact | AnyOfQuantity


class ValueResult(Strict):
    value: object


ResultWord: TypeAlias = Literal["own", "error", "none"]


class AnyOfResult(Strict):
    any_of: tuple[ResultWord | ValueResult, ...]


class AnyOfOutcome(Strict):
    any_of: tuple[str, ...]


class RequestsModel(Strict):
    """Quantities by `total`, `side`, `otherwise` and `turn<n>`, with `tools` and `retries`."""

    model_config = ConfigDict(extra="allow", frozen=True)
    total: Quantity | None = None
    side: Quantity | None = None
    otherwise: Quantity | None = None
    tools: Literal["all"] | None = None
    retries: Literal["same"] | None = None


class ExpectLevel(Strict):
    """What a scenario expects at one level. An outcome is `state` or `state/reason`."""

    executions: dict[str, Quantity] | None = None
    effects: dict[str, Quantity] | None = None
    results: dict[str, ResultWord | AnyOfResult | ValueResult] = {}
    outcome: str | AnyOfOutcome | None = None
    order: tuple[str, ...] = ()
    requests: RequestsModel | None = None


class Expect(Strict):
    must: ExpectLevel = ExpectLevel()
    should: ExpectLevel = ExpectLevel()
    may: ExpectLevel = ExpectLevel()

    def level(self, level: Level) -> ExpectLevel:
        return {"must": self.must, "should": self.should, "may": self.may}[level]


class Scenario(Strict):
    """One scenario. `id` is its path below the scenarios folder, without the ending."""

    id: str = ""
    format: Literal[1]
    title: str
    rule: str
    grounds: tuple[Annotated[str, Field(pattern=r"^B\d{3}$")], ...] = ()
    needs: tuple[str, ...] = ()
    dialects: Literal["all"] | tuple[DialectName, ...] = "all"
    modes: tuple[Mode, ...] = ("whole", "stream")
    prompt: str
    tool_choice: str = "auto"
    limits: LimitsModel = LimitsModel()
    tools: dict[str, ToolModel] = {}
    turns: tuple[TurnModel, ...]
    otherwise: tuple[TurnModel, ...] = (TurnModel(say="Finished."),)
    delivery: DeliveryModel = DeliveryModel()
    rules: RulesModel = RulesModel()
    expect: Expect = Expect()

    @property
    def labels(self) -> tuple[str, ...]:
        """Every call label of the file, in order of appearance, each once."""
        seen: dict[str, None] = {}
        for turn in (*self.turns, *self.otherwise):
            for call in turn.calls:
                seen[call.label] = None
            for attempt in turn.attempts:
                if attempt != "normal":
                    for call in attempt.calls or ():
                        seen[call.label] = None
        return tuple(seen)


STATE_WORDS: Final[tuple[State, ...]] = (
    "completed",
    "refused",
    "limit",
    "failed",
    "paused",
    "cancelled",
)
