"""From raw Messages events to one turn: content blocks, by the index of their block."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Final

from loopcheck.reference_loop.adapters import fields
from loopcheck.reference_loop.adapters.usage import messages_usage
from loopcheck.reference_loop.arguments import JsonObject
from loopcheck.reference_loop.events import Usage

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

    def item(self) -> JsonObject:
        """The block, with the input of a call as the text that the model wrote."""
        return {**self.content, "input": self.arguments} if self.is_call else self.content


@dataclass(frozen=True, slots=True, kw_only=True)
class MessagesTurn:
    """What one response said. `stop` is None where the protocol's end signal is missing.

    `unattributed`: there were argument fragments for a block that was never begun. `container`
    is where the service runs code, which the next request has to name.
    """

    blocks: tuple[MessagesBlock, ...] = ()
    stop: str | None = None
    unattributed: bool = False
    response_id: str = ""
    container: str = ""
    usage: Usage | None = None


def whole_turn(message: object) -> MessagesTurn:
    """The turn of a response that came in one piece."""
    return MessagesTurn(
        blocks=tuple(_block(item) for item in fields.entries(message, "content")),
        stop=fields.text(message, "stop_reason") or None,
        response_id=fields.text(message, "id"),
        container=_container(message),
        usage=messages_usage(fields.value(message, "usage")),
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
    _response_id: str = ""
    _container: str = ""
    _usage: list[object] = field(default_factory=list)

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
        elif kind == "message_start":
            message = fields.value(event, "message")
            self._response_id = fields.text(message, "id")
            self._usage.append(fields.value(message, "usage"))
        elif kind == "message_delta":
            delta = fields.value(event, "delta")
            self._stop = fields.text(delta, "stop_reason") or self._stop
            self._container = _container(delta) or self._container
            self._usage.append(fields.value(event, "usage"))
        elif kind == "message_stop":
            self._is_over = True

    def turn(self) -> MessagesTurn:
        return MessagesTurn(
            blocks=tuple(block.finished() for block in self._blocks),
            stop=self._stop if self._is_over else None,
            unattributed=self._unattributed,
            response_id=self._response_id,
            container=self._container,
            usage=messages_usage(*self._usage),
        )

    def _extend(self, index: int | None, delta: object) -> None:
        block = self._by_index.get(index)
        if block is not None:
            block.take(delta)
        elif fields.text(delta, "partial_json"):
            self._unattributed = True


def _container(of: object) -> str:
    return fields.text(fields.value(of, "container"), "id")


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
    except (ValueError, RecursionError):
        return {}
    return value
