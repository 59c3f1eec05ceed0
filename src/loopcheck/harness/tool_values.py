"""What tools give to a loop besides plain text: results with images, and a refusal for now."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, TypeAlias

from loopcheck.fake_providers.wire import JsonObject

IMAGE_IN_TEXT: Final = "[image]"


class RateLimited(Exception):
    """The system behind a tool is busy: it refused, and nothing was done.

    `retry_after` says after how many seconds it may be asked again, None where it did not say.
    """

    def __init__(self, message: str = "", *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True)
class TextPart:
    """A part of a result that is text."""

    text: str


@dataclass(frozen=True, slots=True)
class ImagePart:
    """A part of a result that is an image."""

    data: bytes
    media_type: str = "image/png"


Part: TypeAlias = TextPart | ImagePart


class Parts(str):
    """A tool's result with parts.

    `parts` are for loops whose model takes images. For the others it is a text: that of its parts,
    one a line, with `[image]` in place of an image.
    """

    parts: tuple[Part, ...]

    def __new__(cls, parts: Iterable[Part]) -> Parts:
        given = tuple(parts)
        lines = (part.text if isinstance(part, TextPart) else IMAGE_IN_TEXT for part in given)
        made = super().__new__(cls, "\n".join(lines))
        made.parts = given
        return made

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.parts,)

    @property
    def content(self) -> list[JsonObject]:
        """The parts as JSON, in the shape of MCP's content blocks."""
        return [_block(part) for part in self.parts]

    @classmethod
    def of_content(cls, content: object) -> Parts:
        """The result with these parts as JSON. Raises ValueError for anything else."""
        if not isinstance(content, list):
            raise ValueError("the content of a result is a list of parts")
        return cls(map(_part, content))


def _block(part: Part) -> JsonObject:
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text}
    data = base64.b64encode(part.data).decode()
    return {"type": "image", "data": data, "mimeType": part.media_type}


def _part(block: object) -> Part:
    match block:
        case {"type": "text", "text": str(text)}:
            return TextPart(text)
        case {"type": "image", "data": str(data), "mimeType": str(media_type)}:
            try:
                return ImagePart(base64.b64decode(data, validate=True), media_type)
            except binascii.Error:
                raise ValueError("the data of an image is base64") from None
    raise ValueError(f"no part of a result: {block!r}")
