"""The provider end to end, without a socket: requests in, replies and journal entries out."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from loopcheck.fake_providers.provider import NOTHING, Provider
from loopcheck.fake_providers.script import (
    Attempt,
    Call,
    DialectName,
    Fault,
    Say,
    Script,
    Turn,
    answer,
)
from loopcheck.fake_providers.wire import HttpRequest, Reply

KEY = "sk-loopcheck-test"
PROMPT = "Book seat 12."
TOOL: dict[str, Any] = {"type": "object", "properties": {"seat": {"type": "integer"}}}
BOOK = Call(label="book", tool="reserve", arguments='{"seat":12}')
PATHS: dict[DialectName, str] = {
    "chat": "/v1/chat/completions",
    "responses": "/v1/responses",
    "messages": "/v1/messages",
}


@dataclass
class Book:
    """A journal for these tests."""

    entries: list[dict[str, Any]] = field(default_factory=list)

    def __call__(
        self, kind: str, shared: Mapping[str, object] = NOTHING, /, **fields: object
    ) -> int:
        self.entries.append({"kind": kind, **shared, **fields})
        return len(self.entries)

    def kinds(self) -> list[str]:
        return [entry["kind"] for entry in self.entries]

    def last(self, kind: str) -> dict[str, Any]:
        return [entry for entry in self.entries if entry["kind"] == kind][-1]


def script(*turns: Attempt | Sequence[Attempt]) -> Script:
    numbered = tuple(
        Turn(number=n, attempts=(t,) if isinstance(t, Attempt) else tuple(t))
        for n, t in enumerate(turns, 1)
    )
    beyond = Turn(number=0, attempts=(answer([Say("Finished.")]),))
    return Script(turns=numbered, otherwise=(beyond,), prompt=PROMPT, tools=("reserve",))


def provider(
    told: Script, dialect: DialectName = "chat", *, off: frozenset[str] = frozenset()
) -> tuple[Provider, Book]:
    book = Book()
    made = Provider(
        script=told, dialect=dialect, mode="whole", seed=0, record=book, api_key=KEY, off=off
    )
    return made, book


def tools_for(dialect: DialectName) -> list[dict[str, Any]]:
    if dialect == "chat":
        return [{"type": "function", "function": {"name": "reserve", "parameters": TOOL}}]
    if dialect == "responses":
        return [{"type": "function", "name": "reserve", "parameters": TOOL}]
    return [{"name": "reserve", "input_schema": TOOL}]


def post(dialect: DialectName, body: dict[str, Any], *, key: str | None = KEY) -> HttpRequest:
    headers = {"content-type": "application/json", "anthropic-version": "2026-10-21"}
    if key is not None:
        headers["authorization"] = f"Bearer {key}"
    return HttpRequest(
        method="POST", path=PATHS[dialect], headers=headers, body=json.dumps(body).encode()
    )


def chat(*messages: dict[str, Any], **more: object) -> HttpRequest:
    start = {"role": "user", "content": PROMPT}
    body = {"model": "gpt-4o", "messages": [start, *messages], "tools": tools_for("chat")}
    return post("chat", {**body, **more})


def body_of(reply: Reply) -> Any:
    return json.loads(b"".join(reply.segments))


def round_trip(reply: Reply, text: str = "ok") -> list[dict[str, Any]]:
    """The messages that a faithful chat client appends after this reply."""
    message = body_of(reply)["choices"][0]["message"]
    results = [
        {"role": "tool", "tool_call_id": call["id"], "content": text}
        for call in message["tool_calls"]
    ]
    return [message, *results]


def test_a_conversation_walks_through_the_turns() -> None:
    fake, book = provider(script(answer([BOOK]), answer([Say("Booked.")])))
    first = fake.handle(chat())
    second = fake.handle(chat(*round_trip(first)))
    assert body_of(second)["choices"][0]["message"]["content"] == "Booked."
    asked = [(e["turn"], e["attempt"]) for e in book.entries if e["kind"] == "request"]
    assert asked == [(1, 1), (2, 1)]
    assert book.last("request")["recognised"] == {"turn": 1, "by": "ids"}


def test_a_repeated_request_gets_the_next_attempt_and_fresh_ids() -> None:
    fake, book = provider(script(answer([BOOK])))
    one, two = body_of(fake.handle(chat())), body_of(fake.handle(chat()))
    ids = [r["choices"][0]["message"]["tool_calls"][0]["id"] for r in (one, two)]
    assert ids[0] != ids[1]
    assert book.last("request")["attempt"] == 2


def test_the_same_seed_gives_the_same_bytes() -> None:
    told = script(answer([BOOK]))
    one, two = (provider(told)[0].handle(chat()) for _ in range(2))
    assert one.segments == two.segments


def test_a_scripted_error_comes_first_and_then_the_answer() -> None:
    broken = Attempt(fault=Fault(kind="http", error="rate_limit", retry_after_ms=20))
    fake, book = provider(script([broken, answer([Say("Hello.")])]))
    limited, good = fake.handle(chat()), fake.handle(chat())
    assert limited.status == 429
    assert dict(limited.headers)["retry-after-ms"] == "20"
    assert good.status == 200
    assert book.entries[1]["fault"] == "http"
    assert book.entries[1]["ends"] == "failed"


def test_requests_beyond_the_script_are_answered_for_ever() -> None:
    fake, _ = provider(script(answer([BOOK])))
    messages = round_trip(fake.handle(chat()))
    for number in range(3):
        reply = body_of(fake.handle(chat(*messages)))
        assert reply["choices"][0]["message"]["content"] == "Finished."
        messages += [{"role": "assistant", "content": "Finished."}]
        messages += [{"role": "user", "content": f"and {number}?"}]


@pytest.mark.parametrize("key", [None, "", "sk-other"])
def test_a_missing_or_wrong_key_is_refused(key: str | None) -> None:
    fake, book = provider(script(answer([BOOK])))
    reply = fake.handle(post("chat", {"model": "m", "messages": []}, key=key))
    assert reply.status == 401
    assert book.kinds() == ["request", "refused"]


def test_a_broken_tool_round_is_refused_in_the_words_of_the_service() -> None:
    fake, book = provider(script(answer([BOOK])))
    message = round_trip(fake.handle(chat()))[0]
    reply = fake.handle(chat(message, {"role": "user", "content": "And?"}))
    assert reply.status == 400
    assert book.last("refused")["rule"] == "C1"
    assert book.last("refused")["grade"] == "I"
    assert book.last("request")["role"] == "refused"
    assert "did not have response messages" in body_of(reply)["error"]["message"]


def test_a_rule_can_be_switched_off() -> None:
    fake, _ = provider(script(answer([BOOK])), off=frozenset({"C1"}))
    message = round_trip(fake.handle(chat()))[0]
    assert fake.handle(chat(message, {"role": "user", "content": "And?"})).status == 200


def test_a_call_that_was_never_issued_makes_the_request_divergent() -> None:
    fake, book = provider(script(answer([BOOK])))
    function = {"name": "refund", "arguments": "{}"}
    invented = {"id": "call_z", "type": "function", "function": function}
    reply = fake.handle(
        chat(
            {"role": "assistant", "content": None, "tool_calls": [invented]},
            {"role": "tool", "tool_call_id": "call_z", "content": "ok"},
        )
    )
    assert reply.status == 400
    assert book.last("request")["role"] == "divergent"
    assert "'refund'" in book.last("request")["why"]


def test_side_requests_take_no_turn() -> None:
    fake, book = provider(script(answer([BOOK])))
    title = {"model": "m", "messages": [{"role": "user", "content": f"A title for: {PROMPT}"}]}
    assert fake.handle(post("chat", title)).status == 200
    models = HttpRequest(
        method="GET", path="/v1/models", headers={"authorization": f"Bearer {KEY}"}
    )
    assert fake.handle(models).status == 200
    assert [e["role"] for e in book.entries if e["kind"] == "request"] == ["side", "side"]
    assert body_of(fake.handle(chat()))["choices"][0]["finish_reason"] == "tool_calls"


def test_an_unknown_endpoint_is_not_found() -> None:
    fake, _ = provider(script(answer([BOOK])))
    stray = HttpRequest(
        method="POST", path="/v1/embeddings", headers={"authorization": f"Bearer {KEY}"}
    )
    assert fake.handle(stray).status == 404


def test_no_secret_reaches_the_journal() -> None:
    fake, book = provider(script(answer([BOOK])))
    fake.handle(chat(user=f"key is {KEY}", metadata={"k": KEY}))
    written = json.dumps(book.entries)
    assert KEY not in written
    asked = book.last("request")
    assert "authorization" not in asked["headers"]
    assert asked["secrets"] == {"authorization": "Bearer ***"}
    assert "key is ***" in written


@pytest.mark.parametrize("dialect", ["chat", "responses", "messages"])
@pytest.mark.parametrize("stream", [False, True])
def test_every_dialect_issues_the_call_and_records_it(dialect: DialectName, stream: bool) -> None:
    fake, book = provider(script(answer([BOOK])), dialect)
    ask: dict[str, Any] = {"model": "m", "tools": tools_for(dialect), "stream": stream}
    if dialect == "responses":
        ask["input"] = PROMPT
    else:
        ask |= {"messages": [{"role": "user", "content": PROMPT}], "max_tokens": 64}
    reply = fake.handle(post(dialect, ask))
    assert reply.status == 200
    issued = book.last("response")["calls"][0]
    assert issued["arguments"] == '{"seat":12}'
    assert issued["sent"] == "whole"
    assert book.last("response")["ends"] == "well"
    assert issued["call_id"].encode() in b"".join(reply.segments)


def test_stored_responses_are_expanded() -> None:
    fake, book = provider(script(answer([BOOK]), answer([Say("Booked.")])), "responses")
    ask = {"model": "m", "input": PROMPT, "tools": tools_for("responses")}
    first = body_of(fake.handle(post("responses", ask)))
    call = first["output"][0]
    output = {"type": "function_call_output", "call_id": call["call_id"], "output": "ok"}
    again = {**ask, "input": [output], "previous_response_id": first["id"]}
    second = body_of(fake.handle(post("responses", again)))
    assert second["output"][0]["content"][0]["text"] == "Booked."
    origins = [(item["kind"], item["origin"]) for item in book.last("request")["conversation"]]
    assert origins == [("user", "stored"), ("call", "stored"), ("result", "sent")]


def test_message_threads_are_expanded() -> None:
    fake, book = provider(script(answer([BOOK]), answer([Say("Booked.")])), "messages")
    ask = {"model": "m", "max_tokens": 64, "tools": tools_for("messages")}
    start = {**ask, "messages": [{"role": "user", "content": PROMPT}], "thread": {"type": "create"}}
    first = body_of(fake.handle(post("messages", start)))
    result = {"type": "tool_result", "tool_use_id": first["content"][0]["id"], "content": "ok"}
    again = {
        **ask,
        "messages": [{"role": "user", "content": [result]}],
        "thread": {"type": "continue", "previous_message_id": first["id"]},
    }
    second = body_of(fake.handle(post("messages", again)))
    assert second["content"][0]["text"] == "Booked."
    assert book.last("request")["recognised"] == {"turn": 1, "by": "ids"}


def test_a_custom_call_that_no_custom_tool_invites_is_odd() -> None:
    custom = Call(label="book", tool="reserve", arguments="seat 12", form="custom")
    told = script(answer([custom]), answer([custom]))
    fake, book = provider(told)
    fake.handle(chat())
    assert book.last("response")["odd"] is True
    invited, book = provider(told)
    invited.handle(chat(tools=[{"type": "custom", "custom": {"name": "reserve"}}]))
    assert book.last("response")["odd"] is False


def test_a_call_without_an_id_is_odd() -> None:
    fake, book = provider(script(answer([replace(BOOK, wire_id="")])))
    fake.handle(chat())
    assert book.last("response")["odd"] is True
