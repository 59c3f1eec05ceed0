"""A keep-alive client on plain sockets that loads a server, as a process of its own.

    python load_client.py PORT COUNT CONNECTIONS < REQUEST

Each connection sends the request again as soon as its answer is complete. Printed are the
seconds that all answers took, how many were complete, and the bytes of the last one.
"""

from __future__ import annotations

import asyncio
import re
import sys
import time
from dataclasses import dataclass, field
from typing import Final

LAST_CHUNK: Final = b"0\r\n\r\n"
LENGTH: Final = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)


@dataclass(slots=True)
class Load:
    """The requests that are left, and what came of the others."""

    request: bytes
    left: int
    complete: int = 0
    size: int = 0
    done: asyncio.Event = field(default_factory=asyncio.Event)


class Client(asyncio.Protocol):
    """One connection; reads answers of a known length or in chunks."""

    def __init__(self, load: Load) -> None:
        self._load = load

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._next()

    def connection_lost(self, exc: Exception | None) -> None:
        self._load.done.set()

    def data_received(self, data: bytes) -> None:
        self._size += len(data)
        self._tail = (self._tail + data)[-len(LAST_CHUNK) :]
        if self._wanted is None and not self._chunked:
            self._read_head(data)
        if self._size == self._wanted or (self._chunked and self._tail == LAST_CHUNK):
            self._load.complete += 1
            self._load.size = self._size
            self._next()

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

    def _next(self) -> None:
        self._head = bytearray()
        self._tail = b""
        self._size = 0
        self._wanted: int | None = None
        self._chunked = False
        if not self._load.left:
            self._transport.close()
            return
        self._load.left -= 1
        self._transport.write(self._load.request)


async def main(port: int, count: int, connections: int) -> None:
    load = Load(sys.stdin.buffer.read(), count)
    loop = asyncio.get_running_loop()
    started = time.perf_counter()
    for _ in range(connections):
        await loop.create_connection(lambda: Client(load), "127.0.0.1", port)
    while load.complete < count:
        load.done.clear()
        await load.done.wait()
    print(time.perf_counter() - started, load.complete, load.size)


if __name__ == "__main__":
    asyncio.run(main(*map(int, sys.argv[1:])))
