"""Requests to improvising providers in all protocols, and their answers in neutral terms."""

from __future__ import annotations

import json
from collections.abc import Mapping

from loopcheck.fake_providers.auto import AutoProvider, NoValueError
from loopcheck.fake_providers.derive import derive
from loopcheck.fake_providers.record import recording_of
from loopcheck.fake_providers.recordings import Recording
from loopcheck.fake_providers.script import Attempt, DialectName
from loopcheck.fake_providers.wire import HttpRequest, JsonObject, Reply

PATHS: Mapping[DialectName, str] = {
    "chat": "/v1/chat/completions",
    "responses": "/v1/responses",
    "messages": "/v1/messages",
}
HEADERS = {"authorization": "Bearer sk-own", "anthropic-version": "2023-06-01"}
CITY: JsonObject = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}


def value(schema: JsonObject, seed: int) -> object:
    """A value for the schemas of these tests."""
    match schema:
        case {"properties": {"city": _}}:
            return {"city": f"City {seed % 1000}"}
        case {"type": "string"}:
            return "free text"
        case _:
            raise NoValueError("too hard")


def auto(name: DialectName, *, seed: int = 0, off: frozenset[str] = frozenset()) -> AutoProvider:
    return AutoProvider(name, values=value, seed=seed, off=off)


def tool(name: DialectName, label: str, schema: JsonObject = CITY) -> JsonObject:
    """The description of a function in this protocol."""
    match name:
        case "chat":
            return {"type": "function", "function": {"name": label, "parameters": schema}}
        case "responses":
            return {"type": "function", "name": label, "parameters": schema}
        case "messages":
            return {"name": label, "input_schema": schema}


def question(name: DialectName, words: str = "Hello there", /, **fields: object) -> JsonObject:
    """A request of one user message."""
    said = [{"role": "user", "content": words}]
    base: JsonObject = {"model": "gpt-4.1"}
    match name:
        case "chat":
            return {**base, "messages": said, **fields}
        case "responses":
            return {**base, "input": said, **fields}
        case "messages":
            return {"model": "claude-sonnet-4-6", "max_tokens": 1000, "messages": said, **fields}


def with_result(name: DialectName, body: JsonObject, attempt: Attempt) -> JsonObject:
    """The request that answers every call of this attempt with `rain`."""
    calls = [(call.wire_id, call.tool, call.arguments) for call in attempt.calls]
    match name:
        case "chat":
            made = [
                {"id": i, "type": "function", "function": {"name": n, "arguments": a}}
                for i, n, a in calls
            ]
            turn: list[JsonObject] = [{"role": "assistant", "content": None, "tool_calls": made}]
            turn += [{"role": "tool", "tool_call_id": i, "content": "rain"} for i, _, _ in calls]
        case "responses":
            turn = [
                {"type": "function_call", "call_id": i, "name": n, "arguments": a}
                for i, n, a in calls
            ]
            turn += [
                {"type": "function_call_output", "call_id": i, "output": "rain"}
                for i, _, _ in calls
            ]
        case "messages":
            uses = [
                {"type": "tool_use", "id": i, "name": n, "input": json.loads(a)}
                for i, n, a in calls
            ]
            results = [
                {"type": "tool_result", "tool_use_id": i, "content": "rain"} for i, _, _ in calls
            ]
            turn = [{"role": "assistant", "content": uses}, {"role": "user", "content": results}]
    key = "input" if name == "responses" else "messages"
    before = body[key]
    assert isinstance(before, list)
    return {**body, key: [*before, *turn]}


def post(name: DialectName, body: JsonObject) -> HttpRequest:
    return HttpRequest(
        method="POST", path=PATHS[name], headers=HEADERS, body=json.dumps(body).encode()
    )


def exchange(provider: AutoProvider, name: DialectName, body: JsonObject) -> Recording:
    """The request and its answer as a recording has them."""
    request = post(name, body)
    return recorded(request, provider.handle(request))


def recorded(request: HttpRequest, reply: Reply) -> Recording:
    body = b"".join(reply.segments)
    return recording_of("made", request, reply.status, dict(reply.headers), body)


def answered(name: DialectName, body: JsonObject, provider: AutoProvider | None = None) -> Attempt:
    """What a provider says to this request."""
    made = exchange(provider or auto(name), name, body)
    assert made.status == 200, made.body
    return derive(made)
