"""Reads a request as the Messages service does, its thread expanded.

Nothing is refused here but a body that is no JSON object: what is malformed in it is read as
if it were absent, and refused by the rules about forms.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Literal

from loopcheck.fake_providers.dialects.interface import Memory
from loopcheck.fake_providers.dialects.messages import state
from loopcheck.fake_providers.dialects.messages.blocks import (
    Block,
    blocks_of,
    joined_text,
    text_of,
)
from loopcheck.fake_providers.dialects.messages.conversation import conversation
from loopcheck.fake_providers.dialects.messages.errors import invalid
from loopcheck.fake_providers.json_body import is_json, parsed
from loopcheck.fake_providers.sse import compact
from loopcheck.fake_providers.wire import (
    HttpRequest,
    Item,
    ItemKind,
    JsonObject,
    OfferedTool,
    Reading,
)

_TEXT_KINDS: Final[dict[str, ItemKind]] = {
    "user": "user",
    "assistant": "say",
    "system": "system",
}


def read(request: HttpRequest, memory: Memory) -> Reading:
    """The request as the service understands it. Raises ServiceError when it is no JSON."""
    if not is_json(request.headers):
        raise invalid("content-type: Input should be 'application/json'")
    body = _parsed(request.body)
    messages = _messages(body)
    stored = state.stored(body, memory)
    return Reading(
        dialect="messages",
        model=text_of(body, "model"),
        stream=body.get("stream") is True,
        items=(
            *_system_items(body, memory),
            *_items(stored, "stored", first_reply=0),
            *_items(messages, "sent", first_reply=_replies(stored)),
        ),
        history=conversation([*stored, *messages], request),
        tools=tuple(_tools(state.setting("tools", body, memory))),
        body=body,
        tool_choice=body.get("tool_choice"),
        previous=state.previous_id(body),
        self_contained=body.get("thread") is None,
    )


def _parsed(raw: bytes) -> JsonObject:
    try:
        body = parsed(raw)
    except ValueError as error:
        raise invalid(f"The request body is not valid JSON: {error}") from None
    if not isinstance(body, dict):
        raise invalid("Input should be an object")
    return body


def _messages(body: JsonObject) -> list[JsonObject]:
    """One entry for each message that was sent, so that their numbers stay the same."""
    messages = body.get("messages")
    sent = messages if isinstance(messages, list) else []
    return [message if isinstance(message, dict) else {} for message in sent]


def _replies(messages: Sequence[JsonObject]) -> int:
    return sum(message.get("role") == "assistant" for message in messages)


def _system_items(body: JsonObject, memory: Memory) -> Iterator[Item]:
    text = joined_text(state.setting("system", body, memory))
    if text:
        sent = body.get("system") is not None
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
    text, call_id, name, arguments, is_error, seal = "", None, None, None, None, None
    match block.kind:
        case "text":
            kind, text = _TEXT_KINDS.get(role, "other"), text_of(value, "text")
        case "tool_use":
            kind, call_id, name = "call", text_of(value, "id"), text_of(value, "name")
            arguments = compact(value.get("input"))
        case "tool_result":
            kind, call_id = "result", text_of(value, "tool_use_id")
            text = joined_text(value.get("content"))
            is_error = value["is_error"] is True if "is_error" in value else None
        case "thinking":
            kind, text, seal = "think", text_of(value, "thinking"), text_of(value, "signature")
        case "redacted_thinking":
            kind, seal = "think", text_of(value, "data")
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
        seal=seal,
    )


def _tools(tools: object) -> Iterator[OfferedTool]:
    """The tools of the client; those of the service have no schema."""
    for tool in tools if isinstance(tools, list) else []:
        if isinstance(tool, dict) and isinstance(schema := tool.get("input_schema"), dict):
            yield OfferedTool(name=text_of(tool, "name"), schema=schema)
