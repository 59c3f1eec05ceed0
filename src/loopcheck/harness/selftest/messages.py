"""Messages, as a loop without an SDK speaks it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Final

from loopcheck.fake_providers.wire import JsonObject
from loopcheck.harness.selftest.exchange import ServiceFailure, objects, text
from loopcheck.harness.selftest.voices import Call, End, Reply, Result
from loopcheck.harness.task import Task

_DELTAS: Final = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
}
_TEXT: Final = "_arguments"
_ENDS: Final[dict[str, End]] = {
    "end_turn": "whole",
    "tool_use": "whole",
    "pause_turn": "paused",
    "refusal": "refused",
}


class Messages:
    """Speaks Messages; every block goes back as it came."""

    path = "/v1/messages"

    def headers(self, key: str) -> Mapping[str, str]:
        return {"x-api-key": key, "anthropic-version": "2023-06-01"}

    def body(self, task: Task, history: list[JsonObject]) -> JsonObject:
        tools = [{"name": spec.name, "input_schema": spec.parameters} for spec in task.specs]
        body = {"model": task.model, "max_tokens": 4096, "messages": history}
        return {**body, "stream": task.stream, **({"tools": tools} if tools else {})}

    def assembled(self, events: Iterable[JsonObject]) -> JsonObject:
        blocks: dict[object, JsonObject] = {}
        stop: str | None = None
        for event in events:
            kind, delta = text(event, "type"), event.get("delta")
            block = blocks.get(event.get("index"), {})
            if kind == "content_block_start" and isinstance(event["content_block"], dict):
                blocks[event["index"]] = dict(event["content_block"])
            elif kind == "content_block_delta":
                name = _DELTAS.get(text(delta, "type"), _TEXT)
                block[name] = text(block, name) + text(delta, _WIRE.get(name, name))
            elif kind == "message_delta":
                stop = text(delta, "stop_reason")
            elif kind == "message_stop" and stop:
                return {"content": list(blocks.values()), "stop_reason": stop}
        raise ServiceFailure("no message_stop")

    def reply(self, body: JsonObject) -> Reply:
        blocks = objects(body, "content")
        calls = [
            Call(text(block, "id"), text(block, "name"), _arguments(block))
            for block in blocks
            if block.get("type") == "tool_use"
        ]
        said = "".join(text(block, "text") for block in blocks)
        end = _ENDS.get(text(body, "stop_reason"), "cut")
        return Reply(calls, said, end, [_piece(block) for block in blocks])

    def said(self, reply: Reply, calls: list[Call]) -> list[JsonObject]:
        left = list(calls)
        content = []
        for piece in reply.pieces:
            if piece.get("type") != "tool_use":
                content.append(piece)
            elif left:
                content.append(_wire(piece, left.pop(0)))
        return [{"role": "assistant", "content": content}]

    def answers(self, results: list[Result]) -> list[JsonObject]:
        blocks = [
            {"type": "tool_result", "tool_use_id": result.call_id, "content": result.text}
            for result in results
        ]
        return [{"role": "user", "content": blocks}]


_WIRE: Final = {_TEXT: "partial_json"}


def _arguments(block: JsonObject) -> str:
    """The text of the arguments: as it was streamed, else that of the object."""
    return text(block, _TEXT) or json.dumps(block.get("input"))


def _piece(block: JsonObject) -> JsonObject:
    """A block as it goes back, with the arguments of the service's own calls in their place."""
    piece = {name: value for name, value in block.items() if name != _TEXT}
    if piece.get("type") == "server_tool_use" and _TEXT in block:
        piece["input"] = json.loads(text(block, _TEXT))
    return piece


def _wire(piece: JsonObject, call: Call) -> JsonObject:
    try:
        given: object = json.loads(call.arguments)
    except ValueError:
        given = None
    named = {**piece, "id": call.call_id, "name": call.tool}
    return {**named, "input": given if isinstance(given, dict) else {}}
