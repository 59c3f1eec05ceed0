from __future__ import annotations

import asyncio
import http.client
import json
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import Future

import pytest
from openai import OpenAI
from openai.types.chat import ChatCompletionMessageParam
from raw_http import (
    PATIENCE,
    STREAM_HEAD,
    Ends,
    ask,
    connect,
    read_to_end,
    read_until,
    request_bytes,
    streamed,
    whole,
)

from loopcheck.fake_providers.server import Server
from loopcheck.fake_providers.wire import HttpRequest, Reply


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        yield server
        assert [error.error for error in server.errors] == []


class TestBytes:
    def test_a_whole_reply_has_the_joined_length(self, server: Server) -> None:
        root = server.mount("k", lambda request: whole(b"ab", b"", b"c", keep_alive=False))
        assert root == f"{server.url}/c/k"
        assert ask(server, request_bytes("/c/k/")) == (
            b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n"
            b"content-length: 3\r\nconnection: close\r\n\r\nabc"
        )

    def test_a_stream_is_one_chunk_a_segment(self, server: Server) -> None:
        segments = (b"data: 1\n\n", b"", b"d" * 17)
        server.mount("k", lambda request: streamed(*segments, keep_alive=False))
        assert ask(server, request_bytes("/c/k/")) == (
            STREAM_HEAD + b"connection: close\r\n\r\n"
            b"9\r\ndata: 1\n\n\r\n" + b"11\r\n" + b"d" * 17 + b"\r\n" + b"0\r\n\r\n"
        )

    def test_a_segment_arrives_before_the_next_is_asked_for(self, server: Server) -> None:
        """Each is a write of its own: the first is seen although the second never comes."""
        server.mount("k", lambda request: streamed(b"first", ending="stall"))
        with connect(server) as client:
            client.sendall(request_bytes("/c/k/"))
            assert read_until(client, b"first\r\n") == STREAM_HEAD + b"\r\n5\r\nfirst\r\n"

    def test_an_old_client_gets_a_stream_without_chunks(self, server: Server) -> None:
        server.mount("k", lambda request: streamed(b"one", b"two"))
        assert ask(server, b"GET /c/k/ HTTP/1.0\r\n\r\n") == (
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\nonetwo"
        )

    @pytest.mark.parametrize(
        ("reply", "length"),
        [
            (whole(b"four", keep_alive=False), b"content-length: 4"),
            (whole(b"fo", b"ur", keep_alive=False), b"content-length: 4"),
            (streamed(b"four", keep_alive=False), b"transfer-encoding: chunked"),
        ],
    )
    def test_head_gets_no_body(self, server: Server, reply: Reply, length: bytes) -> None:
        server.mount("k", lambda request: reply)
        answer = ask(server, request_bytes("/c/k/", method="HEAD"))
        assert answer.endswith(length + b"\r\nconnection: close\r\n\r\n")

    def test_a_large_body_waits_for_a_slow_client(self, server: Server) -> None:
        """Nothing piles up: the second segment is not reached before the first was taken."""
        ends = Ends()
        big = b"x" * (8 * 1024 * 1024)
        server.mount("k", lambda request: ends.watch(streamed(big, big, keep_alive=False)))
        with connect(server) as client:
            client.sendall(request_bytes("/c/k/"))
            read_until(client, b"\r\n\r\n")
            assert ends.reached == []
            assert len(read_to_end(client)) > 2 * len(big) - 65536
        assert ends.reached == [0, 1]
        assert ends.how() == "written"


