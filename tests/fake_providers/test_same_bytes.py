"""The same script is the same to a client over a socket and in process."""

from __future__ import annotations

import json
from collections.abc import Iterator
from types import ModuleType
from typing import Any
from urllib.parse import quote

import httpx
import httpx2
import pytest
from delivered import (
    GENERATIONS,
    WAYS,
    client_of,
    recorded,
    sdk_events,
    seen,
    sse_events,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from loopcheck.fake_providers.script import (
    DIALECTS,
    Attempt,
    Call,
    Content,
    Delivery,
    DialectName,
    Fault,
    Place,
    Say,
    answer,
)
from loopcheck.fake_providers.server import Server
from loopcheck.fake_providers.wire import HttpRequest, Reply

TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=20)
PLACES = st.one_of(
    st.builds(Place, size=st.integers(0, 60)),
    st.builds(Place, frame=st.sampled_from([1, 2, "finish", "terminal"])),
    st.just(Place(edge="start")),
)
FAULTS = st.one_of(
    st.builds(
        Fault,
        kind=st.sampled_from(["half-chunk", "reset", "eof", "error-event", "http", "close"]),
        at=PLACES,
    ),
    st.builds(Fault, kind=st.just("headers-only"), then=st.sampled_from(["eof", "reset"])),
    st.builds(Fault, kind=st.sampled_from(["empty", "error-body"])),
)
DELIVERIES = st.builds(
    Delivery,
    fragments=st.sampled_from(["whole", "char", "seeded", "escapes", 3]),
    segments=st.sampled_from(["frame", "all", "seeded", "utf8", "crlf", 7]),
    interleave=st.booleans(),
    newline=st.sampled_from(["lf", "crlf"]),
    comments=st.integers(0, 2),
    keep_alive=st.booleans(),
)


@st.composite
def attempts(draw: st.DrawFn) -> Attempt:
    content: list[Content] = [Say(text) for text in draw(st.lists(TEXTS, max_size=1))]
    for label in draw(st.sampled_from(["", "a", "ab"])):
        arguments = json.dumps({"seat": draw(TEXTS)}, ensure_ascii=draw(st.booleans()))
        content.append(Call(label=label, tool="reserve", arguments=arguments))
    content = content or [Say("Done.")]
    plain = answer(content, stop=draw(st.sampled_from([None, "length"])))
    return Attempt(
        content=plain.content,
        stop=plain.stop,
        delivery=draw(DELIVERIES),
        fault=draw(st.none() | FAULTS),
    )


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server() as started:
        yield started


@pytest.fixture(scope="module")
def clients() -> Iterator[dict[ModuleType, Any]]:
    made = {generation: client_of(generation) for generation in GENERATIONS}
    yield made
    for client in made.values():
        client.close()


@pytest.mark.parametrize("dialect", DIALECTS)
@settings(max_examples=20)
@given(attempt=attempts())
def test_a_script_is_the_same_over_a_socket_and_in_process(
    server: Server, clients: dict[ModuleType, Any], dialect: DialectName, attempt: Attempt
) -> None:
    """The official SDK on HTTPX2, and a plain client on HTTPX."""
    told: list[object] = []
    for way in WAYS:
        for generation, events in ((httpx2, sdk_events), (httpx, sse_events)):
            provider, notes = recorded(attempt, dialect)
            with way(server, provider.handle) as root:
                read = seen(lambda: events(clients[generation], dialect, root))  # noqa: B023
            told.append((read, notes))
    assert told[:2] == told[2:]


REPLIES = st.builds(
    Reply,
    status=st.sampled_from([200, 201, 404, 529]),
    headers=st.just((("content-type", "text/plain"), ("x-twice", "a"), ("x-twice", "b: c"))),
    segments=st.lists(st.binary(max_size=5), max_size=4).map(tuple),
    streamed=st.booleans(),
    ending=st.sampled_from(["complete", "half-chunk", "reset", "close"]),
    keep_alive=st.booleans(),
)


