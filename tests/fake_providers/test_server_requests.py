from __future__ import annotations

import asyncio
import gzip
import http.client
import json
from collections.abc import Awaitable, Iterator

import pytest
from raw_http import (
    STREAM_HEAD,
    ask,
    connect,
    read_to_end,
    read_until,
    request_bytes,
    streamed,
    whole,
)

from loopcheck.fake_providers._requests import MAX_HEAD, Received, Refusal, RequestReader
from loopcheck.fake_providers.server import Server
from loopcheck.fake_providers.wire import HttpRequest, Reply


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        yield server
        assert [error.error for error in server.errors] == []


class TestRequests:
    def test_the_app_sees_the_request_below_its_root(self, server: Server) -> None:
        seen: list[HttpRequest] = []

        def app(request: HttpRequest) -> Reply:
            seen.append(request)
            return whole(b"ok", keep_alive=False)

        server.mount("k1", app)
        head = "X-Two: 1\r\nx-two: 2\r\n"
        ask(server, request_bytes("/c/k1/v1/a%20b?q=%201", method="POST", head=head, body=b"hi"))
        assert seen == [
            HttpRequest(
                method="POST",
                path="/v1/a%20b",
                query="q=%201",
                headers={"host": "test", "x-two": "1, 2", "content-length": "2"},
                body=b"hi",
            )
        ]

    @pytest.mark.parametrize("query", ["", "?q=1"])
    def test_a_client_may_send_the_whole_url(self, server: Server, query: str) -> None:
        """As to a proxy."""

        def app(request: HttpRequest) -> Reply:
            return whole(f"{request.path}{request.query}".encode(), keep_alive=False)

        root = server.mount("k", app)
        answer = ask(server, request_bytes(f"{root}/v1{query}"))
        assert answer.endswith(f"\r\n\r\n/v1{query[1:]}".encode())

    def test_pipelined_requests_are_answered_in_order(self, server: Server) -> None:
        async def slow(request: HttpRequest) -> Reply:
            await asyncio.sleep(0)
            return streamed(request.path.encode())

        def app(request: HttpRequest) -> Reply | Awaitable[Reply]:
            if request.path == "/1":
                return slow(request)
            return whole(request.path.encode(), keep_alive=request.path != "/150")

        server.mount("k", app)
        answer = ask(server, b"".join(request_bytes(f"/c/k/{n}") for n in range(1, 151)))
        assert answer.startswith(STREAM_HEAD + b"\r\n2\r\n/1\r\n0\r\n\r\n")
        bodies = [part.split(b"\r\n\r\n")[1] for part in answer.split(b"HTTP/1.1 200 OK")[2:]]
        assert bodies == [f"/{n}".encode() for n in range(2, 151)]

    def test_a_body_may_come_in_pieces_after_continue(self, server: Server) -> None:
        server.mount("k", lambda request: whole(request.body, keep_alive=False))
        with connect(server) as client:
            head = "expect: 100-continue\r\ntransfer-encoding: chunked\r\n"
            client.sendall(request_bytes("/c/k/", method="POST", head=head))
            assert client.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
            client.sendall(b"2\r\nab\r\n")
            client.sendall(b"1\r\nc\r\n0\r\n\r\n")
            assert read_to_end(client).endswith(b"\r\n\r\nabc")

    def test_a_gzip_body_is_unpacked(self, server: Server) -> None:
        server.mount("k", lambda request: whole(request.body, keep_alive=False))
        data = request_bytes(
            "/c/k/", method="POST", head="content-encoding: gzip\r\n", body=gzip.compress(b"plain")
        )
        assert ask(server, data).endswith(b"\r\n\r\nplain")

    def test_an_offer_to_upgrade_is_ignored(self, server: Server) -> None:
        server.mount("k", lambda request: whole(request.body))
        head = "connection: Upgrade, HTTP2-Settings\r\nupgrade: h2c\r\nhttp2-settings: AA\r\n"
        with connect(server) as client:
            for body in (b"first", b"again"):
                client.sendall(request_bytes("/c/k/", method="POST", head=head, body=body))
                assert read_until(client, body).startswith(b"HTTP/1.1 200 OK")

    @pytest.mark.parametrize(
        ("data", "status", "message"),
        [
            (b"hello\r\n\r\n", b"400", b"malformed HTTP request"),
            (request_bytes("host:443", method="CONNECT"), b"405", b"no proxy"),
            (request_bytes("http://[/", method="GET"), b"400", b"neither a path nor"),
            (request_bytes("/c/k/", head="content-length: 67108865\r\n"), b"413", b"67108864"),
            (request_bytes("/c/k/", head=f"x: {'a' * 600_000}\r\n"), b"431", b"head"),
            (
                request_bytes("/c/k/", head="content-encoding: gzip\r\n", body=b"plain"),
                b"400",
                b"not gzip",
            ),
            (
                request_bytes(
                    "/c/k/", head="content-encoding: gzip\r\n", body=gzip.compress(b"plain")[:-4]
                ),
                b"400",
                b"cut short",
            ),
            (
                request_bytes(
                    "/c/k/",
                    head="content-encoding: gzip\r\n",
                    body=gzip.compress(bytes(64 * 1024 * 1024 + 1), 1),
                ),
                b"413",
                b"unzipped",
            ),
        ],
        ids=["noise", "connect", "url", "length", "head", "no-gzip", "cut-gzip", "gzip-bomb"],
    )
    def test_bad_requests_are_refused(
        self, server: Server, data: bytes, status: bytes, message: bytes
    ) -> None:
        server.mount("k", lambda request: whole(b"never"))
        answer = ask(server, data)
        assert answer.split()[1] == status
        assert b"connection: close\r\n" in answer
        assert message in answer

    def test_a_body_that_grows_too_large_is_refused(self, server: Server) -> None:
        server.mount("k", lambda request: whole(b"never"))
        with connect(server) as client:
            client.sendall(request_bytes("/c/k/", head="transfer-encoding: chunked\r\n"))
            client.sendall(b"4000001\r\n" + bytes(0x4000001) + b"\r\n0\r\n\r\n")
            assert client.recv(100).startswith(b"HTTP/1.1 413 ")

    def test_an_unknown_key_says_so(self, server: Server) -> None:
        client = http.client.HTTPConnection(server.url.removeprefix("http://"))
        for path, message in {
            "/c/xyz/v1": "no case is mounted at /c/xyz; it has ended, or the base URL is wrong",
            "/v1/models": "nothing is served at /v1/models; cases are served below /c/KEY/",
        }.items():
            client.request("GET", path)
            answer = client.getresponse()
            assert answer.status == 404
            assert json.load(answer)["error"]["message"] == message
        client.close()


