"""Reads a request as the Messages service does: its form is checked, its thread expanded."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Final, Literal

from loopcheck.fake_providers.dialects.interface import Memory
from loopcheck.fake_providers.dialects.messages.blocks import (
    Block,
    blocks_of,
    joined_text,
    text_of,
)
from loopcheck.fake_providers.dialects.messages.errors import (
    field_error,
    invalid,
    thread_not_found,
    too_large,
)
from loopcheck.fake_providers.sse import compact
from loopcheck.fake_providers.wire import (
    HttpRequest,
    Item,
    ItemKind,
    JsonObject,
    OfferedTool,
    Reading,
)

# What a request that continues a thread leaves out and the service takes from the thread.
THREAD_SETTINGS: Final = ("system", "tools")

_LARGEST_BODY: Final = 32 * 1024 * 1024
_MISSING: Final = "Field required"
_ROLES: Final = ("user", "assistant", "system")
_REQUIRED_IN_BLOCKS: Final = {
    "tool_use": ("id", "name", "input"),
    "tool_result": ("tool_use_id",),
}
_TEXT_KINDS: Final[dict[str, ItemKind]] = {
    "user": "user",
    "assistant": "say",
    "system": "system",
}


def read(request: HttpRequest, memory: Memory) -> Reading:
    """The request as the service understands it. Raises ServiceError when it is malformed or
    continues a response that is not stored."""
    if len(request.body) > _LARGEST_BODY:
        raise too_large()
    if "anthropic-version" not in request.headers:
        raise invalid("anthropic-version: header is required")
    body = _parsed(request.body)
    messages = _checked(body)
    previous = _previous(body)
    if previous is not None and previous not in memory.conversations:
        raise thread_not_found(previous)
    if not messages and previous is None:
        raise invalid("messages: at least one message is required", "messages")
    stored = [] if previous is None else memory.conversations[previous]
    kept = {} if previous is None else memory.settings.get(previous, {})
    return Reading(
        dialect="messages",
        model=text_of(body, "model"),
        stream=body.get("stream") is True,
        items=(
            *_system_items(body, kept),
            *_items(stored, "stored", first_reply=0),
            *_items(messages, "sent", first_reply=_replies(stored)),
        ),
        history=(*stored, *messages),
        tools=tuple(_tools(body.get("tools", kept.get("tools")))),
        body=body,
        tool_choice=body.get("tool_choice"),
        previous=previous,
    )


def _parsed(raw: bytes) -> JsonObject:
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise invalid(f"The request body is not valid JSON: {error}") from None
    if not isinstance(body, dict):
        raise invalid("Input should be an object")
    return body


def _checked(body: JsonObject) -> list[JsonObject]:
    for name in ("model", "max_tokens", "messages"):
        if name not in body:
            raise field_error(name, _MISSING)
    if not isinstance(body["model"], str):
        raise field_error("model", "Input should be a valid string")
    if not isinstance(body["max_tokens"], int) or isinstance(body["max_tokens"], bool):
        raise field_error("max_tokens", "Input should be a valid integer")
    messages = body["messages"]
    if not isinstance(messages, list):
        raise field_error("messages", "Input should be a valid list")
    return [_checked_message(number, message) for number, message in enumerate(messages)]


def _checked_message(number: int, message: object) -> JsonObject:
    path = f"messages.{number}"
    if not isinstance(message, dict):
        raise field_error(path, "Input should be an object")
    for name in ("role", "content"):
        if name not in message:
            raise field_error(f"{path}.{name}", _MISSING)
    if message["role"] not in _ROLES:
        raise invalid(
            f'messages: Unexpected role "{message["role"]}". Allowed roles are "user" or '
            '"assistant".',
            f"{path}.role",
        )
    content = message["content"]
    if isinstance(content, list):
        for place, block in enumerate(content):
            _check_block(f"{path}.content.{place}", block)
    elif not isinstance(content, str):
        raise field_error(f"{path}.content", "Input should be a valid list")
    return message


def _check_block(path: str, block: object) -> None:
    if not isinstance(block, dict):
        raise field_error(path, "Input should be an object")
    if "type" not in block:
        raise field_error(f"{path}.type", _MISSING)
    kind = text_of(block, "type")
    for name in _REQUIRED_IN_BLOCKS.get(kind, ()):
        if name not in block:
            raise field_error(f"{path}.{kind}.{name}", _MISSING)


def _previous(body: JsonObject) -> str | None:
    thread = body.get("thread")
    if thread is None:
        return None
    if not isinstance(thread, dict) or thread.get("type") not in ("create", "continue"):
        raise field_error("thread.type", "Input should be 'create' or 'continue'")
    if thread["type"] == "create":
        return None
    if not isinstance(thread.get("previous_message_id"), str):
        raise field_error("thread.previous_message_id", _MISSING)
    return text_of(thread, "previous_message_id")


def _replies(messages: Sequence[JsonObject]) -> int:
    return sum(message.get("role") == "assistant" for message in messages)


def _system_items(body: JsonObject, kept: JsonObject) -> Iterator[Item]:
    sent = "system" in body
    text = joined_text(body["system"] if sent else kept.get("system"))
    if text:
        yield Item(kind="system", path="system", origin="sent" if sent else "stored", text=text)


def _items(
    messages: Sequence[JsonObject], origin: Literal["sent", "stored"], *, first_reply: int
) -> Iterator[Item]:
    reply = first_reply
    for number, message in enumerate(messages):
        role = text_of(message, "role")
        said = role == "assistant"
        for block in blocks_of(number, message):
            yield _item(block, role, origin, reply if said else None)
        reply += said


def _item(block: Block, role: str, origin: Literal["sent", "stored"], reply: int | None) -> Item:
    value = block.value
    kind: ItemKind = "other"
    text, call_id, name, arguments, is_error = "", None, None, None, None
    match block.kind:
        case "text":
            kind, text = _TEXT_KINDS[role], text_of(value, "text")
        case "tool_use":
            kind, call_id, name = "call", text_of(value, "id"), text_of(value, "name")
            arguments = compact(value.get("input"))
        case "tool_result":
            kind, call_id = "result", text_of(value, "tool_use_id")
            text = joined_text(value.get("content"))
            is_error = value["is_error"] is True if "is_error" in value else None
        case "thinking" | "redacted_thinking":
            kind, text = "think", text_of(value, "thinking")
    return Item(
        kind=kind,
        path=block.path,
        origin=origin,
        text=text,
        call_id=call_id,
        name=name,
        arguments=arguments,
        is_error=is_error,
        reply=reply,
    )


def _tools(tools: object) -> Iterator[OfferedTool]:
    """The tools of the client; those of the service have no schema."""
    for tool in tools if isinstance(tools, list) else []:
        if isinstance(tool, dict) and isinstance(schema := tool.get("input_schema"), dict):
            yield OfferedTool(name=text_of(tool, "name"), schema=schema)
