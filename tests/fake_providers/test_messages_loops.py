"""Loops that carry everything as it came break no rule, whatever the service answered."""

from __future__ import annotations

import json
from dataclasses import replace

import anthropic
import httpx2
import pytest
from anthropic import beta_tool
from hypothesis import given, settings
from hypothesis import strategies as st
from messages_cases import TOOL, USER, answers, asks, text, user
from sample_answers import (
    PROMPT,
    SEAT,
    VERSION,
    answer,
    call,
    hosted,
    objects,
    read,
    refusals,
    rich_contents,
    thought,
)

from loopcheck.fake_providers.dialects import Memory
from loopcheck.fake_providers.dialects.messages import DIALECT
from loopcheck.fake_providers.provider import Provider, nothing
from loopcheck.fake_providers.script import Refuse, Say, Script, Stop, Turn
from loopcheck.fake_providers.script import answer as said
from loopcheck.fake_providers.wire import (
    HttpRequest,
    IssuedCall,
    IssuedHosted,
    IssuedThought,
    JsonObject,
    Piece,
    Reading,
)

MODELS = ["claude-sonnet-4-6", "claude-sonnet-4-5", "claude-opus-5-5", "m"]
THINKING: list[JsonObject | None] = [
    None,
    {"type": "enabled", "budget_tokens": 1024},
    {"type": "adaptive"},
    {"type": "disabled"},
]
argument_objects = objects.map(lambda value: json.dumps(value, ensure_ascii=False))
turns = st.lists(rich_contents(arguments=argument_objects).filter(len), min_size=1, max_size=3)


def numbered(pieces: list[Piece], turn: int) -> list[Piece]:
    """The same with ids and seals of this turn's own, as a run has them."""
    own: list[Piece] = []
    for place, piece in enumerate(pieces):
        match piece:
            case IssuedCall() | IssuedHosted():
                own.append(replace(piece, call_id=f"{piece.call_id}_{turn}"))
            case IssuedThought():
                name = f"{turn}.{place}"
                own.append(thought(name, piece.text, redacted=piece.redacted))
            case Say() | Refuse():
                own.append(piece)
    return own


@given(turns, st.sampled_from(MODELS), st.sampled_from(THINKING), st.booleans())
@settings(max_examples=60)
def test_what_was_issued_may_be_sent_back(
    contents: list[list[Piece]], model: str, thinking: JsonObject | None, threaded: bool
) -> None:
    memory = Memory()
    fields: JsonObject = {"model": model, "thinking": thinking}
    body = asks(USER, **fields, **({"thread": {"type": "create"}} if threaded else {}))
    for number, pieces in enumerate(contents):
        got = read("messages", body, memory)
        assert refusals(got, memory) == []
        issued = answer(numbered(pieces, number), to=got, response_id=f"msg_{number}")
        DIALECT.remember(issued, memory)
        made = [piece.call_id for piece in issued.calls]
        reply: list[JsonObject] = [answers(*made)] if made else [user(text("Go on."))]
        content = DIALECT.whole(issued)["content"]
        if not content:
            return
        if threaded:
            thread = {"type": "continue", "previous_message_id": f"msg_{number}"}
            body = {**body, "messages": reply, "thread": thread}
        else:
            back = {"role": "assistant", "content": content}
            body = {**body, "messages": [*got.history, back, *reply]}
    assert refusals(read("messages", body, memory), memory) == []


@pytest.mark.parametrize("threaded", [True, False])
def test_the_official_tool_runner_breaks_no_rule(threaded: bool) -> None:
    memory = Memory()
    contents: list[list[Piece]] = [
        [thought("a", "I look."), hosted("look")],
        [thought("b", redacted=True), hosted("found", result="Free", of="look")],
        [thought("c", "Book it."), call("book", SEAT)],
        [Say("Seat 12 is yours.")],
    ]
    stops: list[Stop] = ["pause", "pause", "calls", "end"]
    asked: list[Reading] = []

    def respond(request: httpx2.Request) -> httpx2.Response:
        headers = {name.lower(): value for name, value in request.headers.items()}
        got = read("messages", json.loads(request.content), memory, headers)
        assert DIALECT.authenticate(headers) == "test"
        assert refusals(got, memory) == []
        number = len(asked)
        asked.append(got)
        reply = answer(contents[number], to=got, stop=stops[number], response_id=f"msg_{number}")
        DIALECT.remember(reply, memory)
        return httpx2.Response(200, json=DIALECT.whole(reply))

    @beta_tool
    def reserve_seat(event: str, seat: int) -> str:
        """Reserves a seat.

        Args:
            event: The event.
            seat: The seat.
        """
        return f"{event} {seat}"

    http = httpx2.Client(transport=httpx2.MockTransport(respond))
    with anthropic.Anthropic(api_key="test", http_client=http) as sdk:
        final = sdk.beta.messages.tool_runner(
            model="claude-sonnet-4-6",
            max_tokens=9999,
            thinking={"type": "enabled", "budget_tokens": 1024},
            tools=[reserve_seat],
            messages=[{"role": "user", "content": PROMPT}],
            thread=None if threaded else False,
        ).until_done()
    assert final.content[0].model_dump()["text"] == "Seat 12 is yours."
    last = asked[-1]
    assert (last.previous, "tools" in last.body) == (("msg_2", False) if threaded else (None, True))
    assert last.tools == asked[0].tools
    stored = "stored" if threaded else "sent"
    kinds = ["user", "think", "other", "think", "other", "think", "call", "result"]
    assert [item.kind for item in last.items] == kinds
    assert [item.origin for item in last.items] == [*[stored] * 7, "sent"]
    assert last.items[-1].text == "E1 12"


def provider(*, off: str | None = None, on: str | None = None) -> Provider:
    end = Turn(number=1, attempts=(said([Say("Done.")]),))
    script = Script(turns=(end,), otherwise=(end,), prompt=None)
    return Provider(
        script=script,
        dialect="messages",
        mode="whole",
        seed=1,
        record=nothing,
        off=frozenset([off] if off else []),
        on=frozenset([on] if on else []),
    )


@pytest.mark.parametrize(
    ("rule", "body"),
    [
        ("M27", {"model": "m", "messages": [USER]}),
        ("M-types", asks(USER, max_tokens="9")),
        ("M-role", asks(USER, {"role": "tool", "content": "x"})),
        ("M-empty", asks()),
        ("M20", asks(USER, tools=[{**TOOL, "input_schema": {}}])),
        ("M38-not-found", asks(USER, thread={"type": "continue", "previous_message_id": "x"})),
    ],
)
def test_rules_about_the_form_can_be_switched_off(rule: str, body: JsonObject) -> None:
    request = HttpRequest(
        method="POST",
        path="/v1/messages",
        headers={**VERSION, "x-api-key": "k"},
        body=json.dumps(body).encode(),
    )
    assert provider().handle(request).status in (400, 404)
    assert provider(off=rule).handle(request).status == 200


def test_rules_of_weak_evidence_can_be_switched_on() -> None:
    request = HttpRequest(
        method="POST",
        path="/v1/messages",
        headers={**VERSION, "authorization": "Bearer k"},
        body=json.dumps(asks(USER, temperature=1)).encode(),
    )
    assert provider().handle(request).status == 200
    assert provider(on="M31").handle(request).status == 400
    older = HttpRequest(
        method="POST",
        path="/v1/messages",
        headers={"anthropic-version": "2023-06-01", "x-api-key": "k"},
        body=request.body,
    )
    assert provider(on="M31").handle(older).status == 200
