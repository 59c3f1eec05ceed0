"""Measures the server against a bare asyncio protocol: python tests/bench/bench_server.py

Both serve the same bytes to the same client, a child process with plain sockets, in alternating
rounds. Shown are the median and the range of requests a second, and of the CPU time that the
serving process spends on a request.
"""

from __future__ import annotations

import argparse
import asyncio
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median

from loopcheck.fake_providers.server import Server
from loopcheck.fake_providers.wire import HttpRequest, Reply

EVENT = b'data: {"choices":[{"index":0,"delta":{"content":"word "}}]}\n\n'
HEADERS = (("content-type", "application/json"),)
REPLIES = {
    "plain": Reply(status=200, headers=HEADERS, segments=(b'{"ok":true}' * 30,)),
    "stream": Reply(status=200, headers=HEADERS, segments=(EVENT,) * 500, streamed=True),
}
REQUEST = (
    b"POST /c/bench/v1/chat/completions HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer x\r\n"
    b"content-type: application/json\r\ncontent-length: 300\r\n\r\n" + b" " * 300
)
CONNECTIONS = 8

CLIENT = """
import socket, sys, time
port, size, count, connections = map(int, sys.argv[1:])
request = sys.stdin.buffer.read()
socks = [socket.create_connection(("127.0.0.1", port)) for _ in range(connections)]
buffer = bytearray(size)
start = time.perf_counter()
for _ in range(count // connections):
    for sock in socks:
        sock.sendall(request)
    for sock in socks:
        left = size
        while left:
            left -= sock.recv_into(buffer, left)
print(time.perf_counter() - start)
"""


class BareProtocol(asyncio.Protocol):
    """The least that can serve these bytes: no parsing, no routing, no endings."""

    def __init__(self, writes: list[bytes]) -> None:
        self._writes = writes

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        if len(self._writes) == 1:
            self._transport.write(self._writes[0])
        else:
            self._task = asyncio.get_running_loop().create_task(self._stream())

    async def _stream(self) -> None:
        for data in self._writes:
            self._transport.write(data)
            await asyncio.sleep(0)


@contextmanager
def bare_server(writes: list[bytes]) -> Iterator[int]:
    loop = asyncio.new_event_loop()
    start = loop.create_server(lambda: BareProtocol(writes), "127.0.0.1", 0)
    server = loop.run_until_complete(start)
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


@contextmanager
def real_server(reply: Reply) -> Iterator[int]:
    def app(request: HttpRequest) -> Reply:
        return reply

    with Server() as server:
        server.mount("bench", app)
        yield int(server.url.rpartition(":")[2])


def writes_of(reply: Reply) -> list[bytes]:
    """The writes that the real server makes for this reply."""
    with real_server(reply) as port, socket.create_connection(("127.0.0.1", port)) as client:
        client.sendall(REQUEST)
        data = b""
        end = b"0\r\n\r\n" if reply.streamed else reply.segments[0]
        while not data.endswith(end):
            data += client.recv(65536)
    if not reply.streamed:
        return [data]
    head, _, body = data.partition(b"\r\n\r\n")
    chunk = body[: (len(body) - 5) // len(reply.segments)]
    return [head + b"\r\n\r\n", *[chunk] * len(reply.segments), end]


def measure(port: int, size: int, count: int) -> tuple[float, float]:
    """Requests a second, and microseconds of this process's CPU time a request."""
    command = [sys.executable, "-c", CLIENT, *map(str, (port, size, count, CONNECTIONS))]
    cpu = time.process_time()
    client = subprocess.run(command, input=REQUEST, stdout=subprocess.PIPE, check=True)
    return count / float(client.stdout), (time.process_time() - cpu) / count * 1e6


def show(title: str, unit: str, rounds: dict[str, list[float]]) -> None:
    for name, values in rounds.items():
        spread = f"{min(values):,.0f} to {max(values):,.0f}"
        print(f"{title:8} {unit:16} {name:10} {median(values):>10,.0f}   {spread}")
    print(f"{title:8} {unit:16} ratio      {_ratio(rounds):>10.2f}")


def _ratio(rounds: dict[str, list[float]]) -> float:
    return median(rounds["loopcheck"]) / median(rounds["bare"])


def bench(title: str, count: int, rounds: int) -> None:
    reply = REPLIES[title]
    writes = writes_of(reply)
    size = sum(map(len, writes))
    speed: dict[str, list[float]] = {"bare": [], "loopcheck": []}
    cpu: dict[str, list[float]] = {"bare": [], "loopcheck": []}
    with bare_server(writes) as bare, real_server(reply) as real:
        servers = {"bare": bare, "loopcheck": real}
        for number in range(rounds):
            names = sorted(servers, reverse=number % 2 == 1)
            for name in names:
                rate, micros = measure(servers[name], size, count)
                speed[name].append(rate)
                cpu[name].append(micros)
    show(title, "requests/s", speed)
    show(title, "CPU us/request", cpu)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies the request counts")
    options = parser.parse_args()
    print(f"{'replies':8} {'measure':16} {'server':10} {'median':>10}   range")
    bench("plain", int(20_000 * options.scale), options.rounds)
    bench("stream", int(400 * options.scale), options.rounds)


if __name__ == "__main__":
    main()
