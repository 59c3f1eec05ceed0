"""The types of what a scenario says about streams: delivery, places, quirks and raw events."""

from __future__ import annotations

from typing import Annotated, Final, Literal, TypeAlias

from pydantic import AfterValidator, Field, Tag

from loopcheck.harness.scenario.duration import milliseconds
from loopcheck.harness.scenario.shapes import (
    ByShape,
    Flag,
    PerDialect,
    Positive,
    Strict,
    Text,
    Whole,
)

LONGEST_PAUSE_MS: Final = 1000


def _duration(text: str) -> str:
    milliseconds(text)
    return text


def _short(text: str) -> str:
    if milliseconds(text) > LONGEST_PAUSE_MS:
        raise ValueError(f"a pause is at most {LONGEST_PAUSE_MS} ms, not {text}")
    return text


Duration: TypeAlias = Annotated[str, AfterValidator(_duration)]


class RetryDateModel(Strict):
    """`retry_after` as a date: so much later than the response."""

    date: Duration


RetryAfter: TypeAlias = Annotated[
    Annotated[Duration, Tag("text")] | Annotated[RetryDateModel, Tag("a mapping")], ByShape
]


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


class PauseModel(Strict):
    """Nothing is written for a while at this place."""

    at: AtModel
    for_: Annotated[Duration, AfterValidator(_short)] = Field(alias="for")


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
    pauses: tuple[PauseModel, ...] | None = None


QuirkModel: TypeAlias = Annotated[
    Annotated[Text, Tag("text")] | Annotated[dict[str, object], Tag("a mapping")], ByShape
]
Quirks: TypeAlias = PerDialect[tuple[QuirkModel, ...]]


class Base64Model(Strict):
    """Bytes that are no text."""

    base64: str


RawEvent: TypeAlias = Annotated[
    Annotated[Text, Tag("text")] | Annotated[dict[str, object], Tag("a mapping")], ByShape
]
Raw: TypeAlias = PerDialect[
    Annotated[
        Annotated[str, Tag("text")]
        | Annotated[Annotated[tuple[RawEvent, ...], Field(min_length=1)], Tag("a list")]
        | Annotated[Base64Model, Tag("a mapping")],
        ByShape,
    ]
]
RawBody: TypeAlias = PerDialect[
    Annotated[Annotated[str, Tag("text")] | Annotated[dict[str, object], Tag("a mapping")], ByShape]
]
