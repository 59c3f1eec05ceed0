"""Recording passes everything on and keeps no secret; our own fake is the service."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest
from improvised import CITY, PATHS, auto, question, tool

from loopcheck.fake_providers.record import Recorder, Upstream, UpstreamError, recording_of
from loopcheck.fake_providers.recordings import read, read_all
from loopcheck.fake_providers.routing import by_dialect
from loopcheck.fake_providers.script import DIALECTS, DialectName
from loopcheck.fake_providers.server import App, Server
from loopcheck.fake_providers.wire import HttpRequest, Reply

KEY = "sk-very-own-key"
HEADERS = {
    "anthropic-version": "2023-06-01",
    "authorization": f"Bearer {KEY}",
    "cookie": "session=1234",
    "openai-organization": "org-mine",
    "x-forwarded-for": "203.0.113.7",
}


@contextmanager
def recording(upstream: str, folder: Path) -> Iterator[str]:
    """A recorder for this service; its URL."""
    recorder = Recorder(Upstream.of(upstream), folder, host="127.0.0.1", port=0)
    thread = threading.Thread(target=recorder.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield recorder.url
    finally:
        recorder.shutdown()
        thread.join()
        recorder.server_close()


@contextmanager
def before(app: App, folder: Path) -> Iterator[tuple[str, str]]:
    """This app as a service, and a recorder before it; both URLs."""
    with Server() as server:
        service = server.mount_root(app)
        with recording(f"{service}/v1", folder) as url:
            yield url, service


def improvising() -> App:
    return by_dialect({name: auto(name).handle for name in DIALECTS})


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("name", DIALECTS)
def test_the_client_gets_what_the_service_sends(
    tmp_path: Path, name: DialectName, stream: bool
) -> None:
    body = question(name, tools=[tool(name, "weather", CITY)], stream=stream)
    with before(improvising(), tmp_path) as (url, _):
        passed = httpx2.post(url + PATHS[name], json=body, headers=HEADERS)
    with Server() as server:
        service = server.mount_root(improvising())
        direct = httpx2.post(service + PATHS[name], json=body, headers=HEADERS)
    assert (passed.status_code, passed.content) == (direct.status_code, direct.content)
    (kept,) = read_all([tmp_path])
    assert (kept.name, kept.protocol, kept.stream) == (f"001-{name}", name, stream)
    assert kept.request_body == body
    if stream:
        assert kept.events
        assert b"".join(event.encoded() for event in kept.events) == direct.content
    else:
        assert kept.body == direct.json()


def test_no_secret_is_kept(tmp_path: Path) -> None:
    def telltale(request: HttpRequest) -> Reply:
        told = json.dumps({"error": {"message": f"wrong key {KEY}"}}).encode()
        headers = (
            ("content-type", "application/json"),
            ("openai-organization", "org-mine"),
            ("set-cookie", "session=5678"),
            ("x-request-id", "req_1"),
        )
        return Reply(status=401, headers=headers, segments=(told,))

    body = question("chat", f"My key is {KEY}")
    with before(telltale, tmp_path) as (url, _):
        reply = httpx2.post(f"{url}/v1/chat/completions?key={KEY}", json=body, headers=HEADERS)
    assert KEY in reply.text
    (file,) = tmp_path.glob("*.json")
    text = file.read_text()
    for secret in (KEY, "1234", "5678", "org-mine", "203.0.113.7"):
        assert secret not in text
    kept = read(file)
    assert kept.path == "/v1/chat/completions?key=***"
    assert kept.headers == {
        "content-type": "application/json",
        "openai-organization": "org-neutral",
        "x-request-id": "req_1",
    }
    assert kept.body == {"error": {"message": "wrong key ***"}}


def test_a_stream_passes_chunk_by_chunk(tmp_path: Path) -> None:
    first_is_read = threading.Event()

    async def waiting(request: HttpRequest) -> Reply:
        return Reply(
            status=200,
            headers=(("content-type", "text/event-stream"),),
            segments=(b"data: 1\n\n",),
            streamed=True,
            ending="stall",
        )

    with before(waiting, tmp_path) as (url, _):
        body = question("chat", stream=True)
        with httpx2.stream("POST", url + PATHS["chat"], json=body, headers=HEADERS) as reply:
            # The service never ends this stream, so nothing may wait for its end.
            assert next(reply.iter_bytes()) == b"data: 1\n\n"
            first_is_read.set()
    assert first_is_read.is_set()


def test_side_requests_pass_and_are_not_kept(tmp_path: Path) -> None:
    with before(improvising(), tmp_path) as (url, _):
        models = httpx2.get(f"{url}/v1/models", headers=HEADERS)
    assert models.json()["data"][0]["type"] == "model"
    assert not list(tmp_path.iterdir())


def test_recordings_that_are_there_stay(tmp_path: Path) -> None:
    (tmp_path / "001-chat.json").write_text("mine")
    with before(improvising(), tmp_path) as (url, _):
        for _ in range(2):
            httpx2.post(url + PATHS["chat"], json=question("chat"), headers=HEADERS)
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "001-chat.json",
        "002-chat.json",
        "003-chat.json",
    ]
    assert (tmp_path / "001-chat.json").read_text() == "mine"


def in_pieces(body: object) -> Iterator[bytes]:
    text = json.dumps(body).encode()
    yield from (text[:9], text[9:])


@pytest.mark.parametrize("name", DIALECTS)
def test_a_body_may_come_in_chunks(tmp_path: Path, name: DialectName) -> None:
    body = question(name)
    with before(improvising(), tmp_path) as (url, _):
        headers = {**HEADERS, "content-type": "application/json"}
        with httpx2.Client() as client:
            for _ in range(2):
                reply = client.post(url + PATHS[name], content=in_pieces(body), headers=headers)
                assert reply.status_code == 200
    assert [kept.request_body for kept in read_all([tmp_path])] == [body, body]


@pytest.mark.parametrize(
    ("head", "body"),
    [
        ("transfer-encoding: chunked", b"five\r\n{}\r\n0\r\n\r\n"),
        ("transfer-encoding: chunked", b"9\r\n{}\r\n0\r\n\r\n"),
        ("content-length: many", b"{}"),
    ],
)
def test_a_body_that_cannot_be_read_is_refused(tmp_path: Path, head: str, body: bytes) -> None:
    with before(improvising(), tmp_path) as (url, _):
        address = httpx2.URL(url)
        with socket.create_connection((address.host, address.port or 0), timeout=9) as sock:
            start = f"POST {PATHS['chat']} HTTP/1.1\r\nhost: x\r\n{head}\r\n\r\n"
            sock.sendall(start.encode() + body)
            sock.shutdown(socket.SHUT_WR)
            answer = sock.makefile("rb").read()
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"cannot be read" in answer
    assert not list(tmp_path.iterdir())


def test_a_service_that_is_not_there_is_told(tmp_path: Path) -> None:
    with Server() as server:
        gone = server.mount_root(improvising())
    with recording(gone, tmp_path) as url:
        reply = httpx2.post(url + PATHS["chat"], json=question("chat"), headers=HEADERS)
    assert reply.status_code == 502
    assert "127.0.0.1 does not answer" in reply.json()["error"]["message"]


@pytest.mark.parametrize("url", ["ftp://example.org", "example.org", "http://", "http://[x"])
def test_what_is_no_service_is_told(url: str) -> None:
    with pytest.raises(UpstreamError, match="not a URL"):
        Upstream.of(url)


@pytest.mark.parametrize("url", ["https://api.openai.com/v1/", "https://api.openai.com"])
def test_the_version_may_stand_in_the_url(url: str) -> None:
    assert Upstream.of(url) == Upstream("https", "api.openai.com", None, "")


def test_what_is_no_json_is_kept_as_text() -> None:
    request = HttpRequest(method="POST", path=PATHS["chat"], body=b"no json")
    made = recording_of("x", request, 502, {"content-type": "text/html"}, b"<html>")
    assert (made.request_body, made.body) == (None, "<html>")
