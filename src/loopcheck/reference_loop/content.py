"""Results with parts: texts and images, in the order in which a tool gave them."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from loopcheck.reference_loop.arguments import JsonObject
from loopcheck.reference_loop.results import shortened

IMAGE_IN_TEXT: Final = "[image]"
# What all services take. Anything else would have them refuse the whole conversation.
MEDIA_TYPES: Final = frozenset({"image/gif", "image/jpeg", "image/png", "image/webp"})


@dataclass(frozen=True, slots=True)
class TextPart:
    """A part that is text."""

    text: str


@dataclass(frozen=True, slots=True)
class ImagePart:
    """A part that is an image."""

    data: bytes = field(repr=False)
    media_type: str = "image/png"

    @property
    def base64(self) -> str:
        return base64.b64encode(self.data).decode("ascii")

    @property
    def url(self) -> str:
        """The image itself as a URL."""
        return f"data:{self.media_type};base64,{self.base64}"


Part: TypeAlias = TextPart | ImagePart


class Content(str):
    """What a tool gives where its result has images.

    It is a text for whoever can show no more: the parts one a line, with `[image]` for each image.
    Raises TypeError for what is no part.
    """

    parts: tuple[Part, ...]

    def __new__(cls, parts: Iterable[Part]) -> Content:
        given = tuple(parts)
        for part in given:
            if not isinstance(part, TextPart | ImagePart):
                raise TypeError(f"a part is a TextPart or an ImagePart, not {type(part).__name__}")
        made = super().__new__(cls, text_of(given))
        made.parts = given
        return made

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.parts,)


def text_of(parts: Iterable[Part]) -> str:
    """The parts as text, one a line."""
    return "\n".join(part.text if isinstance(part, TextPart) else IMAGE_IN_TEXT for part in parts)


def within(parts: Iterable[Part], *, characters: int, image_bytes: int) -> tuple[Part, ...]:
    """The parts as far as they fit. What does not is cut or left out, and a mark says so."""
    return tuple(_fitted(parts, characters, image_bytes))


def _fitted(parts: Iterable[Part], characters: int, image_bytes: int) -> Iterator[Part]:
    for part in parts:
        if isinstance(part, TextPart):
            yield TextPart(shortened(part.text, characters))
            characters = max(0, characters - len(part.text))
        elif part.media_type in MEDIA_TYPES and 0 < len(part.data) <= image_bytes:
            yield part
            image_bytes -= len(part.data)
        else:
            yield TextPart(f"[image left out: {part.media_type}, {len(part.data)} bytes]")


def dump(parts: Iterable[Part]) -> list[JsonObject]:
    """The parts as JSON."""
    return [
        {"type": "text", "text": part.text}
        if isinstance(part, TextPart)
        else {"type": "image", "media_type": part.media_type, "data": part.base64}
        for part in parts
    ]


def load(value: object) -> tuple[Part, ...]:
    """The parts from what `dump` gave. Raises ValueError."""
    if not isinstance(value, list):
        raise ValueError("the parts of a result are a list")
    return tuple(map(_part, value))


def _part(value: object) -> Part:
    match value:
        case {"type": "text", "text": str(text)}:
            return TextPart(text)
        case {"type": "image", "media_type": str(media_type), "data": str(data)}:
            return ImagePart(decoded(data), media_type)
    raise ValueError("this is no part of a result")


def decoded(data: str) -> bytes:
    """The bytes of base64. Raises ValueError."""
    try:
        return base64.b64decode(data, validate=True)
    except binascii.Error as error:
        raise ValueError(f"the data of an image is no base64: {error}") from None
