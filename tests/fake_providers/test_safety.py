"""Whatever a client sends, it gets the service's own refusal, in bounded time, and alone."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hostile_requests import KEY, PATHS, bent, post, script, valid
from raw_http import PATIENCE, connect, read_until, request_bytes, streamed, whole

from loopcheck.fake_providers._requests import Received, RequestReader
from loopcheck.fake_providers.json_body import MAX_DEPTH, parsed
from loopcheck.fake_providers.provider import NOTHING, Provider
from loopcheck.fake_providers.script import DIALECTS, DialectName, Say, Script, Turn, answer
from loopcheck.fake_providers.server import Server
from loopcheck.fake_providers.wire import HttpRequest, Reply

GENERATED = 3_334
BOUND_SECONDS = 10


def provider(dialect: DialectName, told: Script | None = None, **more: Any) -> Provider:
    def record(kind: str, shared: Mapping[str, object] = NOTHING, /, **fields: object) -> int:
        json.dumps({**shared, **fields}, ensure_ascii=False).encode()
        return 0

    told = told or script()
    return Provider(
        script=told, dialect=dialect, mode="whole", seed=0, record=record, api_key=KEY, **more
    )


def refusal(reply: Reply) -> dict[str, Any]:
    """The error in a reply, in the shape that both services give it."""
    assert 400 <= reply.status < 500
    (body,) = reply.segments
    error: dict[str, Any] = json.loads(body)["error"]
    assert isinstance(error["type"], str)
    return error


@pytest.mark.parametrize("dialect", DIALECTS)
class TestGenerated:
    def test_the_valid_ones_are_answered(self, dialect: DialectName) -> None:
        fake = provider(dialect)
        for results in (False, True):
            body = valid(dialect, results=results)
            reply = fake.handle(post(dialect, json.dumps(body).encode()))
            assert reply.status == 200, reply.segments

    def test_thousands_are_answered_or_refused(self, dialect: DialectName) -> None:
        fake = provider(dialect, keep=100)
        fake.handle(post(dialect, json.dumps(valid(dialect, results=False)).encode()))
        started = time.monotonic()
        seen: Counter[int] = Counter()
        for body in bent(dialect, GENERATED, seed=1):
            reply = fake.handle(post(dialect, body))
            seen[reply.status] += 1
            if reply.status != 200:
                refusal(reply)
        assert time.monotonic() - started < BOUND_SECONDS
        assert seen.total() == GENERATED
        assert min(seen[200], seen[400]) > GENERATED // 20

    def test_hundreds_on_a_socket(self, dialect: DialectName) -> None:
        with Server() as server:
            server.mount_root(provider(dialect, keep=100).handle)
            with connect(server) as client:
                for body in bent(dialect, 150, seed=2):
                    client.sendall(_sent(post(dialect, body)))
                    status = _status_of_whole(client)
                    assert status == 200 or 400 <= status < 500
            assert server.errors == ()


@pytest.mark.parametrize("dialect", DIALECTS)
class TestMalformed:
    @pytest.mark.parametrize(
        "body",
        [
            b"",
            b"{",
            b"[]",
            b"null",
            b'"text"',
            b'{"model": NaN}',
            b'{"temperature": 1e999}',
            b'{"a": "\xff"}',
            b'\xef\xbb\xbf{"model": "m"}',
            b'{"model": "\\ud800"}',
            b"[" * 100_000,
            b'{"a":' * 100_000,
            b"[" * 300 + b"]" * 300,
            b'{"model":' + b"9" * 5000 + b"}",
        ],
    )
    def test_what_is_no_json_is_refused(self, dialect: DialectName, body: bytes) -> None:
        assert provider(dialect).handle(post(dialect, body)).status == 400

    def test_deep_schemas_are_refused_or_answered(self, dialect: DialectName) -> None:
        """Rules walk through schemas, and the answer may repeat them."""
        fake = provider(dialect)
        for depth in (40, 90, 250, 2000):
            reply = fake.handle(post(dialect, _with_deep_schema(dialect, depth)))
            assert reply.status == (200 if depth < 95 else 400)

    def test_another_content_type_is_refused(self, dialect: DialectName) -> None:
        body = json.dumps(valid(dialect, results=False)).encode()
        for kind in ("text/plain", "multipart/form-data; boundary=x", ""):
            error = refusal(provider(dialect).handle(post(dialect, body, content_type=kind)))
            assert "application/json" in error["message"]
        for kind in ("application/json; charset=utf-8", "Application/JSON"):
            assert provider(dialect).handle(post(dialect, body, content_type=kind)).status == 200

    @pytest.mark.parametrize(
        ("method", "path"),
        [
            ("PATCH", None),
            ("PUT", None),
            ("POST", "/v1/nothing"),
            ("POST", "/"),
            ("POST", ""),
            ("DELETE", "/v1/models"),
            ("PATCH", "/v1/\xff%00"),
        ],
    )
    def test_what_is_not_served_is_not_found(
        self, dialect: DialectName, method: str, path: str | None
    ) -> None:
        headers = {"authorization": f"Bearer {KEY}"}
        path = PATHS[dialect] if path is None else path
        reply = provider(dialect).handle(HttpRequest(method=method, path=path, headers=headers))
        assert reply.status == 404
        refusal(reply)

    @pytest.mark.parametrize("header", ["", "Bearer", "Bearer ", "Basic eA==", "Bearer other"])
    def test_without_the_key_nothing_is_read(self, dialect: DialectName, header: str) -> None:
        reply = provider(dialect).handle(post(dialect, b"[" * 9, authorization=header))
        assert reply.status == 401
        refusal(reply)


class TestJson:
    def test_the_deepest_that_is_read(self) -> None:
        assert parsed(b"[" * MAX_DEPTH + b"]" * MAX_DEPTH) is not None
        with pytest.raises(ValueError, match="nested deeper"):
            parsed(b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1))

    def test_many_brackets_need_not_be_deep(self) -> None:
        assert parsed(b"[" + b",".join([b"{}"] * 1000) + b"]") == [{}] * 1000

    def test_whole_pairs_and_escaped_halves_are_text(self) -> None:
        assert parsed(b'["\\ud83d\\ude00", "\\\\ud800"]') == ["😀", "\\ud800"]


class TestHeads:
    def request(self, *, size: int) -> bytes:
        return request_bytes("/x", method="POST", body=b"x" * size)

    @pytest.mark.parametrize("more", [b"", b"POST /y HTTP/1.1\r\nhost: te"])
    def test_a_large_request_in_one_piece_has_no_large_head(self, more: bytes) -> None:
        (received,) = RequestReader().feed(self.request(size=2**20) + more)
        assert isinstance(received, Received)
        assert len(received.request.body) == 2**20

    def test_many_requests_in_one_piece(self) -> None:
        assert len(RequestReader().feed(self.request(size=1000) * 1000)) == 1000

    @pytest.mark.parametrize("piece", [1024, 2**20])
    def test_a_large_head_is_refused_in_any_pieces(self, piece: int) -> None:
        reader = RequestReader()
        fields = b"".join(b"x-%d: %s\r\n" % (n, b"v" * 1000) for n in range(300))
        data = b"GET / HTTP/1.1\r\n" + fields + b"\r\n"
        fed = [data[start : start + piece] for start in range(0, len(data), piece)]
        (refused,) = (complete for part in fed for complete in reader.feed(part))
        assert not isinstance(refused, Received)
        assert refused.status == 431

    def test_a_field_that_never_ends_is_refused(self) -> None:
        reader = RequestReader()
        answers = reader.feed(b"GET / HTTP/1.1\r\nx: ")
        for _ in range(300):
            answers += reader.feed(b"v" * 1024)
        (refused,) = answers
        assert not isinstance(refused, Received)
        assert refused.status == 431


class TestSlowClients:
    @pytest.fixture
    def server(self) -> Iterator[Server]:
        with Server() as server:
            yield server
            assert server.errors == ()

    def test_a_client_that_reads_nothing_stops_nobody(self, server: Server) -> None:
        """Its answer waits in the socket; a thousand others are served meanwhile."""
        big = b"x" * 2**20
        stuck = threading.Event()

        def app(request: HttpRequest) -> Reply:
            if request.path == "/big":
                stuck.set()
                return streamed(*[big] * 64)
            return streamed(*[b"event"] * 200) if request.path == "/stream" else whole(b"ok")

        server.mount("k", app)
        idle = [connect(server) for _ in range(5)]
        for client in idle:
            client.sendall(request_bytes("/c/k/big"))
        assert stuck.wait(PATIENCE)
        with connect(server) as lively:
            for number in range(500):
                lively.sendall(request_bytes("/c/k/stream" if number % 2 else "/c/k/plain"))
                read_until(lively, b"0\r\n\r\n" if number % 2 else b"\r\n\r\nok")
        for client in idle:
            client.close()

    def test_a_client_that_sends_half_a_request_stops_nobody(self, server: Server) -> None:
        server.mount("k", lambda request: whole(b"ok"))
        halves = [b"POST", b"POST /c/k/ HTTP/1.1\r\n", request_bytes("/c/k/", body=b"x" * 99)[:-1]]
        waiting = [connect(server) for _ in halves]
        for client, half in zip(waiting, halves, strict=True):
            client.sendall(half)
        with connect(server) as lively:
            lively.sendall(request_bytes("/c/k/"))
            read_until(lively, b"\r\n\r\nok")
        for client in waiting:
            client.close()

    def test_a_long_stream_lets_others_in_between(self, server: Server) -> None:
        """Segments are written in rows, and between rows it is the others' turn."""
        long, entered = [b"x"] * 100_000, threading.Event()

        def app(request: HttpRequest) -> Reply:
            if request.path != "/long":
                return whole(b"ok")
            entered.set()
            return streamed(*long)

        server.mount("k", app)
        with connect(server) as first, connect(server) as second:
            first.sendall(request_bytes("/c/k/long"))
            assert entered.wait(PATIENCE)
            second.sendall(request_bytes("/c/k/plain"))
            read_until(second, b"\r\n\r\nok")
            first.setblocking(False)
            assert not _drained(first).endswith(b"0\r\n\r\n")


