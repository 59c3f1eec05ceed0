"""Messages and their content blocks, as untrusted JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from loopcheck.fake_providers.dialects.messages.conversation import Conversation
from loopcheck.fake_providers.wire import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A content block and where it stands: block `place` of message `message`.

    Text that is a message's whole content counts as its only block; `place` is then None.
    """

    message: int
    place: int | None
    value: JsonObject

    @property
    def kind(self) -> str:
        return text_of(self.value, "type")

    @property
    def path(self) -> str:
        path = f"messages.{self.message}"
        return path if self.place is None else f"{path}.content.{self.place}"


@dataclass(frozen=True, slots=True)
class Side:
    """Consecutive messages of one role, which the service reads as one."""

    role: str
    blocks: tuple[Block, ...]

    def of_kind(self, kind: str) -> tuple[Block, ...]:
        return tuple(block for block in self.blocks if block.kind == kind)


def blocks_of(number: int, message: JsonObject) -> Iterator[Block]:
    """The blocks of the message with this number; what is no block is left out."""
    content = message.get("content")
    if isinstance(content, str):
        yield Block(message=number, place=None, value={"type": "text", "text": content})
    elif isinstance(content, list):
        for place, value in enumerate(content):
            if isinstance(value, dict):
                yield Block(message=number, place=place, value=value)


def sides(history: Sequence[JsonObject]) -> list[Side]:
    """The conversation with consecutive messages of one role merged."""
    if not isinstance(history, Conversation):
        return _merged(history)
    if history.sides is None:
        history.sides = _merged(history)
    return history.sides


def _merged(history: Sequence[JsonObject]) -> list[Side]:
    merged: list[Side] = []
    for number, message in enumerate(history):
        role = text_of(message, "role")
        blocks = tuple(blocks_of(number, message))
        if merged and merged[-1].role == role:
            merged[-1] = Side(role, (*merged[-1].blocks, *blocks))
        else:
            merged.append(Side(role, blocks))
    return merged


def text_of(value: JsonObject, name: str) -> str:
    """The member of that name when it is text, else nothing."""
    member = value.get(name)
    return member if isinstance(member, str) else ""


def joined_text(content: object) -> str:
    """Content that is text, or the text blocks in it joined."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return "".join(text_of(b, "text") for b in content if isinstance(b, dict))
