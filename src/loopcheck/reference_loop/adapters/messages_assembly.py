"""From raw Messages events to one turn: content blocks, by the index of their block."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Final

from loopcheck.reference_loop.adapters import fields
from loopcheck.reference_loop.arguments import JsonObject

_TEXTS: Final = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
}


@dataclass(frozen=True, slots=True)
class MessagesBlock:
    """A content block as it came; `arguments` is the text of a call's input."""

    content: JsonObject
    arguments: str = ""

    @property
    def is_call(self) -> bool:
        return self.content.get("type") == "tool_use"


@dataclass(frozen=True, slots=True, kw_only=True)
class MessagesTurn:
    """What one response said. `stop` is None where the protocol's end signal is missing.

    `unattributed`: there were argument fragments for a block that was never begun.
    """

    blocks: tuple[MessagesBlock, ...] = ()
    stop: str | None = None
    unattributed: bool = False


def whole_turn(message: object) -> MessagesTurn:
    """The turn of a response that came in one piece."""
    return MessagesTurn(
        blocks=tuple(_block(item) for item in fields.entries(message, "content")),
        stop=fields.text(message, "stop_reason") or None,
    )


@dataclass(slots=True)
class _Open:
    """A block that is being received."""

    begun: MessagesBlock
    fragments: list[str] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    citations: list[object] = field(default_factory=list)

    def take(self, delta: object) -> None:
        kind = fields.text(delta, "type")
        if kind == "input_json_delta":
            self.fragments.append(fields.text(delta, "partial_json"))
        elif name := _TEXTS.get(kind):
            self.texts[name] = self.texts.get(name, "") + fields.text(delta, name)
        elif kind == "citations_delta":
            self.citations.append(fields.as_object(fields.value(delta, "citation")))

    def finished(self) -> MessagesBlock:
        content = {**self.begun.content}
        for name, added in self.texts.items():
            content[name] = fields.text(content, name) + added
        if self.citations:
            content["citations"] = [*fields.entries(content, "citations"), *self.citations]
        streamed = "".join(self.fragments)
        if streamed and not self.begun.is_call:
            # Input of a tool that the service runs itself: nobody here reads it but the service.
            content["input"] = _input_of(streamed)
        return MessagesBlock(content, streamed or self.begun.arguments)


@dataclass(slots=True)
class MessagesAssembly:
    """Builds a turn from events, in the order in which they came."""

    _blocks: list[_Open] = field(default_factory=list)
    _by_index: dict[int | None, _Open] = field(default_factory=dict)
    _stop: str | None = None
    _is_over: bool = False
    _unattributed: bool = False

    @property
    def is_over(self) -> bool:
        return self._is_over

    def feed(self, event: object) -> None:
        kind, index = fields.text(event, "type"), fields.number(event, "index")
        if kind == "content_block_start":
            block = _Open(_block(fields.value(event, "content_block")))
            self._blocks.append(block)
            self._by_index[index] = block
        elif kind == "content_block_delta":
            self._extend(index, fields.value(event, "delta"))
        elif kind == "message_delta":
            self._stop = fields.text(fields.value(event, "delta"), "stop_reason") or self._stop
        elif kind == "message_stop":
            self._is_over = True

    def turn(self) -> MessagesTurn:
        return MessagesTurn(
            blocks=tuple(block.finished() for block in self._blocks),
            stop=self._stop if self._is_over else None,
            unattributed=self._unattributed,
        )

    def _extend(self, index: int | None, delta: object) -> None:
        block = self._by_index.get(index)
        if block is not None:
            block.take(delta)
        elif fields.text(delta, "partial_json"):
            self._unattributed = True


def _block(block: object) -> MessagesBlock:
    content = fields.as_object(block)
    if content.get("type") != "tool_use":
        return MessagesBlock(content)
    given = content.get("input", {})
    # An empty input is what every streamed call begins with.
    return MessagesBlock(content, "" if given == {} else json.dumps(given, ensure_ascii=False))


def _input_of(text: str) -> object:
    try:
        value: object = json.loads(text)
    except ValueError:
        return {}
    return value
