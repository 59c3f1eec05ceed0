"""From raw Responses events to one turn.

An output item is identified by its `output_index`, and by its id where that is missing. What an
event states as done wins over what deltas add up to, and the terminal event's snapshot over
both; but a call that was seen in full stays, whatever the snapshot leaves out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from loopcheck.reference_loop.adapters import fields
from loopcheck.reference_loop.adapters.responses_items import (
    CALL_TEXT,
    text_name,
    tidy,
    without_repeats,
)
from loopcheck.reference_loop.adapters.usage import responses_usage
from loopcheck.reference_loop.arguments import JsonObject
from loopcheck.reference_loop.events import Usage

TERMINAL: Final = frozenset(
    {"response.completed", "response.incomplete", "response.failed", "response.cancelled", "error"}
)
_DELTAS: Final = {
    "response.function_call_arguments.delta": "arguments",
    "response.custom_tool_call_input.delta": "input",
    "response.output_text.delta": "text",
    "response.refusal.delta": "refusal",
}
_DONE: Final = {
    "response.function_call_arguments.done": "arguments",
    "response.custom_tool_call_input.done": "input",
    "response.output_text.done": "text",
    "response.refusal.done": "refusal",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponsesTurn:
    """What one response said: its output items in order, ready to be sent back.

    `status` is None where the protocol's end signal is missing. `unattributed`: there were
    argument fragments of a call that nothing else tells about.
    """

    items: tuple[JsonObject, ...] = ()
    status: str | None = None
    why: str = ""
    error: object = None
    unattributed: bool = False
    response_id: str = ""
    usage: Usage | None = None


def whole_turn(response: object) -> ResponsesTurn:
    """The turn of a response that came in one piece."""
    output = fields.entries(response, "output")
    return ResponsesTurn(
        items=tuple(tidy(fields.as_object(item)) for item in output),
        status=fields.text(response, "status") or ("completed" if output else None),
        why=fields.text(fields.value(response, "incomplete_details"), "reason"),
        error=fields.value(response, "error"),
        response_id=fields.text(response, "id"),
        usage=responses_usage(fields.value(response, "usage")),
    )


@dataclass(slots=True)
class _Item:
    index: int
    snapshot: JsonObject = field(default_factory=dict)
    is_done: bool = False
    deltas: dict[str, str] = field(default_factory=dict)
    done: dict[str, str] = field(default_factory=dict)

    def take(self, snapshot: JsonObject) -> None:
        """A done item replaces what was known, but a call loses nothing by being repeated."""
        if self.snapshot.get("type") == snapshot.get("type") and text_name(snapshot):
            stated = {name: item for name, item in snapshot.items() if item != ""}
            earlier = {name: item for name, item in self.snapshot.items() if name != "status"}
            self.snapshot = {**earlier, **stated}
        else:
            self.snapshot = snapshot
        self.is_done = True

    def may_be(self, snapshot: JsonObject) -> bool:
        """Whether a snapshot at this item's place can be of this item."""
        same = self.snapshot.get("type") in (None, snapshot.get("type"))
        call_ids = {self.snapshot.get("call_id"), snapshot.get("call_id")} - {None, ""}
        return same and len(call_ids) <= 1

    def streamed(self, name: str) -> str:
        return self.done.get(name) or self.deltas.get(name, "")

    def finished(self) -> JsonObject:
        if name := text_name(self.snapshot):
            stated, streamed = self.snapshot.get(name, ""), self.streamed(name)
            first, second = (stated, streamed) if self.is_done else (streamed, stated)
            return {**self.snapshot, name: first or second}
        if self.snapshot.get("type") == "message" and not self.snapshot.get("content"):
            return {**self.snapshot, "content": self._content()}
        return self.snapshot

    def _content(self) -> list[JsonObject]:
        parts: list[JsonObject] = []
        if text := self.streamed("text"):
            parts.append({"type": "output_text", "text": text, "annotations": []})
        if refusal := self.streamed("refusal"):
            parts.append({"type": "refusal", "refusal": refusal})
        return parts


@dataclass(slots=True)
class ResponsesAssembly:
    """Builds a turn from events, in the order in which they came."""

    _items: dict[int, _Item] = field(default_factory=dict)
    _terminal: object = None
    _response_id: str = ""

    @property
    def is_over(self) -> bool:
        return self._terminal is not None

    def feed(self, event: object) -> None:
        kind = fields.text(event, "type")
        self._response_id = fields.text(fields.value(event, "response"), "id") or self._response_id
        if kind in TERMINAL:
            self._terminal = event
        elif kind == "response.output_item.added":
            self._add(event)
        elif kind == "response.output_item.done":
            self._item(event, self._given(event)).take(self._given(event))
        elif name := _DELTAS.get(kind):
            deltas = self._item(event, {}).deltas
            deltas[name] = deltas.get(name, "") + fields.text(event, "delta")
        elif name := _DONE.get(kind):
            self._item(event, {}).done[name] = fields.argument_text(event, name)

    def turn(self) -> ResponsesTurn:
        response = fields.value(self._terminal, "response")
        self._reconcile(response)
        items = [self._items[index].finished() for index in sorted(self._items)]
        return ResponsesTurn(
            items=tuple(without_repeats([item for item in items if item.get("type")])),
            status=fields.text(self._terminal, "type").removeprefix("response.") or None,
            why=fields.text(fields.value(response, "incomplete_details"), "reason"),
            error=fields.value(response, "error") or self._terminal,
            unattributed=any(
                item.streamed(name) and not item.snapshot
                for item in self._items.values()
                for name in CALL_TEXT.values()
            ),
            response_id=self._response_id,
            usage=responses_usage(fields.value(response, "usage")),
        )

    def _given(self, event: object) -> JsonObject:
        return tidy(fields.as_object(fields.value(event, "item")))

    def _add(self, event: object) -> None:
        snapshot = self._given(event)
        item = self._item(event, snapshot)
        if not item.snapshot:
            item.snapshot = snapshot

    def _item(self, event: object, snapshot: JsonObject) -> _Item:
        index = fields.number(event, "output_index")
        if index is None:
            named = fields.text(event, "item_id") or snapshot.get("id")
            index = self._index_of(named) if named else None
        if index is None:
            # Neither index nor known id: an item is a new one, a fragment goes to the latest.
            latest = max(self._items, default=-1)
            index = latest + 1 if snapshot else max(latest, 0)
        return self._items.setdefault(index, _Item(index))

    def _index_of(self, item_id: object) -> int | None:
        for index, item in self._items.items():
            if item.snapshot.get("id") == item_id:
                return index
        return None

    def _reconcile(self, response: object) -> None:
        for position, given in enumerate(fields.entries(response, "output")):
            snapshot = tidy(fields.as_object(given))
            index = self._match(position, snapshot)
            if index is not None:
                self._items[index].take(snapshot)
            elif snapshot.get("type") != "message" or snapshot.get("content"):
                free = position if position not in self._items else max(self._items) + 1
                self._items[free] = _Item(free, snapshot, is_done=True)

    def _match(self, position: int, snapshot: JsonObject) -> int | None:
        if (item_id := snapshot.get("id")) and (index := self._index_of(item_id)) is not None:
            return index
        item = self._items.get(position)
        if item is not None and item.may_be(snapshot):
            return position
        for index, other in self._items.items():
            if (call_id := snapshot.get("call_id")) and other.snapshot.get("call_id") == call_id:
                return index
        return None
