"""A service that keeps conversations, in both protocols that have such a thing.

It answers by what is in the conversation, whoever keeps it, and refuses what its originals refuse:
an unknown response, one that was continued before (a thread's), and calls without their results.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, cast

import httpx2
from sdk_replies import JsonObject, Service, typed

Spoken = Literal["responses", "messages"]
Wanted = Sequence[tuple[str, str, JsonObject]]

# The turns of the script: calls as call id, tool, arguments.
TURNS: Sequence[Wanted] = (
    [("a", "look", {"n": 1}), ("b", "book", {"n": 1})],
    [("c", "book", {"n": 2})],
)


@dataclass
class Remembering(Service):
    """Keeps what it is told, and what it said."""

    answers: list[object] = field(default_factory=list)  # type: ignore[assignment]  # unused here
    spoken: Spoken = "responses"
    turns: Sequence[Wanted] = TURNS
    held: dict[str, list[JsonObject]] = field(default_factory=dict)
    continued: set[str] = field(default_factory=set)
    seen: list[list[JsonObject]] = field(default_factory=list)
    headers: list[str] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    threads: bool = True
    nameless: bool = False
    boundary: Callable[[], None] = lambda: None

    def handle(self, request: httpx2.Request) -> httpx2.Response:
        self.boundary()
        answer = self._answer(json.loads(request.content), request)
        self.boundary()
        return answer

    def _answer(self, body: JsonObject, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(body)
        self.headers.append(request.headers.get("anthropic-beta", ""))
        previous = self._previous(body)
        refusal = self._refusal(body, previous)
        if refusal:
            self.refusals.append(refusal)
            return _refused(self.spoken, refusal)
        sent = cast("list[JsonObject]", body["input" if self.spoken == "responses" else "messages"])
        whole = [*(self.held[previous] if previous else []), *sent]
        self.seen.append(whole)
        return self._turn(body, whole, previous)

    def _previous(self, body: JsonObject) -> str:
        thread = cast("JsonObject", body.get("thread") or {})
        return str(body.get("previous_response_id") or thread.get("previous_message_id") or "")

    def _refusal(self, body: JsonObject, previous: str) -> str:
        if body.get("thread") and not self.threads:
            return "thread_unsupported_request"
        if previous and previous not in self.held:
            return {
                "responses": "previous_response_not_found",
                "messages": "thread_not_found",
            }[self.spoken]
        if self.spoken == "messages" and previous in self.continued:
            return "thread_already_continued"
        return ""

    def _turn(self, body: JsonObject, whole: list[JsonObject], previous: str) -> httpx2.Response:
        said = _said(self.spoken, self.turns, whole)
        name = f"{'resp' if self.spoken == 'responses' else 'msg'}_{len(self.held) + 1}"
        kept = body.get("store") is True or body.get("thread") is not None
        if kept:
            mine = said if self.spoken == "responses" else [{"role": "assistant", "content": said}]
            self.held[name] = [*whole, *mine]
            self.continued |= {previous} - {""}
        form = {"responses": _response, "messages": _message}[self.spoken]
        answer = form("" if self.nameless else name, said)
        if body.get("stream"):
            stream = {"responses": _streamed_response, "messages": _streamed_message}[self.spoken]
            headers = {"content-type": "text/event-stream"}
            return httpx2.Response(200, headers=headers, content=stream(answer).encode())
        return httpx2.Response(200, json=answer)


def _refused(spoken: Spoken, code: str) -> httpx2.Response:
    status = 404 if code == "thread_not_found" else 400
    error: JsonObject = {"type": "invalid_request_error", "message": f"refused: {code}"}
    if spoken == "responses":
        error |= {"code": code, "param": "previous_response_id"}
    else:
        error["details"] = {"error_code": code}
    return httpx2.Response(status, json={"type": "error", "error": error})


def _said(spoken: Spoken, turns: Sequence[Wanted], whole: list[JsonObject]) -> list[JsonObject]:
    """What comes next in this conversation. Calls without a result are a mistake of the client."""
    asked, answered = _ids(whole)
    assert sorted(asked) == sorted(answered), f"calls {asked}, results {answered}"
    left, known = list(turns), len(asked)
    while left and known:
        known -= len(left.pop(0))
    if not left:
        text: JsonObject = {"type": "output_text", "text": "Done.", "annotations": []}
        if spoken == "messages":
            return [{"type": "text", "text": "Done."}]
        return [{"type": "message", "id": "m", "role": "assistant", "content": [text]}]
    return [_call(spoken, *wanted) for wanted in left[0]]


def _entries(item: JsonObject) -> list[JsonObject]:
    content = item.get("content")
    return cast("list[JsonObject]", content) if isinstance(content, list) else [item]


def _ids(whole: list[JsonObject]) -> tuple[list[str], list[str]]:
    """The ids of all calls and of all results."""
    found = [entry for item in whole for entry in _entries(item)]
    asked = [
        str(item.get("call_id", item.get("id")))
        for item in found
        if item.get("type") in ("function_call", "tool_use")
    ]
    answered = [
        str(item.get("call_id", item.get("tool_use_id")))
        for item in found
        if item.get("type") in ("function_call_output", "tool_result")
    ]
    return asked, answered


def _call(spoken: Spoken, call_id: str, tool: str, arguments: JsonObject) -> JsonObject:
    if spoken == "messages":
        return {"type": "tool_use", "id": call_id, "name": tool, "input": arguments}
    return {
        "type": "function_call",
        "id": f"fc_{call_id}",
        "call_id": call_id,
        "name": tool,
        "arguments": json.dumps(arguments),
    }


def _response(name: str, said: list[JsonObject]) -> JsonObject:
    return {"id": name, "status": "completed", "output": said}


def _message(name: str, said: list[JsonObject]) -> JsonObject:
    is_over = said[0]["type"] == "text"
    stop = "end_turn" if is_over else "tool_use"
    return {"id": name, "role": "assistant", "content": said, "stop_reason": stop}


def _streamed_response(answer: Mapping[str, object]) -> str:
    return typed({"type": "response.completed", "response": dict(answer)})


def _streamed_message(answer: Mapping[str, object]) -> str:
    blocks = cast("list[JsonObject]", answer["content"])
    events: list[JsonObject] = [
        {"type": "message_start", "message": {**answer, "content": [], "stop_reason": None}}
    ]
    for index, block in enumerate(blocks):
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        events.append({"type": "content_block_stop", "index": index})
    events.append({"type": "message_delta", "delta": {"stop_reason": answer["stop_reason"]}})
    return typed(*events, {"type": "message_stop"})
