"""From a chat request to a neutral conversation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count

from loopcheck.fake_providers.dialects.chat import form
from loopcheck.fake_providers.dialects.openai_common import objects, part_text, request_body
from loopcheck.fake_providers.wire import (
    HttpRequest,
    Item,
    ItemKind,
    JsonObject,
    OfferedTool,
    Reading,
)

_KINDS: dict[str, ItemKind] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "tool": "result",
    "function": "result",
}


def read(request: HttpRequest) -> Reading:
    """The request as a conversation. Raises ServiceError where it is malformed."""
    body = request_body(request)
    model = form.model(body)
    messages = form.messages(body)
    return Reading(
        dialect="chat",
        model=model,
        stream=body.get("stream") is True,
        items=tuple(_items(messages)),
        history=messages,
        tools=tuple(_tools(body)),
        body=body,
        tool_choice=body.get("tool_choice"),
        self_contained=True,
    )


def _items(messages: Sequence[JsonObject]) -> Iterator[Item]:
    replies = count()
    for position, message in enumerate(messages):
        path = f"messages[{position}]"
        if message["role"] == "assistant":
            yield from _said(message, path, next(replies))
        else:
            yield _heard(message, path)


def _heard(message: JsonObject, path: str) -> Item:
    return Item(
        kind=_KINDS[str(message["role"])],
        path=path,
        text=part_text(message.get("content")),
        call_id=_text_or_none(message.get("tool_call_id")),
        name=_text_or_none(message.get("name")),
    )


def _said(message: JsonObject, path: str, reply: int) -> list[Item]:
    content = message.get("content")
    items = []
    if text := part_text(content):
        items.append(Item(kind="say", path=f"{path}.content", text=text, reply=reply))
    refusal = _text_or_none(message.get("refusal"))
    refused = part_text(content, "refusal") if refusal is None else refusal
    if refused:
        items.append(Item(kind="refusal", path=f"{path}.refusal", text=refused, reply=reply))
    items.extend(_calls(message, path, reply))
    # A message without a word is a model response all the same, and is counted as one.
    return items or [Item(kind="say", path=path, reply=reply)]


def _calls(message: JsonObject, path: str, reply: int) -> Iterator[Item]:
    legacy = message.get("function_call")
    if isinstance(legacy, dict):
        yield _call(legacy, "arguments", None, f"{path}.function_call", reply)
    for position, call in enumerate(objects(message, "tool_calls")):
        kind = str(call["type"])
        holder = call[kind]
        if isinstance(holder, dict):
            call_id = str(call["id"])
            where = f"{path}.tool_calls[{position}]"
            yield _call(holder, form.CALL_TEXT[kind], call_id, where, reply)


def _call(holder: JsonObject, text: str, call_id: str | None, path: str, reply: int) -> Item:
    return Item(
        kind="call",
        path=path,
        call_id=call_id,
        name=_text_or_none(holder.get("name")),
        arguments=_text_or_none(holder.get(text)),
        reply=reply,
    )


def _tools(body: JsonObject) -> Iterator[OfferedTool]:
    described = [tool.get(str(tool["type"])) for tool in form.tools(body)]
    for tool in (*described, *objects(body, "functions")):
        if not isinstance(tool, dict):
            continue
        name, schema = tool.get("name"), tool.get("parameters")
        if isinstance(name, str):
            yield OfferedTool(name=name, schema=schema if isinstance(schema, dict) else {})


def _text_or_none(value: object) -> str | None:
    return value if isinstance(value, str) else None
