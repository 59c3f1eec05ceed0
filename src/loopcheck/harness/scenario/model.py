"""The scenario format as types: what a valid YAML file means. See docs/format.md."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal, TypeAlias

from pydantic import BeforeValidator, Discriminator, Field, Tag

from loopcheck.fake_providers.script import (
    DialectName,
    ErrorForm,
    ErrorName,
    FaultKind,
    Mode,
    Stop,
)
from loopcheck.harness.scenario.control_model import (
    OF_A_PROCESS,
    EarlierModel,
    MeanwhileModel,
    MessageModel,
    entry_shape,
)
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
    Text,
    Whole,
    as_list,
)
from loopcheck.harness.scenario.stream_model import (
    AtModel,
    Base64Model,
    DeliveryModel,
    PauseModel,
    PlaceModel,
    QuirkModel,
    Quirks,
    Raw,
    RawBody,
    RetryAfter,
    RetryDateModel,
)
from loopcheck.harness.scenario.tool_model import Behaviour, ToolModel
from loopcheck.harness.task import Lane, Message, StateAt

__all__ = [
    "AnyOfOutcome",
    "AnyOfQuantity",
    "AnyOfResult",
    "AtLeast",
    "AtModel",
    "AtMost",
    "AttemptModel",
    "Base64Model",
    "Behaviour",
    "CallModel",
    "DeliveryModel",
    "EarlierModel",
    "Exact",
    "Expect",
    "ExpectLevel",
    "HostedResultModel",
    "IfModel",
    "ItemModel",
    "LaneIfModel",
    "LaneModel",
    "LimitsModel",
    "MeanwhileModel",
    "MessageModel",
    "PauseModel",
    "PlaceModel",
    "Quantity",
    "QuirkModel",
    "RequestsModel",
    "ResultWord",
    "RetryDateModel",
    "RulesModel",
    "Scenario",
    "ToolModel",
    "TurnModel",
    "UsageModel",
    "ValueResult",
]


class CallModel(Strict):
    """A scripted call, of the client's or of a hosted tool. Exactly one of `args` and `raw_args`;
    `id` may differ per dialect. `meant` is what cut or wrong `raw_args` were to say, for readers
    of a finding."""

    label: str = Field(alias="as")
    tool: str
    args: dict[str, object] | None = None
    raw_args: str | None = None
    id: PerDialect[str] | None = None
    form: Literal["function", "custom"] = "function"
    meant: dict[str, object] | None = None


class UsageModel(Strict):
    input: Whole
    output: Whole
    reasoning: Whole = 0


class HostedResultModel(Strict):
    """What the service found for its own call with this label."""

    of: str
    value: object


class ItemModel(Strict):
    """One piece of a turn's content: exactly one of its keys."""

    think: str | None = None
    redacted: Literal[True] | None = None
    say: str | None = None
    refuse: str | None = None
    call: CallModel | None = None
    hosted_result: HostedResultModel | None = None


class AttemptModel(Strict):
    """What one request for a turn gets: a fault, other content than the turn's, or both."""

    fault: FaultKind | None = None
    at: PerDialect[AtModel] | None = None
    error: ErrorName | None = None
    status: Annotated[int, Field(strict=True, ge=400, le=599)] | None = None
    retry_after: RetryAfter | None = None
    headers: dict[str, str] = Field(default_factory=dict)
    body: str | None = None
    then: Literal["eof", "reset", "stall"] | None = None
    terminal: Flag | None = None
    form: PerDialect[ErrorForm] | None = None
    times: Positive = 1
    until: str | None = None
    think: str | None = None
    say: str | None = None
    calls: tuple[CallModel, ...] | None = None
    refuse: str | None = None
    items: tuple[ItemModel, ...] | None = None
    stop: PerDialect[Stop] | None = None
    usage: UsageModel | None = None
    delivery: DeliveryModel | None = None
    quirks: Quirks | None = None
    raw: Raw | None = None
    raw_body: RawBody | None = None

    @property
    def replaces_nothing(self) -> bool:
        """Whether the content is the turn's own."""
        own = (self.think, self.say, self.calls, self.refuse, self.items)
        return all(value is None for value in own)


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


class IfModel(Strict):
    """What a request has to ask for, so that a turn beyond the script answers it."""

    tool_choice: str


class TurnModel(Strict):
    """One model response. `think`, `say`, `calls`, or a refusal; `items` gives another order."""

    if_: IfModel | None = Field(default=None, alias="if")
    think: str | None = None
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
    quirks: Quirks | None = None
    raw: Raw | None = None
    raw_body: RawBody | None = None

    @property
    def every_call(self) -> tuple[CallModel, ...]:
        """The calls of the turn, then those of attempts that say something else."""
        attempts = [attempt for attempt in self.attempts if attempt != "normal"]
        owners: tuple[TurnModel | AttemptModel, ...] = (self, *attempts)
        return tuple(call for owner in owners for call in _calls_in(owner))


