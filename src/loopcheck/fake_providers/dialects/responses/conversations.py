"""Conversations that clients begin, look through and change."""

from __future__ import annotations

import hashlib
from itertools import count
from typing import Final

from loopcheck.fake_providers.dialects.interface import Memory
from loopcheck.fake_providers.dialects.openai_common import (
    invalid,
    missing,
    objects,
    request_body,
)
from loopcheck.fake_providers.dialects.openai_rules import long_array
from loopcheck.fake_providers.dialects.paging import asked, listed, page
from loopcheck.fake_providers.dialects.responses.listing import identified, resources
from loopcheck.fake_providers.wire import HttpRequest, JsonObject

_CREATED: Final = 1_780_000_000
_MOST_AT_ONCE: Final = 20


def begun(request: HttpRequest, memory: Memory) -> JsonObject:
    """A new conversation."""
    body = request_body(request) if request.body else {}
    items = _sent(body)
    ids = (_id(number) for number in count())
    named = next(made for made in ids if made not in memory.responses)
    memory.conversations[named] = items
    memory.responses[named] = {
        "id": named,
        "object": "conversation",
        "created_at": _CREATED,
        "metadata": body.get("metadata") or {},
    }
    return memory.responses[named]


def changed(request: HttpRequest, named: str, memory: Memory) -> JsonObject:
    """The conversation with other metadata."""
    body = request_body(request)
    if "metadata" not in body:
        raise missing("metadata")
    memory.responses[named] = {**memory.responses[named], "metadata": body["metadata"] or {}}
    return memory.responses[named]


def items(request: HttpRequest, named: str, memory: Memory) -> JsonObject:
    """A page of what was said in the conversation."""
    held = memory.conversations.get(named, [])
    return page(resources(held), asked(request.query), order="desc")


def added(request: HttpRequest, named: str, memory: Memory) -> JsonObject:
    """The items that a request adds to the conversation."""
    body = request_body(request)
    if "items" not in body:
        raise missing("items")
    sent = _sent(body)
    whole = [*memory.conversations.get(named, []), *sent]
    memory.conversations[named] = whole
    shown = resources(whole)
    return listed(shown[len(shown) - len(sent) :])


def item(named: str, item_id: str, memory: Memory) -> JsonObject:
    """One item of the conversation."""
    shown = resources(memory.conversations.get(named, []))
    found = [entry for entry in shown if entry["id"] == item_id]
    if not found:
        raise invalid(
            f"Item with id '{item_id}' not found in conversation with id '{named}'.", status=404
        )
    return found[0]


def without(named: str, item_id: str, memory: Memory) -> JsonObject:
    """The conversation after one of its items was taken out."""
    item(named, item_id, memory)
    held = identified(memory.conversations[named])
    memory.conversations[named] = [entry for other, entry in held if other != item_id]
    return memory.responses[named]


def _sent(body: JsonObject) -> list[JsonObject]:
    sent = objects(body, "items")
    if len(sent) > _MOST_AT_ONCE:
        raise long_array("items", _MOST_AT_ONCE, len(sent))
    return list(sent)


def _id(number: int) -> str:
    return "conv_" + hashlib.sha256(f"conversation {number}".encode()).hexdigest()[:48]
