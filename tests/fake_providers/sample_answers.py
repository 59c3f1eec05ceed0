"""Answers for the tests of this room: one written by hand, and any that Hypothesis finds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from hypothesis import strategies as st

from loopcheck.fake_providers.dialects import Memory, dialect
from loopcheck.fake_providers.ids import digest
from loopcheck.fake_providers.script import Delivery, DialectName, Refuse, Say, Stop, Usage
from loopcheck.fake_providers.wire import Answer, HttpRequest, IssuedCall, JsonObject, Piece

PROMPT: Final = "Book a seat for the event E1."
SEAT: Final = '{"event":"E1","seat":12}'
MAIL: Final = '{"to":"zoë@example.org","text":"Seat \\u0031\\u0032 — done 🎉"}'

_BODIES: Final[dict[DialectName, JsonObject]] = {
    "chat": {"model": "gpt-5", "messages": [{"role": "user", "content": PROMPT}]},
    "responses": {"model": "gpt-5", "input": PROMPT},
    "messages": {
        "model": "claude-sonnet-5",
        "max_tokens": 1024,
        "messages": [{"role": "user", "content": PROMPT}],
    },
}
_PATHS: Final[dict[DialectName, str]] = {
    "chat": "/chat/completions",
    "responses": "/responses",
    "messages": "/v1/messages",
}


def call(label: str, arguments: str, *, tool: str = "reserve_seat") -> IssuedCall:
    return IssuedCall(
        label=label,
        tool=tool,
        arguments=arguments,
        call_id=f"toolu_{label}",
        item_id=f"fc_{label}",
    )


def answer(
    content: Sequence[Piece],
    *,
    stop: Stop = "calls",
    usage: Usage | None = None,
    speaks: DialectName = "messages",
    **fields: object,
) -> Answer:
    """These pieces as the answer to the shortest request; `fields` are added to its body."""
    spoken = dialect(speaks)
    request = HttpRequest(
        method="POST",
        path=_PATHS[speaks],
        headers={"anthropic-version": "2026-10-21"},
        body=json.dumps({**_BODIES[speaks], "stream": True, **fields}).encode(),
    )
    reading = spoken.read(request, Memory())
    return Answer(
        response_id=spoken.response_id(digest(1, "response")),
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
            pieces.append(draw(st.sampled_from([Say, Refuse]))(draw(_texts)))
    return pieces


@st.composite
def deliveries(draw: st.DrawFn) -> Delivery:
    """Any lossless delivery."""
    return Delivery(
        fragments=draw(st.sampled_from(["whole", "char", "seeded", "escapes"]) | st.integers(1, 9)),
        interleave=draw(
            st.booleans()
            | st.just("seeded")
            | st.lists(st.sampled_from(["call0", "call1", "call2"])).map(tuple)
        ),
        segments=draw(
            st.sampled_from(["frame", "all", "byte", "seeded", "utf8", "crlf"]) | st.integers(1, 40)
        ),
        newline=draw(st.sampled_from(["lf", "crlf"])),
        comments=draw(st.integers(0, 3)),
        pings=draw(st.integers(0, 3)),
        data_lines=draw(st.integers(1, 4)),
        space=draw(st.booleans()),
    )
