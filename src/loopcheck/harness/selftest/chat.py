"""Chat Completions, as a loop without an SDK speaks it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from loopcheck.fake_providers.wire import JsonObject
from loopcheck.harness.selftest.exchange import ServiceFailure, member, objects, text, written
from loopcheck.harness.selftest.voices import Call, End, Reply, Result
from loopcheck.harness.task import Task


class Chat:
    """Speaks Chat Completions."""

    path = "/chat/completions"

    def headers(self, key: str) -> Mapping[str, str]:
        return {"authorization": f"Bearer {key}"}

    def body(self, task: Task, history: list[JsonObject]) -> JsonObject:
        tools = [
            {"type": "function", "function": {"name": spec.name, "parameters": spec.parameters}}
            for spec in task.specs
        ]
        offer = {"tools": tools} if tools else {}
        return {"model": task.model, "messages": history, "stream": task.stream, **offer}

    def assembled(self, events: Iterable[JsonObject]) -> JsonObject:
        said, refusal, finish = "", "", ""
        calls: dict[object, dict[str, str]] = {}
        for event in events:
            for choice in objects(event, "choices"):
                said += text(choice, "delta", "content")
                refusal += text(choice, "delta", "refusal")
                finish = text(choice, "finish_reason") or finish
                for delta in objects(choice, "delta", "tool_calls"):
                    call = calls.setdefault(delta.get("index"), dict.fromkeys(_FIELDS, ""))
                    call["id"] += text(delta, "id")
                    call["name"] += text(delta, "function", "name")
                    call["arguments"] += written(delta, "function", "arguments")
        if not finish:
            raise ServiceFailure("no finish_reason")
        message = {
            "content": said or None,
            "refusal": refusal or None,
            "tool_calls": [
                _wire(Call(call["id"], call["name"], call["arguments"])) for call in calls.values()
            ],
        }
        return {"choices": [{"message": message, "finish_reason": finish}]}

    def reply(self, body: JsonObject) -> Reply:
        message = member(body, "choices", 0, "message")
        calls = [
            Call(
                text(call, "id"),
                text(call, "function", "name"),
                written(call, "function", "arguments"),
            )
            for call in objects(message, "tool_calls")
        ]
        finish = text(body, "choices", 0, "finish_reason")
        if text(message, "refusal"):
            return Reply(calls, text(message, "refusal"), "refused")
        end: End = "whole" if finish in ("stop", "tool_calls") else "cut"
        return Reply(calls, text(message, "content"), end)

    def said(self, reply: Reply, calls: list[Call]) -> list[JsonObject]:
        message: JsonObject = {"role": "assistant", "content": reply.text or None}
        return [{**message, "tool_calls": [_wire(call) for call in calls]} if calls else message]

    def answers(self, results: list[Result]) -> list[JsonObject]:
        return [
            {"role": "tool", "tool_call_id": result.call_id, "content": result.text}
            for result in results
        ]


_FIELDS = ("id", "name", "arguments")


def _wire(call: Call) -> JsonObject:
    function = {"name": call.tool, "arguments": call.arguments}
    return {"id": call.call_id, "type": "function", "function": function}
