"""Clients down to the socket, and replies in short, for tests of the server."""

from __future__ import annotations

import queue
import socket

from loopcheck.fake_providers.server import Server
from loopcheck.fake_providers.wire import Ending, Reply

TEXT = (("content-type", "text/plain"),)
PATIENCE = 5.0


def connect(server: Server) -> socket.socket:
    host, _, port = server.url.removeprefix("http://").partition(":")
    return socket.create_connection((host, int(port)), timeout=PATIENCE)


def request_bytes(path: str, *, method: str = "GET", head: str = "", body: bytes = b"") -> bytes:
    length = f"content-length: {len(body)}\r\n" if body else ""
    return f"{method} {path} HTTP/1.1\r\nhost: test\r\n{head}{length}\r\n".encode() + body


def read_to_end(client: socket.socket) -> bytes:
    return b"".join(iter(lambda: client.recv(65536), b""))


def read_until(client: socket.socket, mark: bytes) -> bytes:
    data = b""
    while mark not in data:
        part = client.recv(65536)
        assert part, f"the connection ended after {data!r}"
        data += part
    return data


def ask(server: Server, data: bytes) -> bytes:
    """Everything that comes back on a new connection until the server closes it."""
    with connect(server) as client:
        client.sendall(data)
        return read_to_end(client)


def streamed(*segments: bytes, ending: Ending = "complete", keep_alive: bool = True) -> Reply:
    return Reply(
        status=200,
        headers=(("content-type", "text/event-stream"),),
        segments=segments,
        streamed=True,
        ending=ending,
        keep_alive=keep_alive,
    )


def whole(*segments: bytes, ending: Ending = "complete", keep_alive: bool = True) -> Reply:
    return Reply(status=200, headers=TEXT, segments=segments, ending=ending, keep_alive=keep_alive)


STREAM_HEAD = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n"
)


class Ends:
    """Collects what a reply's callbacks say, across threads."""

    def __init__(self) -> None:
        self.reached: list[int] = []
        self.finished: queue.Queue[str] = queue.Queue()

    def watch(self, reply: Reply) -> Reply:
        return Reply(
            status=reply.status,
            headers=reply.headers,
            segments=reply.segments,
            streamed=reply.streamed,
            ending=reply.ending,
            keep_alive=reply.keep_alive,
            reached=self.reached.append,
            finished=self.finished.put,
        )

    def how(self) -> str:
        how = self.finished.get(timeout=PATIENCE)
        assert self.finished.empty()
        return how
