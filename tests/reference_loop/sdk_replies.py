"""Real SDK clients over a scripted transport: each request takes the next answer."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field

import httpx2
from anthropic import AsyncAnthropic
from openai import AsyncOpenAI

JsonObject = dict[str, object]


@dataclass(frozen=True)
class Cut:
    """A streamed body after which the connection breaks."""

    body: str


class _Broken(httpx2.AsyncByteStream):
    def __init__(self, body: str) -> None:
        self._body = body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._body.encode()
        raise httpx2.ReadError("connection reset")


Answer = str | Cut | Mapping[str, object] | httpx2.Response | Exception


@dataclass
class Service:
    """Answers requests in order and keeps their bodies. Text is an event stream."""

    answers: list[Answer]
    requests: list[JsonObject] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    retries: int = 0

    def handle(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(json.loads(request.content or "{}"))
        self.paths.append(f"{request.method} {request.url.path}")
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, httpx2.Response):
            return answer
        if isinstance(answer, Mapping):
            return httpx2.Response(200, json=dict(answer))
        headers = {"content-type": "text/event-stream"}
        if isinstance(answer, Cut):
            return httpx2.Response(200, headers=headers, stream=_Broken(answer.body))
        return httpx2.Response(200, headers=headers, content=answer.encode())

    def openai(self) -> AsyncOpenAI:
        return AsyncOpenAI(
            base_url="http://fake.invalid/v1",
            api_key="sk-test",
            max_retries=self.retries,
            http_client=httpx2.AsyncClient(transport=httpx2.MockTransport(self.handle)),
        )

    def anthropic(self) -> AsyncAnthropic:
        return AsyncAnthropic(
            base_url="http://fake.invalid",
            api_key="sk-test",
            max_retries=self.retries,
            http_client=httpx2.AsyncClient(transport=httpx2.MockTransport(self.handle)),
        )


def data_only(*events: object, done: bool = True) -> str:
    """Frames as Chat Completions sends them."""
    frames = "".join(f"data: {json.dumps(event)}\n\n" for event in events)
    return frames + ("data: [DONE]\n\n" if done else "")


def typed(*events: Mapping[str, object]) -> str:
    """Frames as Responses and Messages send them."""
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)


def history(request: JsonObject, key: str) -> Sequence[object]:
    found = request[key]
    assert isinstance(found, list)
    return found
