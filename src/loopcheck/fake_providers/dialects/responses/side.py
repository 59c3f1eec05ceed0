"""What the service answers beside turns: stored objects, token counts, models."""

from __future__ import annotations

import hashlib
import re
from itertools import count
from typing import Final

from loopcheck.fake_providers.dialects import openai_common
from loopcheck.fake_providers.dialects.interface import Memory
from loopcheck.fake_providers.dialects.openai_common import invalid, objects, request_body
from loopcheck.fake_providers.wire import HttpRequest, JsonObject

_COUNT_PATH: Final = "/v1/responses/input_tokens"
_CONVERSATIONS_PATH: Final = "/v1/conversations"
_CREATED: Final = 1_780_000_000
_STORED: Final = re.compile(r"/v1/(response|conversation)s/([^/]+)(/cancel)?")


def serves(method: str, path: str) -> bool:
    """Whether there is an answer to a request like this."""
    if method == "POST" and path in (_COUNT_PATH, _CONVERSATIONS_PATH):
        return True
    match = _STORED.fullmatch(path)
    if match is None:
        return openai_common.asks_for_models(method, path)
    if match[3]:
        return match[1] == "response" and method == "POST"
    return method in ("GET", "DELETE")


def answer(request: HttpRequest, memory: Memory) -> JsonObject:
    """The answer. Raises ServiceError where what it asks for is not stored."""
    if request.path == _COUNT_PATH:
        tokens = len(request.body) // 4 + 8
        return {"object": "response.input_tokens", "input_tokens": tokens}
    if request.path == _CONVERSATIONS_PATH:
        return _begin_conversation(request, memory)
    match = _STORED.fullmatch(request.path)
    if match is None:
        return openai_common.models(request.path)
    return _stored(request.method, match[1], match[2], memory)


def _begin_conversation(request: HttpRequest, memory: Memory) -> JsonObject:
    body = request_body(request) if request.body else {}
    ids = (_conversation_id(number) for number in count())
    named = next(made for made in ids if made not in memory.conversations)
    memory.conversations[named] = list(objects(body, "items"))
    memory.responses[named] = {
        "id": named,
        "object": "conversation",
        "created_at": _CREATED,
        "metadata": body.get("metadata") or {},
    }
    return memory.responses[named]


def _conversation_id(number: int) -> str:
    return "conv_" + hashlib.sha256(f"conversation {number}".encode()).hexdigest()[:48]


def _stored(method: str, kind: str, named: str, memory: Memory) -> JsonObject:
    found = memory.responses.get(named)
    if found is None or found["object"] != kind:
        raise invalid(f"{kind.capitalize()} with id '{named}' not found.", status=404)
    if method == "DELETE":
        del memory.responses[named]
        memory.conversations.pop(named, None)
        gone = "response" if kind == "response" else "conversation.deleted"
        return {"id": named, "object": gone, "deleted": True}
    if method == "POST" and found["background"] is not True:
        raise invalid("Cannot cancel a synchronous response.")
    return found
