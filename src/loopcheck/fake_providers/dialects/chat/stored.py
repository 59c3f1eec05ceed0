"""Completions that the service keeps because a request said so, and what can be done with them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from loopcheck.fake_providers.dialects import openai_common
from loopcheck.fake_providers.dialects.chat import render
from loopcheck.fake_providers.dialects.interface import Memory
from loopcheck.fake_providers.dialects.openai_common import invalid, missing, request_body
from loopcheck.fake_providers.dialects.paging import asked, page
from loopcheck.fake_providers.wire import Answer, HttpRequest, JsonObject

_LIST: Final = "/v1/chat/completions"
_STORED: Final = re.compile(rf"{_LIST}/([^/]+)(/messages)?")
_FILTER: Final = re.compile(r"metadata\[(.+)\]")
# What a stored completion says of its request, and what where that said nothing.
_ECHOED: Final[JsonObject] = {
    "tool_choice": None,
    "seed": None,
    "top_p": 1.0,
    "temperature": 1.0,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
    "tools": None,
    "response_format": None,
}


def keep(answer: Answer, memory: Memory) -> None:
    """Keeps the completion where the request asked for it."""
    request = answer.reading.body
    if request.get("store") is not True:
        return
    given = {key: request[key] for key in _ECHOED if request.get(key) is not None}
    memory.responses[answer.response_id] = {
        **render.whole(answer),
        **_ECHOED,
        **given,
        "input_user": request.get("user"),
        "metadata": request.get("metadata") or {},
    }
    memory.conversations[answer.response_id] = list(answer.reading.history)


def serves(method: str, path: str) -> bool:
    """Whether there is an answer to a request like this."""
    if path == _LIST:
        return method == "GET"
    match = _STORED.fullmatch(path)
    if match is None:
        return openai_common.asks_for_models(method, path)
    return method == "GET" or (method in ("POST", "DELETE") and not match[2])


def answer(request: HttpRequest, memory: Memory) -> JsonObject:
    """The answer. Raises ServiceError where what it asks for is not stored."""
    if request.path == _LIST:
        return _listed(request, memory)
    match = _STORED.fullmatch(request.path)
    if match is None:
        return openai_common.models(request.path)
    named = match[1]
    if named not in memory.responses:
        raise invalid(f"Chat completion with id '{named}' not found.", status=404)
    if match[2]:
        messages = list(_messages(named, memory))
        return page(messages, asked(request.query), order="asc")
    if request.method == "DELETE":
        del memory.responses[named]
        memory.conversations.pop(named, None)
        return {"object": "chat.completion.deleted", "id": named, "deleted": True}
    if request.method == "POST":
        _change(request, named, memory)
    return memory.responses[named]


def _listed(request: HttpRequest, memory: Memory) -> JsonObject:
    wanted = asked(request.query)
    found = [entry for entry in memory.responses.values() if _is_wanted(entry, wanted)]
    return page(found, wanted, order="asc")


def _is_wanted(completion: JsonObject, wanted: Mapping[str, str]) -> bool:
    if wanted.get("model", completion["model"]) != completion["model"]:
        return False
    metadata = completion["metadata"]
    held = metadata if isinstance(metadata, dict) else {}
    filters = (
        (match[1], value) for name, value in wanted.items() if (match := _FILTER.fullmatch(name))
    )
    return all(held.get(key) == value for key, value in filters)


def _messages(named: str, memory: Memory) -> Iterator[JsonObject]:
    for position, message in enumerate(memory.conversations.get(named, ())):
        content = message.get("content")
        parts = content if isinstance(content, list) else None
        yield {
            "name": None,
            **message,
            "id": f"{named}-{position}",
            "content": None if parts else content,
            "content_parts": parts,
        }


def _change(request: HttpRequest, named: str, memory: Memory) -> None:
    body = request_body(request)
    if "metadata" not in body:
        raise missing("metadata")
    memory.responses[named] = {**memory.responses[named], "metadata": body["metadata"] or {}}