@pytest.mark.parametrize("generation", GENERATIONS)
@settings(max_examples=30)
@given(reply=REPLIES, method=st.sampled_from(["POST", "GET", "HEAD"]))
def test_any_reply_is_the_same_over_a_socket_and_in_process(
    server: Server,
    clients: dict[ModuleType, Any],
    generation: ModuleType,
    reply: Reply,
    method: str,
) -> None:
    told: list[object] = []
    for way in WAYS:
        with way(server, lambda request: reply) as root:
            try:
                with clients[generation].stream(method, f"{root}/x") as got:
                    told.append((got.status_code, got.reason_phrase, got.headers.multi_items()))
                    for segment in got.iter_raw():
                        told.append(segment)
            except generation.TransportError as error:
                told.append((type(error), str(error)))
            told.append("end")
    half = told.index("end") + 1
    assert _joined(told[:half]) == _joined(told[half:])


def _joined(told: list[object]) -> list[object]:
    body = b"".join(part for part in told if isinstance(part, bytes))
    return [part for part in told if not isinstance(part, bytes)] + [body]


BODIES = st.one_of(
    st.fixed_dictionaries({"json": st.dictionaries(TEXTS, TEXTS, max_size=2)}),
    st.fixed_dictionaries({"content": st.binary(max_size=30)}),
    st.lists(st.binary(min_size=1, max_size=9), max_size=3).map(lambda parts: {"parts": parts}),
)


@pytest.mark.parametrize("generation", GENERATIONS)
@settings(max_examples=20)
@given(body=BODIES, query=st.sampled_from(["", "?", "?a=b%20c&d=%C3%BC"]), word=TEXTS)
def test_an_app_sees_the_same_request(
    server: Server,
    clients: dict[ModuleType, Any],
    generation: ModuleType,
    body: dict[str, Any],
    query: str,
    word: str,
) -> None:
    """Also one whose body is sent in chunks. Only the host is another."""
    got: list[tuple[str, str, str, dict[str, str], bytes]] = []

    def app(request: HttpRequest) -> Reply:
        headers = {name: value for name, value in request.headers.items() if name != "host"}
        got.append((request.method, request.path, request.query, headers, request.body))
        return Reply(status=200, headers=(), segments=(b"ok",))

    for way in WAYS:
        with way(server, app) as root:
            sent = {"content": iter(body["parts"])} if "parts" in body else body
            url = f"{root}/v1/{quote(word)}{query}"
            headers = [("X-Twice", "a"), ("x-twice", "b")]
            clients[generation].post(url, headers=headers, **sent)
    assert got[0] == got[1]


WITHIN = Fault(kind="stall")
BEHIND_HEADERS = Fault(kind="headers-only", then="stall")


@pytest.mark.parametrize(
    ("dialect", "fault"),
    [("chat", WITHIN), ("messages", WITHIN), ("messages", BEHIND_HEADERS)],
    ids=["chat-within", "messages-within", "messages-behind-headers"],
)
def test_a_stall_is_the_same_over_a_socket_and_in_process(
    server: Server, dialect: DialectName, fault: Fault
) -> None:
    """In process the read timeout is told at once; on the socket it is waited for."""
    attempt = Attempt(content=(Say("Let me see."),), fault=fault)
    told: list[object] = []
    for way in WAYS:
        for generation, events in ((httpx2, sdk_events), (httpx, sse_events)):
            provider, notes = recorded(attempt, dialect)
            seconds = 0.3 if way is WAYS[0] else 600.0
            with (
                client_of(generation, read_seconds=seconds) as client,
                way(server, provider.handle) as root,
            ):
                read = seen(lambda: events(client, dialect, root))  # noqa: B023
            assert any(name.endswith(".ReadTimeout") for name in read[1])
            told.append((read, notes))
    assert told[:2] == told[2:]
