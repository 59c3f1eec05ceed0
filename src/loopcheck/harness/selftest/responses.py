"""Responses without stored state, as a loop without an SDK speaks it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from loopcheck.fake_providers.wire import JsonObject
from loopcheck.harness.selftest.exchange import ServiceFailure, objects, text, written
from loopcheck.harness.selftest.voices import Call, End, Reply, Result
from loopcheck.harness.task import Task


class Responses:
    """Speaks Responses; every item goes back as it came."""

    path = "/responses"

    def headers(self, key: str) -> Mapping[str, str]:
        return {"authorization": f"Bearer {key}"}

    def body(self, task: Task, history: list[JsonObject]) -> JsonObject:
        tools = [
            {"type": "function", "name": spec.name, "parameters": spec.parameters, "strict": False}
            for spec in task.specs
        ]
        offer = {"tools": tools} if tools else {}
        return {"model": task.model, "input": history, "stream": task.stream, **offer}

    def assembled(self, events: Iterable[JsonObject]) -> JsonObject:
        for event in events:
            kind, response = text(event, "type"), event.get("response")
            if kind in ("response.completed", "response.incomplete") and isinstance(response, dict):
                return response
            if kind == "response.failed":
                raise ServiceFailure("the response failed")
        raise ServiceFailure("no response.completed")

    def reply(self, body: JsonObject) -> Reply:
        if text(body, "status") == "failed":
            raise ServiceFailure("the response failed")
        items = objects(body, "output")
        calls = [
            Call(text(item, "call_id"), text(item, "name"), written(item, "arguments"))
            for item in items
            if item.get("type") == "function_call"
        ]
        parts = [part for item in items for part in objects(item, "content")]
        refusal = "".join(text(part, "refusal") for part in parts)
        end: End = "whole" if text(body, "status") == "completed" else "cut"
        if any(part.get("type") == "refusal" for part in parts):
            return Reply(calls, refusal, "refused", items)
        return Reply(calls, "".join(text(part, "text") for part in parts), end, items)

    def said(self, reply: Reply, calls: list[Call]) -> list[JsonObject]:
        left = list(calls)
        items = []
        for piece in reply.pieces:
            if piece.get("type") != "function_call":
                items.append(piece)
            elif left:
                items.append(_wire(piece, left.pop(0)))
        return items

    def answers(self, results: list[Result]) -> list[JsonObject]:
        return [
            {"type": "function_call_output", "call_id": result.call_id, "output": result.text}
            for result in results
        ]


def _wire(piece: JsonObject, call: Call) -> JsonObject:
    return {**piece, "call_id": call.call_id, "name": call.tool, "arguments": call.arguments}
