"""Requests, answers and event streams that the tests of both OpenAI dialects share."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Literal

import httpx2
import openai
import pytest
from hypothesis import strategies as st

import loopcheck
from loopcheck.fake_providers.dialects import Memory, dialect
from loopcheck.fake_providers.script import Refuse, Say, Stop, Usage
from loopcheck.fake_providers.wire import (
    Answer,
    Close,
    Fragment,
    Frame,
    HttpRequest,
    IssuedCall,
    JsonObject,
    Open,
    Piece,
    Reading,
    ServiceError,
    Step,
)

OpenAIName = Literal["chat", "responses"]
PATHS = {"chat": "/v1/chat/completions", "responses": "/v1/responses"}
STOPS: tuple[Stop, ...] = ("end", "calls", "length", "filter", "refusal", "context", "pause")
CHAT_TOOL: JsonObject = {
    "type": "function",
    "function": {"name": "book", "parameters": {"type": "object", "properties": {}}},
}
RESPONSES_TOOL: JsonObject = {
    "type": "function",
    "name": "book",
    "parameters": {"type": "object", "properties": {}},
}


def post(name: OpenAIName, body: object) -> HttpRequest:
    return HttpRequest(method="POST", path=PATHS[name], body=json.dumps(body).encode())


def read(name: OpenAIName, body: object, memory: Memory | None = None) -> Reading:
    return dialect(name).read(post(name, body), memory or Memory())


def refusal(name: OpenAIName, body: object, memory: Memory | None = None) -> ServiceError:
    """The error that this request gets."""
    with pytest.raises(ServiceError) as caught:
        judged(name, body, memory or Memory())
    return caught.value


def judged(name: OpenAIName, body: object, memory: Memory | None = None) -> Reading:
    """The request, read and held to every rule of the dialect, as the provider does."""
    memory = memory or Memory()
    reading = read(name, body, memory)
    for rule in dialect(name).rules:
        broken = rule.check(reading.history, reading.body, memory)
        if broken is not None:
            assert broken.rule == rule.id
            raise broken
    return reading


def question(name: OpenAIName, **more: object) -> JsonObject:
    if name == "chat":
        return {"model": "gpt-4.1", "messages": [{"role": "user", "content": "Go."}], **more}
    return {"model": "gpt-4.1", "input": "Go.", **more}


def reply(name: OpenAIName, content: Sequence[Piece], stop: Stop = "end", **more: object) -> Answer:
    """An answer to a plain question, its ids made by the dialect."""
    spoken = dialect(name)
    return Answer(
        response_id=spoken.response_id(_digest("response")),
        item_ids=tuple(
            piece.item_id if isinstance(piece, IssuedCall) else spoken.item_id("say", _digest(n))
            for n, piece in enumerate(content)
        ),
        model="gpt-4.1-2025-04-14",
        created=1_780_000_000,
        content=tuple(content),
        stop=stop,
        usage=Usage(input=31, output=17, reasoning=5),
        reading=read(name, question(name, **more)),
    )


def call(name: OpenAIName, label: str, tool: str, arguments: str) -> IssuedCall:
    spoken = dialect(name)
    return IssuedCall(
        label=label,
        tool=tool,
        arguments=arguments,
        call_id=spoken.call_id(label, _digest("call", label)),
        item_id=spoken.item_id("call", _digest("item", label)),
    )


def in_order(content: Sequence[Piece], size: int) -> list[Step]:
    """Every piece after the other, in fragments of this size."""
    ordered: list[Step] = []
    for index, piece in enumerate(content):
        text = piece.arguments if isinstance(piece, IssuedCall) else piece.text
        ordered.append(Open(index))
        ordered += [Fragment(index, text[at : at + size]) for at in range(0, len(text), size)]
        ordered.append(Close(index))
    return ordered


@dataclass(frozen=True)
class Streamed:
    """An answer, and the order in which it is streamed."""

    answer: Answer
    steps: list[Step]


_TEXTS = st.text(max_size=20)
_ARGUMENTS = st.one_of(
    st.just(""),
    st.just("{}"),
    st.dictionaries(st.text(max_size=5), st.text(max_size=8), max_size=3).map(json.dumps),
    st.text(max_size=20),
)


@st.composite
def streamed(draw: st.DrawFn, name: OpenAIName) -> Streamed:
    """Any answer in any fragments; the pieces interleave in any way."""
    said = draw(st.lists(st.builds(Say, _TEXTS) | st.builds(Refuse, _TEXTS), max_size=2))
    written = draw(st.lists(_ARGUMENTS, max_size=3))
    calls = [call(name, f"call{n}", "book", text) for n, text in enumerate(written)]
    options = {"include_usage": draw(st.booleans())} if name == "chat" else {}
    options["include_obfuscation"] = draw(st.booleans())
    answer = reply(
        name,
        [*said, *calls],
        draw(st.sampled_from(STOPS)),
        stream=True,
        stream_options=options,
    )
    return Streamed(answer, draw(_interleaved(answer.content)))


@st.composite
def _interleaved(draw: st.DrawFn, content: Sequence[Piece]) -> list[Step]:
    """Pieces open in their order, as indices on the wire have to; the rest is any order."""
    size = draw(st.integers(1, 9))
    queues: dict[int, list[Step]] = {n: [] for n in range(len(content))}
    for step in in_order(content, size):
        queues[step.index].append(step)
    steps: list[Step] = []
    opened = 0
    while any(queues.values()):
        ready = [n for n, queue in queues.items() if queue and n <= opened]
        steps.append(queues[draw(st.sampled_from(ready))].pop(0))
        opened += isinstance(steps[-1], Open)
    return steps


def sse(frames: Sequence[Frame]) -> bytes:
    """The frames as server-sent events."""
    lines = []
    for frame in frames:
        data = frame.data if isinstance(frame.data, str) else json.dumps(frame.data)
        lines.append(f"event: {frame.event}\n" if frame.event else "")
        lines.append(f"data: {data}\n\n")
    return "".join(lines).encode()


def client(body: bytes, kind: str) -> openai.OpenAI:
    """The official SDK, talking to a service that always sends this body, and strict about it."""

    def respond(_: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, content=body, headers={"content-type": kind})

    return openai.OpenAI(
        api_key="sk-test",
        base_url="http://fake.invalid/v1",
        max_retries=0,
        http_client=httpx2.Client(transport=httpx2.MockTransport(respond)),
        _strict_response_validation=True,
    )


def streaming(frames: Sequence[Frame]) -> openai.OpenAI:
    return client(sse(frames), "text/event-stream")


def answering(body: JsonObject) -> openai.OpenAI:
    return client(json.dumps(body).encode(), "application/json")


def said(answer: Answer, kind: type[Say] | type[Refuse]) -> list[str]:
    return [piece.text for piece in answer.content if isinstance(piece, kind)]


def spoken_calls(answer: Answer) -> list[tuple[str, str, str]]:
    return [(piece.call_id, piece.tool, piece.arguments) for piece in answer.calls]


def specification(name: str) -> JsonObject:
    """A public OpenAPI document."""
    document: JsonObject = json.loads(material("specs", name).read_text(encoding="utf-8"))
    return document


def material(*parts: str) -> Path:
    """A path in the development material; skips the test where that is not at hand."""
    beside = Path(loopcheck.__file__).parents[3] / "shared"
    path = Path(os.environ.get("LOOPCHECK_SHARED", beside)).joinpath(*parts)
    if not path.exists():
        pytest.skip(f"there is no {path}; LOOPCHECK_SHARED says where the material is")
    return path


def lines(frames: Sequence[Frame], hide: Callable[[JsonObject], JsonObject]) -> str:
    """A stream as a reader wants to see it: one event a line, with what it is for us."""
    shown = []
    for frame in frames:
        data = frame.data if isinstance(frame.data, str) else json.dumps(hide(frame.data))
        mark = f"{frame.part} {frame.label or '-'}"
        shown.append(f"[{mark}] {frame.event or ''} {data}".replace("  ", " "))
    return "\n".join(shown) + "\n"


def _digest(*parts: object) -> str:
    return sha256(repr(parts).encode()).hexdigest()