class TestLongLives:
    @pytest.mark.parametrize("dialect", DIALECTS)
    def test_what_is_kept_is_bounded(self, dialect: DialectName) -> None:
        said = Turn(number=1, attempts=(answer([Say("Hello.")]),))
        told = Script(turns=(said,), otherwise=(said,), prompt=None)
        fake = provider(dialect, told, keep=10)
        request = post(dialect, json.dumps(valid(dialect, results=False)).encode())
        ids = [json.loads(fake.handle(_whole(request)).segments[0])["id"] for _ in range(50)]
        kept = fake._memory
        assert max(len(kept.conversations), len(kept.responses), len(kept.issued)) <= 11
        if dialect == "responses":
            assert list(kept.responses) == ids[-11:]


def _whole(request: HttpRequest) -> HttpRequest:
    body = {**json.loads(request.body), "stream": False}
    body.pop("stream_options", None)
    return HttpRequest(
        method=request.method,
        path=request.path,
        headers=request.headers,
        body=json.dumps(body).encode(),
    )


def _with_deep_schema(dialect: DialectName, depth: int) -> bytes:
    """A request with a tool whose closed schema has so many objects in one another."""
    body = valid(dialect, results=False)
    tool = body["tools"][0]
    if dialect == "messages":
        tool["input_schema"] = "here"
    else:
        tool.get("function", tool)["parameters"] = "here"
    closed = '"type":"object","additionalProperties":false'
    begun = f'{{{closed},"required":["a"],"properties":{{"a":' * depth
    return json.dumps(body).replace('"here"', f"{begun}{{{closed}}}{'}}' * depth}").encode()


def _sent(request: HttpRequest) -> bytes:
    head = "".join(f"{name}: {value}\r\n" for name, value in request.headers.items())
    return request_bytes(request.path, method="POST", head=head, body=request.body or b" ")


def _status_of_whole(client: socket.socket) -> int:
    data = read_until(client, b"\r\n\r\n")
    head, _, body = data.partition(b"\r\n\r\n")
    if b"transfer-encoding: chunked" in head:
        while not body.endswith(b"0\r\n\r\n"):
            body += client.recv(65536)
    else:
        length = int(head.partition(b"content-length: ")[2].split(b"\r\n")[0])
        while len(body) < length:
            body += client.recv(65536)
    return int(head.split()[1])


def _drained(client: socket.socket) -> bytes:
    data = b""
    try:
        while part := client.recv(65536):
            data += part
    except BlockingIOError:
        pass
    return data
