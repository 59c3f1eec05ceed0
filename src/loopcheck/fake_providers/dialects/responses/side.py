"""What the service answers beside turns: stored objects, token counts, models."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, TypeAlias

from loopcheck.fake_providers.dialects import openai_common
from loopcheck.fake_providers.dialects.interface import Memory
from loopcheck.fake_providers.dialects.openai_common import invalid
from loopcheck.fake_providers.dialects.paging import asked, page
from loopcheck.fake_providers.dialects.responses import background, compaction, conversations
from loopcheck.fake_providers.dialects.responses.listing import resources
from loopcheck.fake_providers.wire import HttpRequest, JsonObject

_Answer: TypeAlias = Callable[[HttpRequest, tuple[str, ...], Memory], JsonObject]


def serves(method: str, path: str) -> bool:
    """Whether there is an answer to a request like this."""
    return _route(method, path) is not None or openai_common.asks_for_models(method, path)


def answer(request: HttpRequest, memory: Memory) -> JsonObject:
    """The answer. Raises ServiceError where what it asks for is not stored."""
    route = _route(request.method, request.path)
    if route is None:
        return openai_common.models(request.path)
    found, named = route
    return found(request, named, memory)


def _route(method: str, path: str) -> tuple[_Answer, tuple[str, ...]] | None:
    for known, pattern, found in _ROUTES:
        match = pattern.fullmatch(path) if known == method else None
        if match is not None:
            return found, match.groups()
    return None


def _count(request: HttpRequest, named: tuple[str, ...], memory: Memory) -> JsonObject:
    return {"object": "response.input_tokens", "input_tokens": len(request.body) // 4 + 8}


def _compact(request: HttpRequest, named: tuple[str, ...], memory: Memory) -> JsonObject:
    return compaction.compacted(request, memory)


def _response(request: HttpRequest, named: tuple[str, ...], memory: Memory) -> JsonObject:
    _require("response", named[0], memory)
    return background.looked_at(named[0], memory)


def _cancel(request: HttpRequest, named: tuple[str, ...], memory: Memory) -> JsonObject:
    _require("response", named[0], memory)
    return background.cancelled(named[0], memory)


def _input_items(request: HttpRequest, named: tuple[str, ...], memory: Memory) -> JsonObject:
    output = _require("response", named[0], memory)["output"]
    made = len(output) if isinstance(output, list) else 0
    held = memory.conversations.get(named[0], [])
    return page(resources(held[: len(held) - made]), asked(request.query), order="desc")


def _delete_response(request: HttpRequest, named: tuple[str, ...], memory: Memory) -> JsonObject:
    return _delete("response", "response", named[0], memory)


def _begin(request: HttpRequest, named: tuple[str, ...], memory: Memory) -> JsonObject:
    return conversations.begun(request, memory)


def _conversation(request: HttpRequest, named: tuple[str, ...], memory: Memory) -> JsonObject:
    return _require("conversation", named[0], memory)


def _change(request: HttpRequest, named: tuple[str, ...], memory: Memory) -> JsonObject:
    _require("conversation", named[0], memory)
    return conversations.changed(request, named[0], memory)


def _delete_conversation(
    request: HttpRequest, named: tuple[str, ...], memory: Memory
) -> JsonObject:
    return _delete("conversation", "conversation.deleted", named[0], memory)


def _items(request: HttpRequest, named: tuple[str, ...], memory: Memory) -> JsonObject:
    _require("conversation", named[0], memory)
    return conversations.items(request, named[0], memory)


def _add(request: HttpRequest, named: tuple[str, ...], memory: Memory) -> JsonObject:
    _require("conversation", named[0], memory)
    return conversations.added(request, named[0], memory)


def _item(request: HttpRequest, named: tuple[str, ...], memory: Memory) -> JsonObject:
    _require("conversation", named[0], memory)
    return conversations.item(named[0], named[1], memory)


def _delete_item(request: HttpRequest, named: tuple[str, ...], memory: Memory) -> JsonObject:
    _require("conversation", named[0], memory)
    return conversations.without(named[0], named[1], memory)


_ROUTES: Final[tuple[tuple[str, re.Pattern[str], _Answer], ...]] = tuple(
    (method, re.compile(f"/v1/{path}"), found)
    for method, path, found in (
        ("POST", "responses/input_tokens", _count),
        ("POST", "responses/compact", _compact),
        ("GET", "responses/([^/]+)", _response),
        ("DELETE", "responses/([^/]+)", _delete_response),
        ("POST", "responses/([^/]+)/cancel", _cancel),
        ("GET", "responses/([^/]+)/input_items", _input_items),
        ("POST", "conversations", _begin),
        ("GET", "conversations/([^/]+)", _conversation),
        ("POST", "conversations/([^/]+)", _change),
        ("DELETE", "conversations/([^/]+)", _delete_conversation),
        ("GET", "conversations/([^/]+)/items", _items),
        ("POST", "conversations/([^/]+)/items", _add),
        ("GET", "conversations/([^/]+)/items/([^/]+)", _item),
        ("DELETE", "conversations/([^/]+)/items/([^/]+)", _delete_item),
    )
)


def _require(kind: str, named: str, memory: Memory) -> JsonObject:
    found = memory.responses.get(named)
    if found is None or found["object"] != kind:
        raise invalid(f"{kind.capitalize()} with id '{named}' not found.", status=404)
    return found


def _delete(kind: str, gone: str, named: str, memory: Memory) -> JsonObject:
    _require(kind, named, memory)
    del memory.responses[named]
    memory.conversations.pop(named, None)
    memory.pending.pop(named, None)
    memory.streams.pop(named, None)
    return {"id": named, "object": gone, "deleted": True}