def _calls_in(owner: TurnModel | AttemptModel) -> Iterator[CallModel]:
    yield from owner.calls or ()
    yield from (item.call for item in owner.items or () if item.call is not None)


def _words(rule: MeanwhileModel) -> Iterator[str]:
    return (action for action in rule.do if isinstance(action, str))


class LaneIfModel(Strict):
    """Which requests a lane claims: those for this model (a glob) that offer just these tools of
    the file."""

    model: Text | None = None
    tools: tuple[str, ...] | None = None


class LaneModel(Strict):
    """A conversation beside the others of a run, at the same time."""

    if_: LaneIfModel = Field(alias="if")
    turns: tuple[TurnModel, ...]


class LimitsModel(Strict):
    rounds: Positive | None = None
    tool_calls: Positive | None = None
    seconds: Annotated[float, Field(strict=True, gt=0)] | None = None
    tokens: Positive | None = None
    cost: Annotated[float, Field(strict=True, gt=0)] | None = None
    context: Positive | None = None
    repeats: Positive | None = None

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
    earlier: tuple[EarlierModel, ...] = ()
    state: StateAt = "client"
    tool_choice: str = "auto"
    limits: LimitsModel = LimitsModel()
    tools: dict[str, ToolModel] = Field(default_factory=dict)
    entries: tuple[
        Annotated[
            Annotated[TurnModel, Tag("a turn")] | Annotated[MessageModel, Tag("a message")],
            Discriminator(entry_shape),
        ],
        ...,
    ] = Field(alias="turns")
    otherwise: Annotated[tuple[TurnModel, ...], BeforeValidator(as_list), Field(min_length=1)] = (
        TurnModel(say="Finished."),
    )
    lanes: dict[str, LaneModel] = Field(default_factory=dict)
    quirks: Quirks | None = None
    delivery: DeliveryModel = DeliveryModel()
    meanwhile: tuple[MeanwhileModel, ...] = ()
    rules: RulesModel = RulesModel()
    expect: Expect = Expect()
    variants: dict[str, dict[str, object]] = Field(default_factory=dict)

    @property
    def turns(self) -> tuple[TurnModel, ...]:
        """The model's responses, numbered from 1, without what people say between them; those of
        the lanes last."""
        scripted = (entry for entry in self.entries if isinstance(entry, TurnModel))
        return (*scripted, *(turn for lane in self.lanes.values() for turn in lane.turns))

    @property
    def messages(self) -> tuple[MessageModel, ...]:
        """What begins each part of the case behind the first."""
        return tuple(entry for entry in self.entries if isinstance(entry, MessageModel))

    @property
    def conversations(self) -> tuple[Lane, ...]:
        """The lanes, as the target is told of them."""
        return tuple(
            Lane(name=name, model=lane.if_.model, tools=lane.if_.tools)
            for name, lane in self.lanes.items()
        )

    @property
    def said_earlier(self) -> tuple[Message, ...]:
        """What was said in the conversation before the task."""
        return tuple(
            Message(role="user" if entry.say is None else "assistant", text=text)
            for entry in self.earlier
            if (text := entry.user or entry.say)
        )

    @property
    def kills(self) -> bool:
        """Whether the case ends a process, which only a target with its own can bear."""
        return any(OF_A_PROCESS.intersection(_words(rule)) for rule in self.meanwhile)

    @property
    def client_tools(self) -> dict[str, ToolModel]:
        """The tools that a loop is given: all but the hosted ones."""
        return {name: tool for name, tool in self.tools.items() if tool.kind != "hosted"}

    def meant(self, label: str) -> dict[str, object]:
        """What the call with this label was to say, where its text is cut or wrong."""
        return next((c.meant for c in self._calls if c.label == label and c.meant), {})

    @property
    def labels(self) -> tuple[str, ...]:
        """Every label of a call that is the client's, in order of appearance, each once."""
        return tuple(dict.fromkeys(c.label for c in self._calls if not self.is_hosted(c.tool)))

    @property
    def _calls(self) -> Iterator[CallModel]:
        turns = (*self.turns, *self.otherwise)
        return (call for turn in turns for call in turn.every_call)

    def is_hosted(self, tool: str) -> bool:
        """Whether calls of this tool are the service's own business."""
        return tool in self.tools and self.tools[tool].kind == "hosted"
