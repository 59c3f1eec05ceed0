"""Requests, answers and event streams that the tests of both OpenAI dialects share."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Literal

import httpx2
import openai
import pytest
from hypothesis import strategies as st

import loopcheck
from loopcheck.fake_providers.delivery import wire_text
from loopcheck.fake_providers.dialects import Memory, dialect
from loopcheck.fake_providers.provider import NOTHING, Provider
from loopcheck.fake_providers.script import Refuse, Say, Script, Stop, Turn, Usage, answer
from loopcheck.fake_providers.wire import (
    Answer,
    Close,
    Fragment,
    Frame,
    HttpRequest,
    IssuedCall,
    IssuedHosted,
    IssuedThought,
    JsonObject,
    Open,
    Piece,
    Reading,
    ServiceError,
    Step,
)

OpenAIName = Literal["chat", "responses"]
Form = Literal["function", "custom"]
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


def refusal(
    name: OpenAIName, body: object, memory: Memory | None = None, *, on: Collection[str] = ()
) -> ServiceError:
    """The error that this request gets."""
    with pytest.raises(ServiceError) as caught:
        judged(name, body, memory, on=on)
    return caught.value


def error(
    rule: str, message: str, param: str | None, code: str | None = None, status: int = 400
) -> ServiceError:
    """The refusal of a request that breaks this rule."""
    return ServiceError(
        status=status,
        type="invalid_request_error",
        message=message,
        param=param,
        code=code,
        rule=rule,
    )


def judged(
    name: OpenAIName, body: object, memory: Memory | None = None, *, on: Collection[str] = ()
) -> Reading:
    """The request, read and held to the rules of the dialect, as the provider does: to those
    with good evidence, and to those in `on`."""
    memory = Memory() if memory is None else memory
    reading = read(name, body, memory)
    for rule in dialect(name).rules:
        if rule.grade in ("D", "unsure") and rule.id not in on:
            continue
        broken = rule.check(reading.history, reading.body, memory)
        if broken is not None:
            assert broken.rule == rule.id
            raise broken
    return reading


def refused_by(
    name: OpenAIName,
    body: object,
    *,
    on: frozenset[str] = frozenset(),
    off: frozenset[str] = frozenset(),
    models: frozenset[str] = frozenset(),
) -> object:
    """The id of the rule by which a provider refuses this request, None where it does not."""
    refused: list[object] = []

    def record(kind: str, shared: Mapping[str, object] = NOTHING, /, **fields: object) -> int:
        if kind == "refused":
            refused.append(fields["rule"])
        return 0

    said = Turn(number=1, attempts=(answer([Say("Hi")]),))
    script = Script(turns=(said,), otherwise=(said,), prompt=None)
    provider = Provider(
        script=script,
        dialect=name,
        mode="whole",
        seed=0,
        record=record,
        on=on,
        off=off,
        models=models,
    )
    provider.handle(replace(post(name, body), headers={"authorization": "Bearer k"}))
    return refused[0] if refused else None


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
            spoken.item_id("say", _digest(n)) if isinstance(piece, Say | Refuse) else piece.item_id
            for n, piece in enumerate(content)
        ),
        model="gpt-4.1-2025-04-14",
        created=1_780_000_000,
        content=tuple(content),
        stop=stop,
        usage=Usage(input=31, output=17, reasoning=5),
        reading=read(name, question(name, **more)),
    )


def call(
    name: OpenAIName, label: str, tool: str, arguments: str, form: Form = "function"
) -> IssuedCall:
    spoken = dialect(name)
    return IssuedCall(
        label=label,
        tool=tool,
        arguments=arguments,
        call_id=spoken.call_id(label, _digest("call", label)),
        item_id=spoken.item_id("call" if form == "function" else "custom", _digest("item", label)),
        form=form,
    )


def thought(text: str, *, redacted: bool = False, number: int = 0) -> IssuedThought:
    """Reasoning as Responses sends it."""
    spoken = dialect("responses")
    mark = _digest("thought", number)
    return IssuedThought(
        text=text,
        redacted=redacted,
        item_id=spoken.item_id("think", mark),
        seal=spoken.seal(mark, redacted=redacted),
    )


def hosted(
    kind: str, arguments: str, result: object, *, name: str = "search", label: str = "hosted"
) -> IssuedHosted:
    """A call that Responses runs itself."""
    spoken = dialect("responses")
    return IssuedHosted(
        label=label,
        kind=kind,
        name=name,
        arguments=arguments,
        result=result,
        call_id=spoken.call_id(label, _digest("call", label)),
        item_id=spoken.item_id("hosted", _digest("item", label)),
    )


def in_order(content: Sequence[Piece], size: int) -> list[Step]:
    """Every piece after the other, in fragments of this size."""
    ordered: list[Step] = []
    for index, piece in enumerate(content):
        text = wire_text(piece)
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


_RESULTS = st.none() | st.text(max_size=9) | st.just({"error": "No such page."})
# What each kind of hosted call is asked, and what it finds.
HOSTED: dict[str, tuple[st.SearchStrategy[str], st.SearchStrategy[object]]] = {
    "web_search_call": (
        st.sampled_from(['{"query":"seats"}', '{"type":"open_page","url":"http://a.b"}', "{"]),
        st.none() | st.just([{"type": "url", "url": "http://a.b"}]),
    ),
    "file_search_call": (
        st.sampled_from(['{"query":"seats"}', '{"queries":["a","b"]}', "{}"]),
        st.none() | st.just([{"file_id": "file-1", "text": "Seat 12"}]),
    ),
    "code_interpreter_call": (
        _TEXTS,
        st.none() | st.just("4\n") | st.just([{"type": "logs", "logs": "4\n"}]) | st.just({"a": 1}),
    ),
    "image_generation_call": (st.just("{}"), st.none() | st.just("iVBORw0KGgo=")),
    "mcp_list_tools": (
        st.just("{}"),
        st.just([{"name": "seats", "input_schema": {"type": "object"}}])
        | st.just({"error": "No answer."}),
    ),
    "mcp_call": (_ARGUMENTS, _RESULTS),
    "mcp_approval_request": (_ARGUMENTS, st.none()),
    "tool_search_call": (st.just('{"paths":["book"]}'), st.none()),
    "tool_search_output": (st.just("{}"), st.just([RESPONSES_TOOL | {"strict": None}])),
    "program": (_TEXTS, st.none()),
    "program_output": (st.just("{}"), st.text(max_size=9)),
}


@st.composite
def _pieces(draw: st.DrawFn, name: OpenAIName, forms: Sequence[Form]) -> list[Piece]:
    """Anything that can be said, in any order."""
    kinds = ["say", "refuse", "call", "call"]
    kinds += ["think", "hosted"] if name == "responses" else []
    pieces: list[Piece] = []
    for number, kind in enumerate(draw(st.lists(st.sampled_from(kinds), max_size=5))):
        if kind == "call":
            form = draw(st.sampled_from(forms))
            pieces.append(call(name, f"call{number}", "book", draw(_ARGUMENTS), form))
        elif kind == "think":
            redacted = draw(st.booleans())
            pieces.append(thought(draw(_TEXTS), redacted=redacted, number=number))
        elif kind == "hosted":
            wanted = draw(st.sampled_from(sorted(HOSTED)))
            asked, found = (draw(strategy) for strategy in HOSTED[wanted])
            pieces.append(hosted(wanted, str(asked), found, label=f"hosted{number}"))
        else:
            text = draw(_TEXTS)
            pieces.append(Say(text) if kind == "say" else Refuse(text))
    return pieces


@st.composite
def streamed(
    draw: st.DrawFn, name: OpenAIName, forms: Sequence[Form] = ("function", "custom")
) -> Streamed:
    """Any answer in any fragments; the pieces interleave in any way."""
    options = {"include_usage": draw(st.booleans())} if name == "chat" else {}
    options["include_obfuscation"] = draw(st.booleans())
    answer = reply(
        name,
        draw(_pieces(name, forms)),
        draw(st.sampled_from(STOPS)),
        stream=True,
        stream_options=options,
    )
    counts = [draw(st.integers(0, 10**6)) for _ in range(3)]
    usage = Usage(input=counts[0], output=counts[1], reasoning=counts[2])
    answer = replace(answer, usage=usage)
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


def client(body: bytes, kind: str, *, strict: bool = True) -> openai.OpenAI:
    """The official SDK, talking to a service that always sends this body; it may be strict
    about what it gets."""

    def respond(_: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, content=body, headers={"content-type": kind})

    return openai.OpenAI(
        api_key="sk-test",
        base_url="http://fake.invalid/v1",
        max_retries=0,
        http_client=httpx2.Client(transport=httpx2.MockTransport(respond)),
        _strict_response_validation=strict,
    )


def streaming(frames: Sequence[Frame], *, strict: bool = True) -> openai.OpenAI:
    return client(sse(frames), "text/event-stream", strict=strict)


def answering(body: JsonObject) -> openai.OpenAI:
    return client(json.dumps(body).encode(), "application/json")


def at(value: object, *path: str | int) -> object:
    """What stands there in a JSON value."""
    for step in path:
        assert isinstance(value, dict | list)
        value = value[step]  # type: ignore[index]  # JSON: names in objects, numbers in lists
    return value


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
