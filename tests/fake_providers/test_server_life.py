from __future__ import annotations

import asyncio
import http.client
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from urllib.request import urlopen

import pytest
from raw_http import PATIENCE, ask, connect, read_to_end, read_until, request_bytes, streamed, whole

from loopcheck.fake_providers.server import Server, ServerError
from loopcheck.fake_providers.wire import HttpRequest, Reply


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        yield server
        assert [error.error for error in server.errors] == []


class TestLife:
    def test_a_connection_is_kept(self, server: Server) -> None:
        server.mount("k", lambda request: streamed(b"a", b"b") if request.body else whole(b"c"))
        client = http.client.HTTPConnection(server.url.removeprefix("http://"))
        client.connect()
        connection = client.sock
        for body, answer in ((b"1", b"ab"), (None, b"c"), (b"2", b"ab")):
            client.request("POST", "/c/k/", body)
            assert client.getresponse().read() == answer
            assert client.sock is connection
        client.close()

    def test_segments_are_not_held_back(self, server: Server) -> None:
        """With Nagle's algorithm each second segment would wait 40 ms for the first's ACK."""
        with connect(server) as client:
            server.mount("k", lambda request: whole(b"ok"))
            client.sendall(request_bytes("/c/k/"))
            read_until(client, b"ok")
            [connection] = server._connections
            sending = connection._transport.get_extra_info("socket")
            assert sending.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)

    def test_a_pause_is_waited_for(self, server: Server) -> None:
        reply = replace(streamed(b"one", b"two", b"three"), pauses={1: 30, 2: 20})
        server.mount("k", lambda request: reply)
        begun = time.monotonic()
        answer = ask(server, request_bytes("/c/k/", head="connection: close\r\n"))
        assert b"three" in answer
        assert time.monotonic() - begun >= 0.05

    def test_many_clients_at_once(self, server: Server) -> None:
        async def app(request: HttpRequest) -> Reply:
            await asyncio.sleep(0)
            return streamed(*(bytes([byte]) for byte in request.body))

        server.mount("k", app)
        together = threading.Barrier(50)

        def client(number: int) -> bool:
            together.wait(PATIENCE)
            connection = http.client.HTTPConnection(server.url.removeprefix("http://"))
            for turn in range(4):
                body = f"{number}/{turn}".encode()
                connection.request("POST", "/c/k/", body)
                assert connection.getresponse().read() == body
            connection.close()
            return True

        with ThreadPoolExecutor(50) as pool:
            assert all(pool.map(client, range(50)))

    def test_two_hundred_open_requests(self, server: Server) -> None:
        """None of them can be answered before all have arrived."""
        arrived: list[asyncio.Future[None]] = []

        async def app(request: HttpRequest) -> Reply:
            arrived.append(asyncio.get_running_loop().create_future())
            if len(arrived) == 200:
                for future in arrived:
                    future.set_result(None)
            await arrived[-1]
            return whole(request.path.encode(), keep_alive=False)

        server.mount("k", app)
        clients = [connect(server) for _ in range(200)]
        for number, client in enumerate(clients):
            client.sendall(request_bytes(f"/c/k/{number}"))
        for number, client in enumerate(clients):
            assert read_to_end(client).endswith(f"\r\n\r\n/{number}".encode())
            client.close()

    def test_connections_are_bounded(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("loopcheck.fake_providers._connection.most_connections", lambda: 1)
        with Server() as server:
            server.mount("k", lambda request: whole(b"ok"))
            with connect(server) as first:
                first.sendall(request_bytes("/c/k/"))
                read_until(first, b"ok")
                with connect(server) as second:
                    assert read_to_end(second).startswith(b"HTTP/1.1 503 ")

    def test_unmounting_waits_for_the_app(self, server: Server) -> None:
        entered, cancelled = threading.Event(), threading.Event()

        async def app(request: HttpRequest) -> Reply:
            entered.set()
            try:
                await asyncio.Event().wait()
            finally:
                cancelled.set()
            raise AssertionError

        server.mount("k", app)
        with connect(server) as client:
            client.sendall(request_bytes("/c/k/"))
            assert entered.wait(PATIENCE)
            server.unmount("k")
            assert cancelled.is_set()
            server.unmount("k")

    def test_unmounting_leaves_other_cases_alone(self, server: Server) -> None:
        server.mount("a", lambda request: whole(b"a", ending="stall"))
        server.mount("b", lambda request: whole(b"b", ending="stall"))
        with connect(server) as one, connect(server) as other:
            for client, key in ((one, "a"), (other, "b")):
                client.sendall(request_bytes(f"/c/{key}/"))
                read_until(client, b"\r\n\r\n" + key.encode())
            server.unmount("a")
            assert one.recv(1) == b""
            other.setblocking(False)
            with pytest.raises(BlockingIOError):
                other.recv(1)

    def test_an_app_may_unmount_itself(self, server: Server) -> None:
        async def app(request: HttpRequest) -> Reply:
            server.unmount("k")
            return whole(b"never")

        server.mount("k", app)
        assert ask(server, request_bytes("/c/k/")) == b""

    def test_an_app_that_does_not_end_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("loopcheck.fake_providers.server._CUT_SECONDS", 0.05)
        entered, released = threading.Event(), threading.Event()

        async def app(request: HttpRequest) -> Reply:
            entered.set()
            while not released.is_set():
                with suppress(asyncio.CancelledError):
                    await asyncio.sleep(0.001)
            return whole(b"late")

        server = Server()
        server.__enter__()
        server.mount("k", app)
        with connect(server) as client:
            client.sendall(request_bytes("/c/k/"))
            assert entered.wait(PATIENCE)
            with pytest.raises(ServerError, match="the app at /c/k does not end"):
                server.unmount("k")
            [thread] = [t for t in threading.enumerate() if t.name.startswith("loopcheck-server")]
            with pytest.raises(ServerError, match="the server goes on"):
                server.close()
        released.set()
        thread.join(PATIENCE)
        assert not thread.is_alive()

    def test_nothing_is_left_after_close(self) -> None:
        before = threading.active_count()
        server = Server()
        with server:
            url = server.url
            server.mount("k", lambda request: streamed(b"!", ending="stall"))
            clients = [connect(server) for _ in range(5)]
            for client in clients:
                client.sendall(request_bytes("/c/k/"))
                read_until(client, b"!\r\n")
        server.close()
        assert threading.active_count() == before
        for client in clients:
            assert client.recv(1) == b""
            client.close()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2])))
        with pytest.raises(ServerError, match="not running"):
            _ = server.url

    def test_a_port_in_use_is_one_clear_line(self, server: Server) -> None:
        port = int(server.url.rpartition(":")[2])
        with pytest.raises(ServerError) as raised, Server(port=port):
            pass
        hint = "choose another, or 0 for any that is free"
        assert str(raised.value) == f"port {port} is in use; {hint}"

    def test_a_host_that_is_not_ours_is_one_clear_line(self) -> None:
        with pytest.raises(ServerError, match=r"^cannot listen on 192\.0\.2\.1:0: "):
            Server(host="192.0.2.1").__enter__()

    @pytest.mark.skipif(not socket.has_ipv6, reason="needs IPv6")
    def test_the_other_loopback(self) -> None:
        with Server(host="::1") as server:
            root = server.mount("k", lambda request: whole(b"six"))
            assert urlopen(root, timeout=PATIENCE).read() == b"six"

    @pytest.mark.parametrize("key", ["", "a/b", "a b", "ü", "a?b"])
    def test_a_key_is_one_part_of_a_path(self, server: Server, key: str) -> None:
        with pytest.raises(ServerError, match="one plain part"):
            server.mount(key, lambda request: whole(b""))

    def test_a_key_is_mounted_once(self, server: Server) -> None:
        server.mount("k", lambda request: whole(b""))
        with pytest.raises(ServerError, match="something is mounted there"):
            server.mount("k", lambda request: whole(b""))
