"""What the input items of a request are, and how they read as a conversation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final, Literal

from loopcheck.fake_providers.dialects.openai_common import part_text
from loopcheck.fake_providers.wire import Item, ItemKind, JsonObject

_ROLE_KINDS: Final[dict[str, ItemKind]] = {
    "user": "user",
    "system": "system",
    "developer": "system",
}
# Calls and their results, with the field that holds what the model wrote or the tool said.
_CALLS: Final = {"function_call": "arguments", "custom_tool_call": "input"}
_RESULTS: Final = ("function_call_output", "custom_tool_call_output")
# Items that a client adds although no name ends in `_output`.
_CLIENT_ITEMS: Final = ("mcp_approval_response", "additional_tools", "item_reference")


@dataclass(frozen=True, slots=True)
class Placed:
    """An item of the effective conversation, and where it came from."""

    item: JsonObject
    path: str
    origin: Literal["sent", "stored"] = "sent"


def kind_of(item: JsonObject) -> str:
    """The item's type; messages and references may leave it out."""
    kind = item.get("type")
    if kind is None:
        return "item_reference" if "id" in item and "role" not in item else "message"
    return kind if isinstance(kind, str) else ""


def neutral(conversation: Iterable[Placed]) -> Iterator[Item]:
    """The conversation free of dialect. What the model said in a row is one reply."""
    reply, speaking = -1, False
    for placed in conversation:
        spoken = by_model(placed.item)
        if spoken and not speaking:
            reply += 1
        speaking = spoken
        for item in _neutral(placed):
            yield replace(item, reply=reply) if spoken else item


def by_model(item: JsonObject) -> bool:
    """Whether the model, or the service on its behalf, made this item."""
    kind = kind_of(item)
    if kind == "message":
        return item.get("role") == "assistant"
    if kind == "program_output":
        return True
    if kind == "tool_search_output":
        return item.get("execution") == "server"
    return kind not in _CLIENT_ITEMS and not kind.endswith("_output")


def _neutral(placed: Placed) -> list[Item]:
    item = placed.item
    kind = kind_of(item)
    blank = Item(kind="other", path=placed.path, origin=placed.origin)
    if kind == "message":
        return _message(item, blank)
    if kind in _CALLS:
        named = replace(
            blank, kind="call", call_id=_text(item, "call_id"), item_id=_text(item, "id")
        )
        return [replace(named, name=_text(item, "name"), arguments=_text(item, _CALLS[kind]))]
    if kind in _RESULTS:
        text = part_text(item.get("output"))
        return [replace(blank, kind="result", call_id=_text(item, "call_id"), text=text)]
    if kind == "reasoning":
        thoughts = part_text(item.get("summary")) + part_text(item.get("content"))
        seal = _text(item, "encrypted_content")
        return [replace(blank, kind="think", text=thoughts, item_id=_text(item, "id"), seal=seal)]
    return [blank]


def _message(item: JsonObject, blank: Item) -> list[Item]:
    content = item.get("content")
    text = part_text(content)
    if item.get("role") != "assistant":
        return [replace(blank, kind=_ROLE_KINDS.get(str(item.get("role")), "other"), text=text)]
    refusal = part_text(content, "refusal")
    said = [replace(blank, kind="say", text=text)] if text or not refusal else []
    return [*said, replace(blank, kind="refusal", text=refusal)] if refusal else said


def _text(item: JsonObject, key: str) -> str | None:
    value = item.get(key)
    return value if isinstance(value, str) else None
