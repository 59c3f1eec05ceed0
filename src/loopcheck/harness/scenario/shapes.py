"""The shapes that the types of the format are made of.

Unions are told apart by the shape of the value, so that a wrong value is reported once, by what
may stand there, and not once for each member of the union.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag
from pydantic import Strict as StrictType

from loopcheck.fake_providers.script import DIALECTS, DialectName

T = TypeVar("T")


class Strict(BaseModel):
    """A mapping in which only known keys may stand."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


def shape(value: object) -> str:
    """What kind of value this is, in the words of the error messages."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int):
        return "a whole number"
    if isinstance(value, float):
        return "a number"
    if isinstance(value, str):
        return "text"
    if isinstance(value, list | tuple):
        return "a list"
    return "a mapping"


def dialect_shape(value: object) -> str:
    """Whether a value stands for all dialects or is a mapping per dialect."""
    if isinstance(value, Mapping) and value.keys() & set(DIALECTS):
        return "a mapping by dialect"
    return "one value"


ByShape: Final = Discriminator(shape)

Flag: TypeAlias = Annotated[bool, StrictType()]
Whole: TypeAlias = Annotated[int, StrictType(), Field(ge=0)]
Positive: TypeAlias = Annotated[int, StrictType(), Field(ge=1)]
Text: TypeAlias = Annotated[str, Field(min_length=1)]

PerDialect: TypeAlias = Annotated[
    Annotated[T, Tag("one value")] | Annotated[dict[DialectName, T], Tag("a mapping by dialect")],
    Discriminator(dialect_shape),
]


def as_list(value: object) -> object:
    """A list of one where the format lets a single value stand for it."""
    return value if value is None or isinstance(value, list | tuple) else [value]