class TestFailingApps:
    def ask(self, server: Server) -> tuple[int, object]:
        client = http.client.HTTPConnection(server.url.removeprefix("http://"))
        client.request("GET", "/c/k/v1")
        answer = client.getresponse()
        try:
            return answer.status, json.load(answer)["error"]["message"]
        finally:
            client.close()

    def test_an_exception_is_answered_and_kept(self) -> None:
        def app(request: HttpRequest) -> Reply:
            raise LookupError("no such turn")

        async def async_app(request: HttpRequest) -> Reply:
            raise LookupError("no such turn")

        with Server() as server:
            for broken in (app, async_app):
                server.mount("k", broken)
                assert self.ask(server) == (500, "LookupError in the app at /c/k: no such turn")
                server.unmount("k")
            assert [(e.key, e.request, type(e.error)) for e in server.errors] == [
                ("k", "GET /v1", LookupError)
            ] * 2

    @pytest.mark.parametrize("streams", [False, True])
    def test_a_callback_that_raises_is_kept(self, streams: bool) -> None:
        def finished(how: str) -> None:
            raise ValueError(how)

        reply = Reply(status=200, headers=(), segments=(b"x",), streamed=streams, finished=finished)
        with Server() as server:
            server.mount("k", lambda request: reply)
            with connect(server) as client:
                client.sendall(request_bytes("/c/k/"))
                read_to_end(client)
            assert [str(e.error) for e in server.errors] == ["written"]

    def test_a_header_that_would_break_the_reply_is_an_error(self) -> None:
        reply = Reply(status=200, headers=(("x", "a\r\nb: c"),), segments=(b"x",))
        with Server() as server:
            server.mount("k", lambda request: reply)
            assert ask(server, request_bytes("/c/k/")) == b""
            assert [type(e.error) for e in server.errors] == [ValueError]


def test_fields_that_come_twice_are_joined_wherever_they_stand() -> None:
    """Those behind a chunked body, too."""
    head = b"POST /x HTTP/1.1\r\nHost: a\r\nX-One: 1\r\nTransfer-Encoding: chunked\r\nx-one: 2\r\n"
    (received,) = RequestReader().feed(head + b"\r\n2\r\n{}\r\n0\r\nX-One: 3\r\nX-End: 4\r\n\r\n")
    assert isinstance(received, Received)
    assert received.request.headers == {
        "host": "a",
        "x-one": "1, 2, 3",
        "transfer-encoding": "chunked",
        "x-end": "4",
    }


def test_fields_behind_a_body_are_bounded() -> None:
    reader = RequestReader()
    reader.feed(b"POST /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n")
    field = b"x: " + b"y" * 60_000 + b"\r\n"
    answers = [answer for _ in range(6) for answer in reader.feed(field)]
    assert answers == [Refusal(431, f"the head is larger than {MAX_HEAD} bytes")]
