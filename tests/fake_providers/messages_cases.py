"""Requests for the tests of the Messages rules, and what the rules say about them."""

from __future__ import annotations

from typing import TypeAlias

from sample_answers import PROMPT, VERSION, read, refusals

from loopcheck.fake_providers.dialects import Memory
from loopcheck.fake_providers.dialects.messages import DIALECT
from loopcheck.fake_providers.wire import JsonObject, ServiceError

# A rule, where the refusal points, its words, a request that breaks it, and one that just does not.
Case: TypeAlias = tuple[str, str | None, str, JsonObject, JsonObject]

USER: JsonObject = {"role": "user", "content": PROMPT}
TOOL: JsonObject = {"name": "f", "input_schema": {"type": "object"}}
OLD = {"anthropic-version": "2023-06-01"}


def text(said: str) -> JsonObject:
    return {"type": "text", "text": said}


def use(call_id: str, **fields: object) -> JsonObject:
    return {"type": "tool_use", "id": call_id, "name": "f", "input": {}, **fields}


def result(call_id: str, **fields: object) -> JsonObject:
    return {"type": "tool_result", "tool_use_id": call_id, "content": "ok", **fields}


def search(call_id: str) -> JsonObject:
    return {"type": "server_tool_use", "id": call_id, "name": "web_search", "input": {}}


def found(call_id: str, kind: str = "web_search_tool_result", content: object = ()) -> JsonObject:
    return {"type": kind, "tool_use_id": call_id, "content": content}


def said(*blocks: JsonObject) -> JsonObject:
    return {"role": "assistant", "content": list(blocks)}


def user(*blocks: JsonObject) -> JsonObject:
    return {"role": "user", "content": list(blocks)}


def asks(*messages: JsonObject, **fields: object) -> JsonObject:
    tools = [TOOL, {"type": "web_search_20250305", "name": "web_search"}]
    return {"model": "m", "max_tokens": 9999, "messages": list(messages), "tools": tools, **fields}


def calls(*ids: str) -> JsonObject:
    return said(*(use(call_id) for call_id in ids))


def answers(*ids: str) -> JsonObject:
    return user(*(result(call_id) for call_id in ids))


def judged(
    body: JsonObject, memory: Memory | None = None, headers: dict[str, str] = VERSION
) -> list[tuple[str, ServiceError]]:
    """What all rules say that are on, together with those whose evidence is weak; save M17."""
    weak = [rule.id for rule in DIALECT.rules if rule.id not in ("M17", "M38-organization")]
    return refusals(read("messages", body, headers=headers), memory, on=weak)


def check(case: Case) -> None:
    """Fails where the one request is not refused exactly so, or the other one is refused."""
    rule, param, message, broken, fine = case
    found = dict(judged(broken))
    assert rule in found
    assert (found[rule].param, found[rule].message) == (param, message)
    body = DIALECT.error_body(found[rule], "req_1")
    error = {"type": "invalid_request_error", "message": message}
    assert (found[rule].status, body) == (
        400,
        {"type": "error", "error": error, "request_id": "req_1"},
    )
    assert judged(fine) == []
