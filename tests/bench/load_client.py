"""A keep-alive client on plain sockets that loads a server, as a process of its own.

    python load_client.py PORT COUNT CONNECTIONS < REQUEST

All connections are open before the first request is sent; each sends another one as soon as its
answer is complete. `00000000` in the request
becomes its number. Printed are the seconds that all answers took, how many were complete, and the
bytes of the last one.
"""

from __future__ import annotations

import asyncio
import re
import sys
import time
from dataclasses import dataclass, field
from typing import Final

from loopcheck.fake_providers._limits import allow_most_connections

NUMBER: Final = b"00000000"
LAST_CHUNK: Final = b"0\r\n\r\n"
LENGTH: Final = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)


@dataclass(slots=True)
class Load:
    """The requests that are left, and what came of the others."""

    request: bytes
    left: int
    open: int
    complete: int = 0
    size: int = 0
    ended: asyncio.Event = field(default_factory=asyncio.Event)


class Client(asyncio.Protocol):
    """One connection; reads answers of a known length or in chunks."""

    def __init__(self, load: Load) -> None:
        self._load = load
        self._head = bytearray()
        self._tail = b""
        self._size = 0
        self._wanted: int | None = None
        self._chunked = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        self._load.open -= 1
        if not self._load.open:
            self._load.ended.set()

    def data_received(self, data: bytes) -> None:
        self._size += len(data)
        self._tail = (self._tail + data)[-len(LAST_CHUNK) :]
        if self._wanted is None and not self._chunked:
            self._read_head(data)
        if self._size == self._wanted or (self._chunked and self._tail == LAST_CHUNK):
            self._load.complete += 1
            self._load.size = self._size
            self.ask()

    def _read_head(self, data: bytes) -> None:
        self._head += data
        head, mark, _ = self._head.partition(b"\r\n\r\n")
        if not mark:
            return
        if not head.startswith(b"HTTP/1.1 200 "):
            raise SystemExit(f"not an answer: {bytes(self._head)!r}")
        length = LENGTH.search(head)
        self._chunked = length is None
        self._wanted = None if length is None else len(head) + 4 + int(length[1])

    def ask(self) -> None:
        """Sends the next request, or closes the connection when none is left."""
        self._head.clear()
        self._tail, self._size, self._wanted, self._chunked = b"", 0, None, False
        if not self._load.left:
            self._transport.close()
            return
        self._load.left -= 1
        number = b"%0*d" % (len(NUMBER), self._load.left)
        self._transport.write(self._load.request.replace(NUMBER, number))


async def main(port: int, count: int, connections: int) -> None:
    allow_most_connections()
    load = Load(sys.stdin.buffer.read(), count, connections)
    loop = asyncio.get_running_loop()
    clients = [
        (await loop.create_connection(lambda: Client(load), "127.0.0.1", port))[1]
        for _ in range(connections)
    ]
    started = time.perf_counter()
    for client in clients:
        client.ask()
    await load.ended.wait()
    print(time.perf_counter() - started, load.complete, load.size)


if __name__ == "__main__":
    asyncio.run(main(*map(int, sys.argv[1:])))
