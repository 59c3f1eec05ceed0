"""Whatever is asked of what a service keeps, it is answered or refused, and nothing breaks."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loopcheck.fake_providers.provider import Provider, nothing
from loopcheck.fake_providers.quirks.registry import QUIRKS
from loopcheck.fake_providers.script import Attempt, Call, DialectName, Quirk, Say, Script, Turn
from loopcheck.fake_providers.wire import HttpRequest, JsonObject

HEADERS = {"authorization": "Bearer k"}
CALL = Call(label="book", tool="book", arguments='{"seat":12}')
PATHS = {"chat": "/v1/chat/completions", "responses": "/v1/responses"}
ASKED: dict[str, JsonObject] = {
    "chat": {"model": "m", "messages": [{"role": "user", "content": "Go."}], "store": True},
    "responses": {"model": "m", "input": "Go.", "background": True},
}
SUBJECTS = st.sampled_from(
    ["", "/input_items", "/cancel", "/messages", "/items", "/items/msg_1", "/compact"]
)
QUERIES = st.sampled_from(
    [
        "",
        "stream=true",
        "stream=true&starting_after=2",
        "stream=true&starting_after=x",
        "limit=1",
        "limit=0",
        "limit=",
        "order=up",
        "after=msg_1",
        "metadata[a]=b",
        "%ff=%ff&&",
    ]
)
BODIES = st.one_of(
    st.just(b""),
    st.sampled_from([b"{", b"[]", b'{"metadata":null}', b'{"metadata":7}', b'{"items":[{}]}']),
    st.just(b'{"items":[{"type":"message","role":"user","content":7}]}'),
    st.just(b'{"model":"m","input":[{"type":"compaction"}]}'),
    st.binary(max_size=9),
)


def provider(name: DialectName, attempt: Attempt) -> Provider:
    turn = Turn(number=1, attempts=(attempt,))
    script = Script(turns=(turn,), otherwise=(turn,), prompt=None)
    return Provider(script=script, dialect=name, mode="whole", seed=1, record=nothing)


def begun(service: Provider, name: str, **more: object) -> str:
    """The id of a response that the service keeps."""
    body = json.dumps({**ASKED[name], **more}).encode()
    request = HttpRequest(method="POST", path=PATHS[name], headers=HEADERS, body=body)
    reply = service.handle(request)
    assert reply.status == 200
    named: object = json.loads(b"".join(reply.segments))["id"]
    return str(named)


@pytest.mark.parametrize("name", ["chat", "responses"])
@given(
    method=st.sampled_from(["GET", "POST", "DELETE"]),
    root=st.sampled_from(["", "/v1/conversations"]),
    subject=SUBJECTS,
    query=QUERIES,
    body=BODIES,
)
@settings(max_examples=60)
def test_any_request(
    name: DialectName, method: str, root: str, subject: str, query: str, body: bytes
) -> None:
    service = provider(name, Attempt(content=(Say("Hi"), CALL), stop="calls"))
    named = begun(service, name)
    for known in (named, "x"):
        path = f"{root or PATHS[name]}/{known}{subject}"
        asked = HttpRequest(method=method, path=path, query=query, headers=HEADERS, body=body)
        reply = service.handle(asked)
        assert reply.status in (200, 400, 404)
        if not reply.streamed:
            assert isinstance(json.loads(b"".join(reply.segments)), dict)


@pytest.mark.parametrize("quirk", [q.name for q in QUIRKS.values() if "responses" in q.bodies])
def test_a_quirk_strikes_nothing_in_a_response_that_waits(quirk: str) -> None:
    odd = Attempt(content=(Say("Hi"), CALL), stop="calls", quirks=(Quirk(quirk),))
    service = provider("responses", odd)
    path = f"{PATHS['responses']}/{begun(service, 'responses')}"
    looks = [service.handle(HttpRequest(method="GET", path=path, headers=HEADERS)) for _ in "12"]
    states = [json.loads(look.segments[0])["status"] for look in looks]
    assert states == ["in_progress", "completed"]
