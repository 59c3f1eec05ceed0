"""Answers for the tests of this room: one written by hand, and any that Hypothesis finds."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import Final

from hypothesis import strategies as st

from loopcheck.fake_providers.dialects import Memory, dialect
from loopcheck.fake_providers.faults import Rendered, render
from loopcheck.fake_providers.ids import digest
from loopcheck.fake_providers.script import (
    Attempt,
    Delivery,
    DialectName,
    Fault,
    FaultKind,
    Fragments,
    Interleave,
    Mode,
    Place,
    Refuse,
    Say,
    Segments,
    Stop,
    Usage,
)
from loopcheck.fake_providers.wire import (
    Answer,
    HttpRequest,
    IssuedCall,
    IssuedHosted,
    IssuedThought,
    JsonObject,
    Piece,
    Reading,
    ServiceError,
)

PLAIN: Final = Delivery(fragments=9)
PROMPT: Final = "Book a seat for the event E1."
SEAT: Final = '{"event":"E1","seat":12}'
MAIL: Final = '{"to":"zoë@example.org","text":"Seat \\u0031\\u0032 — done 🎉"}'
VERSION: Final = {"anthropic-version": "2026-10-21"}

_FRAGMENTS: Final[list[Fragments]] = ["whole", "char", "seeded", "escapes", 1, 2, 3, 7]
_INTERLEAVE: Final[list[Interleave]] = [
    False,
    True,
    "seeded",
    ("call1", "call0", "call1"),
    ("call2", "call2", "call0", "call1"),
]
_SEGMENTS: Final[list[Segments]] = ["frame", "all", "byte", "seeded", "utf8", "crlf", 1, 2, 37]
_BODIES: Final[dict[DialectName, JsonObject]] = {
    "chat": {"model": "gpt-5", "messages": [{"role": "user", "content": PROMPT}]},
    "responses": {"model": "gpt-5", "input": PROMPT},
    "messages": {
        "model": "claude-sonnet-5",
        "max_tokens": 1024,
        "messages": [{"role": "user", "content": PROMPT}],
    },
}


def read(
    speaks: DialectName,
    body: object,
    memory: Memory | None = None,
    headers: dict[str, str] = VERSION,
) -> Reading:
    request = HttpRequest(method="POST", path="", headers=headers, body=json.dumps(body).encode())
    return dialect(speaks).read(request, Memory() if memory is None else memory)


def call(label: str, arguments: str, *, tool: str = "reserve_seat") -> IssuedCall:
    return IssuedCall(
        label=label,
        tool=tool,
        arguments=arguments,
        call_id=f"toolu_{label}",
        item_id=f"fc_{label}",
    )


def thought(name: str, text: str = "", *, redacted: bool = False) -> IssuedThought:
    """Thinking with the seal that this name gets."""
    seal = dialect("messages").seal(digest(1, name), redacted=redacted)
    return IssuedThought(text=text, redacted=redacted, item_id="", seal=seal)


def hosted(
    label: str,
    *,
    kind: str = "web_search",
    name: str | None = None,
    arguments: str = "{}",
    result: object = None,
    of: str | None = None,
) -> IssuedHosted:
    """A call that the service runs itself, or only its result."""
    return IssuedHosted(
        label=label,
        kind=kind,
        name=name or kind,
        arguments=arguments,
        result=result,
        call_id=f"toolu_{of or label}",
        item_id="",
        of=of,
    )


def refusals(
    reading: Reading, memory: Memory | None = None, *, on: Collection[str] = ()
) -> list[tuple[str, ServiceError]]:
    """Every rule that the request breaks; those of weak evidence only where they are named."""
    rules = [
        rule
        for rule in dialect(reading.dialect).rules
        if rule.grade not in ("D", "unsure") or rule.id in on
    ]
    broken = [
        (rule.id, rule.check(reading.history, reading.body, memory or Memory())) for rule in rules
    ]
    return [(name, error) for name, error in broken if error is not None]


def answer(
    content: Sequence[Piece],
    *,
    stop: Stop = "calls",
    usage: Usage | None = None,
    speaks: DialectName = "messages",
    to: Reading | None = None,
    response_id: str | None = None,
) -> Answer:
    """These pieces as the answer to a request, by default the shortest one."""
    spoken = dialect(speaks)
    reading = to or read(speaks, {**_BODIES[speaks], "stream": True})
    return Answer(
        response_id=response_id or spoken.response_id(digest(1, "response")),
        item_ids=tuple(f"item_{place}" for place in range(len(content))),
        model=reading.model,
        created=1_780_000_000,
        content=tuple(content),
        stop=stop,
        usage=usage or Usage(input=20, output=7),
        reading=reading,
    )


def two_calls(speaks: DialectName = "messages") -> Answer:
    """Text, then two calls; arguments with escapes and with characters of several bytes."""
    return answer(
        [Say("I will book it."), call("book", SEAT), call("mail", MAIL, tool="send_mail")],
        speaks=speaks,
    )


def rendered(
    fault: Fault | None = None,
    *,
    to: Answer | None = None,
    mode: Mode = "stream",
    how: Delivery = PLAIN,
    seed: int = 1,
) -> Rendered:
    """The response that carries this answer, or the two calls, and suffers this fault."""
    to = two_calls() if to is None else to
    spoken = dialect(to.reading.dialect)
    attempt = Attempt(stop=to.stop, fault=fault, delivery=how)
    return render(spoken, to, attempt, mode, seed=seed)


def body(response: Rendered) -> bytes:
    return b"".join(response.segments)


def undisturbed(to: Answer | None = None, how: Delivery = PLAIN) -> list[str]:
    """The text of every frame of the response when nothing goes wrong."""
    return list(rendered(to=to, how=how).frame_texts)


def cut(at: Place, kind: FaultKind = "eof", to: Answer | None = None) -> Rendered:
    """The stream that ends at this place."""
    return rendered(Fault(kind=kind, at=at), to=to)


_texts = st.text(max_size=30)
_json = st.recursive(
    st.none() | st.booleans() | st.integers() | _texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_texts, inner, max_size=3),
    max_leaves=6,
)
objects = st.dictionaries(_texts, _json, max_size=4)


@st.composite
def argument_texts(draw: st.DrawFn) -> str:
    value = draw(objects)
    return json.dumps(value, ensure_ascii=draw(st.booleans()))


@st.composite
def contents(draw: st.DrawFn, *, arguments: st.SearchStrategy[str]) -> list[Piece]:
    pieces: list[Piece] = []
    for place in range(draw(st.integers(0, 5))):
        if draw(st.booleans()):
            pieces.append(call(f"call{place}", draw(arguments)))
        else:
            text = draw(_texts)
            pieces.append(Say(text) if draw(st.booleans()) else Refuse(text))
    return pieces


_found: Final[list[tuple[str, object]]] = [
    ("web_search", "Sunny, 22 °C"),
    ("web_search", {"type": "web_search_tool_result_error", "error_code": "unavailable"}),
    ("code_execution", "42"),
    ("tool_search_tool_bm25", {"type": "tool_search_tool_search_result", "tool_references": []}),
    ("mcp", "Done."),
    ("mcp", {"is_error": True, "content": []}),
]


@st.composite
def hosted_calls(draw: st.DrawFn, *, label: str, arguments: str) -> list[Piece]:
    """A call of the service: not run yet, with its result, or with its result further on."""
    kind, result = draw(st.sampled_from(_found))
    how = draw(st.sampled_from(["waiting", "at once", "further on"]))
    now = result if how == "at once" else None
    pieces: list[Piece] = [hosted(label, kind=kind, arguments=arguments, result=now)]
    if how == "further on":
        pieces += [Say("Let me look."), hosted(f"{label}r", kind=kind, result=result, of=label)]
    return pieces


@st.composite
def rich_contents(draw: st.DrawFn, *, arguments: st.SearchStrategy[str]) -> list[Piece]:
    """Any mix of what the Messages service can answer."""
    pieces: list[Piece] = []
    for place in range(draw(st.integers(0, 5))):
        match draw(st.sampled_from(["said", "call", "think", "redacted", "hosted"])):
            case "said":
                text = draw(_texts)
                pieces.append(Say(text) if draw(st.booleans()) else Refuse(text))
            case "call":
                pieces.append(call(f"c{place}", draw(arguments)))
            case "hosted":
                pieces += draw(hosted_calls(label=f"h{place}", arguments=draw(arguments)))
            case how:
                text = "" if how == "redacted" else draw(_texts)
                pieces.append(thought(f"t{place}", text, redacted=how == "redacted"))
    return pieces


@st.composite
def deliveries(draw: st.DrawFn) -> Delivery:
    """Any lossless delivery."""
    return Delivery(
        fragments=draw(st.sampled_from(_FRAGMENTS)),
        interleave=draw(st.sampled_from(_INTERLEAVE)),
        segments=draw(st.sampled_from(_SEGMENTS)),
        newline="crlf" if draw(st.booleans()) else "lf",
        comments=draw(st.integers(0, 3)),
        pings=draw(st.integers(0, 3)),
        data_lines=draw(st.integers(1, 4)),
        space=draw(st.booleans()),
    )
