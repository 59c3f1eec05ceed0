"""The types of `expect`: what a scenario demands at each level."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator, ConfigDict, Discriminator, Field, Tag

from loopcheck.harness.results import Level
from loopcheck.harness.scenario.shapes import ByShape, Strict, Whole, shape
from loopcheck.harness.task import STATES


class AtMost(Strict):
    at_most: Whole


class AtLeast(Strict):
    at_least: Whole


def _keyed(value: object, *, keys: tuple[str, ...], otherwise: str) -> str:
    """The key by which a mapping or model of a union is known, else the value's shape."""
    if shape(value) != "a mapping":
        return shape(value)
    has = value.__contains__ if isinstance(value, Mapping) else lambda key: hasattr(value, key)
    return next((key for key in keys if has(key)), otherwise)


def _exact(value: object) -> str:
    return _keyed(value, keys=("at_least",), otherwise="at_most")


def _quantity(value: object) -> str:
    return _keyed(value, keys=("any_of", "at_least"), otherwise="at_most")


def _result(value: object) -> str:
    return _keyed(value, keys=("any_of",), otherwise="value")


ArgumentSets: TypeAlias = tuple[dict[str, object], ...]
Exact: TypeAlias = Annotated[
    Annotated[Whole, Tag("a whole number")]
    | Annotated[ArgumentSets, Tag("a list")]
    | Annotated[AtMost, Tag("at_most")]
    | Annotated[AtLeast, Tag("at_least")],
    Discriminator(_exact),
]


class AnyOfQuantity(Strict):
    any_of: tuple[Exact, ...]


Quantity: TypeAlias = Annotated[
    Annotated[Whole, Tag("a whole number")]
    | Annotated[ArgumentSets, Tag("a list")]
    | Annotated[AtMost, Tag("at_most")]
    | Annotated[AtLeast, Tag("at_least")]
    | Annotated[AnyOfQuantity, Tag("any_of")],
    Discriminator(_quantity),
]


class ValueResult(Strict):
    value: object


ResultWord: TypeAlias = Literal["own", "error", "flagged", "none"]
OneResult: TypeAlias = Annotated[
    Annotated[ResultWord, Tag("text")] | Annotated[ValueResult, Tag("value")],
    Discriminator(_result),
]


class AnyOfResult(Strict):
    any_of: tuple[OneResult, ...] = Field(min_length=1)


Result: TypeAlias = Annotated[
    Annotated[ResultWord, Tag("text")]
    | Annotated[ValueResult, Tag("value")]
    | Annotated[AnyOfResult, Tag("any_of")],
    Discriminator(_result),
]


def _known_state(text: str) -> str:
    if text.partition("/")[0] not in STATES:
        raise ValueError(f"{text!r} is no outcome; outcomes: {', '.join(STATES)}")
    return text


OutcomeText: TypeAlias = Annotated[str, AfterValidator(_known_state)]


class AnyOfOutcome(Strict):
    any_of: tuple[OutcomeText, ...]


OneOutcome: TypeAlias = Annotated[
    Annotated[OutcomeText, Tag("text")] | Annotated[AnyOfOutcome, Tag("a mapping")], ByShape
]


class RequestsModel(Strict):
    """Quantities by `total`, `side`, `otherwise` and `turn<n>`, with `tools` and `retries`."""

    model_config = ConfigDict(extra="allow", frozen=True)
    # This is how pydantic is told the type of further keys.
    __pydantic_extra__: dict[str, Quantity]  # pyright: ignore[reportIncompatibleVariableOverride]

    total: Quantity | None = None
    side: Quantity | None = None
    otherwise: Quantity | None = None
    tools: Literal["all"] | None = None
    retries: Literal["same"] | None = None


class HistoryModel(Strict):
    """What a conversation holds. `calls`, `results` and `images` are labels, exactly these in any
    order; the others are entries such as `user` or `result pay/1`. `sent` is exactly what the
    request itself brought."""

    calls: tuple[str, ...] | None = None
    results: tuple[str, ...] | None = None
    images: tuple[str, ...] | None = None
    order: tuple[str, ...] = ()
    last: str | None = None
    lacks: tuple[str, ...] = ()
    sent: tuple[str, ...] | None = None


class AnyOfHistory(Strict):
    any_of: Annotated[tuple[HistoryModel, ...], Field(min_length=1)]


def _history(value: object) -> str:
    return _keyed(value, keys=("any_of",), otherwise="a mapping")


History: TypeAlias = Annotated[
    Annotated[HistoryModel, Tag("a mapping")] | Annotated[AnyOfHistory, Tag("any_of")],
    Discriminator(_history),
]


class ExpectLevel(Strict):
    """What a scenario expects at one level. An outcome is `state` or `state/reason`; a list has
    one for the prompt and one for each further message or run."""

    executions: dict[str, Quantity] | None = None
    effects: dict[str, Quantity] | None = None
    results: dict[str, Result] = Field(default_factory=dict)
    outcome: Annotated[
        Annotated[OutcomeText, Tag("text")]
        | Annotated[AnyOfOutcome, Tag("a mapping")]
        | Annotated[tuple[OneOutcome, ...], Tag("a list")]
        | Annotated[None, Tag("nothing")],
        ByShape,
    ] = None
    order: tuple[str, ...] = ()
    requests: RequestsModel | None = None
    history: dict[str, History] = Field(default_factory=dict)

    @property
    def outcomes(self) -> tuple[tuple[str, ...], ...]:
        """The outcomes that will do, for each part of the case; none where nothing is expected."""
        if self.outcome is None:
            return ()
        parts = self.outcome if isinstance(self.outcome, tuple) else (self.outcome,)
        return tuple(p.any_of if isinstance(p, AnyOfOutcome) else (p,) for p in parts)


class Expect(Strict):
    must: ExpectLevel = ExpectLevel()
    should: ExpectLevel = ExpectLevel()
    may: ExpectLevel = ExpectLevel()

    def level(self, level: Level) -> ExpectLevel:
        return {"must": self.must, "should": self.should, "may": self.may}[level]
