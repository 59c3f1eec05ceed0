"""From each protocol's history to the neutral one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from loopcheck.reference_loop.adapters import fields, parts
from loopcheck.reference_loop.adapters.chat_calls import whole_call
from loopcheck.reference_loop.adapters.neutral import (
    Answered,
    Asked,
    CallKind,
    Item,
    Opaque,
    Role,
    Said,
)
from loopcheck.reference_loop.adapters.responses_items import CALL_TEXT
from loopcheck.reference_loop.arguments import JsonObject
from loopcheck.reference_loop.content import ImagePart, Part, text_of


def read_chat(message: JsonObject) -> Iterator[Item]:
    """What a message of Chat Completions says."""
    text, shown = _content(message, "content")
    if message.get("role") == "tool":
        yield Answered(fields.text(message, "tool_call_id"), text, shown)
        return
    if text:
        yield Said("assistant" if message.get("role") == "assistant" else "user", text, shown)
    for item in fields.entries(message, "tool_calls"):
        call = whole_call(item)
        kind: CallKind = "custom" if call.kind == "custom" else "function"
        yield Asked(call.call_id, call.name, call.arguments, kind)


def read_responses(item: JsonObject) -> Iterator[Item]:
    """What an input or output item of Responses says."""
    kind, call_id = fields.text(item, "type"), fields.text(item, "call_id")
    if "role" in item:
        yield from _message(item)
    elif name := CALL_TEXT.get(kind):
        yield Asked(
            call_id,
            fields.text(item, "name"),
            fields.text(item, name),
            "custom" if kind == "custom_tool_call" else "function",
        )
    elif kind in ("function_call_output", "custom_tool_call_output"):
        yield Answered(call_id, *_content(item, "output"))
    else:
        yield Opaque(kind)


def _message(item: JsonObject) -> Iterator[Item]:
    if item["role"] == "assistant":
        text = fields.text(item, "content") or "".join(
            fields.text(part, "text") for part in fields.entries(item, "content")
        )
        if text:
            yield Said("assistant", text)
    else:
        yield Said("user", *_content(item, "content"))


def read_messages(message: JsonObject) -> Iterator[Item]:
    """What a message of Messages says."""
    role: Role = "assistant" if message.get("role") == "assistant" else "user"
    if text := fields.text(message, "content"):
        yield Said(role, text)
    for block in fields.entries(message, "content"):
        kind = fields.text(block, "type")
        if kind in ("text", "image"):
            yield Said(role, *_of((block,)))
        elif kind == "tool_use":
            given = json.dumps(fields.value(block, "input"), ensure_ascii=False)
            yield Asked(fields.text(block, "id"), fields.text(block, "name"), given)
        elif kind == "tool_result":
            yield Answered(fields.text(block, "tool_use_id"), *_content(block, "content"))
        else:
            yield Opaque(kind)


def _content(of: object, name: str) -> tuple[str, tuple[Part, ...]]:
    """A field that is text or a list of parts: as text, and its parts where there are images."""
    entries = fields.entries(of, name)
    return _of(entries) if entries else (fields.text(of, name), ())


def _of(entries: Sequence[object]) -> tuple[str, tuple[Part, ...]]:
    found = parts.read(entries)
    has_images = any(isinstance(part, ImagePart) for part in found)
    return text_of(found), found if has_images else ()
