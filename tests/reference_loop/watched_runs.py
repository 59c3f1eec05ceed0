"""Runs over real SDK clients that somebody watches, with a clock that only goes when told to."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

import httpx2
from sdk_replies import Answer, Service, data_only

from loopcheck.reference_loop import Clock, LoopTool, ToolFailure
from loopcheck.reference_loop.adapters.chat import ChatAdapter
from loopcheck.reference_loop.arguments import JsonObject
from loopcheck.reference_loop.telemetry.events import RunEvent

SCHEMA: JsonObject = {
    "type": "object",
    "properties": {"n": {"type": "integer"}, "note": {"type": "string"}},
    "required": ["n"],
    "additionalProperties": False,
}


@dataclass
class Time:
    """The seconds that have passed: what happens says how long it took."""

    now: float = 0.0

    def running(self) -> float:
        return self.now

    def wall(self) -> float:
        return 1000.0 + self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds

    def clock(self) -> Clock:
        return Clock(wall=self.wall, running=self.running, sleep=self.sleep)


@dataclass
class Slow(Service):
    """A service whose answers take a second each."""

    time: Time = field(default_factory=Time)
    sizes: list[int] = field(default_factory=list)

    def handle(self, request: httpx2.Request) -> httpx2.Response:
        self.time.now += 1.0
        self.sizes.append(len(request.content))
        response = super().handle(request)
        if response.headers["content-type"] != "text/event-stream":
            return response
        # As from a connection: what was given as content was never received.
        body = httpx2.ByteStream(response.content)
        return httpx2.Response(200, headers=response.headers, stream=body)

    def chat(self, *, stream: bool = True) -> ChatAdapter:
        return ChatAdapter(client=self.openai(), model="gpt-4o", stream=stream)


@dataclass
class Seen:
    """Remembers what it was told."""

    events: list[RunEvent] = field(default_factory=list)

    def __call__(self, event: RunEvent) -> None:
        self.events.append(event)

    def of(self, *kinds: type[RunEvent]) -> list[RunEvent]:
        return [event for event in self.events if isinstance(event, kinds)]


@dataclass
class Tools:
    """`look` reads in two seconds and fails at first, `book` writes in three."""

    time: Time
    failures: list[Exception] = field(default_factory=list)
    result: str = "done"

    def both(self) -> list[LoopTool]:
        look = LoopTool(
            name="look", description="", parameters=SCHEMA, kind="read", invoke=self.look
        )
        book = LoopTool(
            name="book",
            description="",
            parameters=SCHEMA,
            kind="write",
            invoke=self.book,
            operation=("n",),
        )
        return [look, book]

    async def look(self, arguments: JsonObject, *, call_id: str, operation_id: str | None) -> str:
        self.time.now += 2.0
        if self.failures:
            raise self.failures.pop(0)
        return self.result

    async def book(self, arguments: JsonObject, *, call_id: str, operation_id: str | None) -> str:
        self.time.now += 3.0
        return self.result


BUSY = ToolFailure("busy", "Later.", retryable=True)


def calls(*wanted: tuple[str, str, str], usage: tuple[int, int] = (10, 5)) -> JsonObject:
    """A whole completion with these calls: id, name, arguments."""
    entries = [
        {"id": call_id, "type": "function", "function": {"name": name, "arguments": text}}
        for call_id, name, text in wanted
    ]
    return completion({"content": None, "tool_calls": entries}, "tool_calls", usage)


def final(text: str) -> JsonObject:
    return completion({"content": text}, "stop", (20, 3))


def completion(message: JsonObject, finish: str, usage: tuple[int, int]) -> JsonObject:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    return {"id": f"chatcmpl-{finish}", "choices": [choice], "usage": counts(usage)}


def counts(usage: tuple[int, int]) -> JsonObject:
    return {"prompt_tokens": usage[0], "completion_tokens": usage[1]}


def streamed(whole: JsonObject) -> str:
    """The same completion as a stream of two chunks."""
    [choice] = cast("list[JsonObject]", whole["choices"])
    message = cast("JsonObject", choice["message"])
    entries = cast("Sequence[JsonObject]", message.get("tool_calls", ()))
    numbered = [{"index": index, **entry} for index, entry in enumerate(entries)]
    delta = {**message, **({"tool_calls": numbered} if entries else {})}
    end = {"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}
    return data_only(
        {"id": whole["id"], "choices": [{"index": 0, "delta": delta}]},
        {"id": whole["id"], "choices": [end], "usage": whole["usage"]},
    )


def failure(status: int, message: str = "No.", **headers: str) -> httpx2.Response:
    body = json.dumps({"error": {"message": message, "type": "server_error"}})
    return httpx2.Response(
        status,
        headers={"content-type": "application/json", **headers},
        stream=httpx2.ByteStream(body.encode()),
    )


def service(time: Time, *answers: Answer) -> Slow:
    return Slow(list(answers), time=time)