class TestEndings:
    def test_half_a_chunk(self, server: Server) -> None:
        ends = Ends()
        server.mount("k", lambda request: ends.watch(streamed(b"ab", ending="half-chunk")))
        assert ask(server, request_bytes("/c/k/")) == (STREAM_HEAD + b"\r\n2\r\nab\r\n400\r\n")
        assert (ends.reached, ends.how()) == ([0], "written")

    @pytest.mark.parametrize(
        "reply", [streamed(b"ab", ending="reset"), whole(b"ab", ending="reset")]
    )
    def test_a_reset_comes_after_the_bytes(self, server: Server, reply: Reply) -> None:
        ends = Ends()
        server.mount("k", lambda request: ends.watch(reply))
        with connect(server) as client:
            client.sendall(request_bytes("/c/k/"))
            assert b"ab" in read_until(client, b"ab")
            with pytest.raises(ConnectionResetError):
                read_to_end(client)
        assert (ends.reached, ends.how()) == ([0], "written")

    def test_a_short_whole_body(self, server: Server) -> None:
        server.mount("k", lambda request: whole(b"{}", ending="half-chunk"))
        assert ask(server, request_bytes("/c/k/")).endswith(b"content-length: 3\r\n\r\n{}")
        client = http.client.HTTPConnection(server.url.removeprefix("http://"))
        client.request("GET", "/c/k/")
        with pytest.raises(http.client.IncompleteRead):
            client.getresponse().read()
        client.close()

    def test_close_sends_nothing(self, server: Server) -> None:
        ends = Ends()
        server.mount("k", lambda request: ends.watch(whole(b"never", ending="close")))
        assert ask(server, request_bytes("/c/k/")) == b""
        assert (ends.reached, ends.how()) == ([], "written")

    def test_headers_alone(self, server: Server) -> None:
        server.mount("k", lambda request: streamed(ending="half-chunk"))
        assert ask(server, request_bytes("/c/k/")) == STREAM_HEAD + b"\r\n400\r\n"

    def test_unmounting_ends_a_stall(self, server: Server) -> None:
        ends = Ends()
        server.mount("k", lambda request: ends.watch(streamed(b"ab", ending="stall")))
        with connect(server) as client:
            client.sendall(request_bytes("/c/k/"))
            read_until(client, b"ab\r\n")
            assert ends.how() == "written"
            server.unmount("k")
            assert client.recv(1) == b""

    def test_closing_the_server_ends_a_stall(self) -> None:
        with Server() as server:
            server.mount("k", lambda request: whole(b"ab", ending="stall"))
            client = connect(server)
            client.sendall(request_bytes("/c/k/"))
            read_until(client, b"ab")
        assert client.recv(1) == b""
        client.close()

    def test_a_client_that_leaves_early_is_reported(self, server: Server) -> None:
        ends = Ends()
        big = b"x" * (32 * 1024 * 1024)
        server.mount("k", lambda request: ends.watch(streamed(b"ab", big)))
        with connect(server) as client:
            client.sendall(request_bytes("/c/k/"))
            read_until(client, b"ab")
        assert ends.how() == "client-closed"
        assert ends.reached == [0]

    def test_a_client_that_leaves_before_the_answer_is_reported(self, server: Server) -> None:
        """The app is not disturbed: a service goes on with what it was asked."""
        ends = Ends()
        entered, left = threading.Event(), asyncio.Event()

        async def app(request: HttpRequest) -> Reply:
            entered.set()
            await left.wait()
            return ends.watch(whole(b"late"))

        server.mount("k", app)
        with connect(server) as client:
            client.sendall(request_bytes("/c/k/"))
            assert entered.wait(PATIENCE)
            client.shutdown(socket.SHUT_WR)
            assert client.recv(1) == b""
        server.loop.call_soon_threadsafe(left.set)
        assert ends.how() == "client-closed"

    def test_the_app_hears_that_its_client_has_left(self, server: Server) -> None:
        heard: list[Future[None]] = []
        entered = threading.Event()

        async def app(request: HttpRequest) -> Reply:
            assert request.left is not None
            heard.append(request.left)
            entered.set()
            await asyncio.wrap_future(request.left)
            return whole(b"late")

        server.mount("k", app)
        with connect(server) as client:
            client.sendall(request_bytes("/c/k/"))
            assert entered.wait(PATIENCE)
            assert not heard[0].done()
        heard[0].result(PATIENCE)


def test_a_sequence_of_an_sdk(server: Server) -> None:
    chunks = [
        {
            "id": "c",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": "m",
            "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}],
        }
        for text in ("Hel", "lo")
    ]
    body = {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "Hello"},
                "finish_reason": "stop",
            }
        ],
    }

    def app(request: HttpRequest) -> Reply:
        assert request.path == "/v1/chat/completions"
        if json.loads(request.body).get("stream"):
            frames = [f"data: {json.dumps(chunk)}\n\n".encode() for chunk in chunks]
            return streamed(*frames, b"data: [DONE]\n\n")
        headers = (("content-type", "application/json"),)
        return Reply(status=200, headers=headers, segments=(json.dumps(body).encode(),))

    root = server.mount("k", app)
    messages: list[ChatCompletionMessageParam] = [{"role": "user", "content": "Hi"}]
    with OpenAI(base_url=f"{root}/v1", api_key="sk-test", max_retries=0) as client:
        for _ in range(3):
            answer = client.chat.completions.create(model="m", messages=messages)
            assert answer.choices[0].message.content == "Hello"
            stream = client.chat.completions.create(model="m", messages=messages, stream=True)
            deltas = [chunk.choices[0].delta.content for chunk in stream]
            assert deltas == ["Hel", "lo"]
