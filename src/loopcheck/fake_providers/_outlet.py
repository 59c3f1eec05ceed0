"""Writes replies to a client: segment by segment, to whatever end the reply has."""

from __future__ import annotations

import asyncio
import socket
import struct
import sys
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Final, Literal

from loopcheck.fake_providers._requests import Received
from loopcheck.fake_providers._responses import LAST_CHUNK, OPEN_CHUNK, chunk, head
from loopcheck.fake_providers.wire import Ending, Reply

if sys.platform != "win32":
    import fcntl
    import termios

_AT_ONCE_BYTES: Final = 64 * 1024
# So many segments are written before others get their turn.
_ROW: Final = 64
_RESET_SECONDS: Final = 1.0
_POLL_SECONDS: Final = 0.001
_LAST: Final[dict[Ending, bytes]] = {"complete": LAST_CHUNK, "half-chunk": OPEN_CHUNK}


class ClientClosed(Exception):
    """The client closed the connection before everything was written."""


class Outlet:
    """The sending side of one connection. `left` is done when the connection is gone."""

    def __init__(self, transport: asyncio.Transport) -> None:
        # A segment counts as written when the socket has it, not when asyncio keeps it.
        transport.set_write_buffer_limits(high=0)
        # asyncio does this only for sockets that were made with an explicit protocol.
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._transport = transport
        self._room = asyncio.Event()
        self._room.set()
        self._lost = asyncio.Event()
        self.left: Future[None] = Future()

    def pause(self) -> None:
        """The socket takes no more for now."""
        self._room.clear()

    def resume(self) -> None:
        """The socket has taken everything."""
        self._room.set()

    def lose(self) -> None:
        """The connection is gone: whatever is being written ends now."""
        self._lost.set()
        self.left.set_result(None)
        self._room.set()

    @property
    def is_lost(self) -> bool:
        return self._lost.is_set()

    async def lost(self) -> None:
        """Returns when the connection is gone."""
        await self._lost.wait()

    def deliver_at_once(self, received: Received, reply: Reply) -> bool:
        """Delivers a small whole reply without waiting for anything; False if it is not one."""
        plain = not reply.streamed and reply.ending == "complete" and len(reply.segments) == 1
        if not plain or len(reply.segments[0]) > _AT_ONCE_BYTES or not self._room.is_set():
            return False
        keep_alive = _keeps_alive(received, reply)
        start = head(reply, keep_alive=keep_alive, chunks=received.chunks)
        has_body = received.request.method != "HEAD"
        self._transport.write(start + reply.segments[0] if has_body else start)
        if reply.reached is not None:
            reply.reached(0)
        if reply.finished is not None:
            reply.finished("written")
        if not keep_alive:
            self._transport.close()
        return True

    async def deliver(self, received: Received, reply: Reply) -> None:
        """Writes the reply and brings about its ending. Returns early when the client is gone."""
        how: Literal["written", "client-closed"] = "client-closed"
        try:
            if reply.ending != "close":
                await self._write_reply(received, reply)
            how = "written"
        except ClientClosed:
            return
        finally:
            if reply.finished is not None:
                reply.finished(how)
        await self._end(reply, keep_alive=_keeps_alive(received, reply))

    async def _write_reply(self, received: Received, reply: Reply) -> None:
        keep_alive = _keeps_alive(received, reply)
        await self._write(head(reply, keep_alive=keep_alive, chunks=received.chunks))
        if received.request.method == "HEAD":
            return
        chunked = reply.streamed and received.chunks
        if reply.reached is None and not reply.pauses:
            await self._write_in_rows(reply.segments, chunked=chunked)
        else:
            await self._write_one_by_one(reply, chunked=chunked)
        # Not put off: a client that is content with the last segment may close at once.
        if chunked and reply.ending in _LAST:
            await self._write(_LAST[reply.ending])

    async def _write_one_by_one(self, reply: Reply, *, chunked: bool) -> None:
        for index, segment in enumerate(reply.segments):
            await asyncio.sleep(reply.pauses.get(index, 0) / 1000)
            # An empty chunk would be the last one.
            if segment:
                await self._write(chunk(segment) if chunked else segment)
            if reply.reached is not None:
                reply.reached(index)

    async def _write_in_rows(self, segments: Sequence[bytes], *, chunked: bool) -> None:
        """The same at a third of the cost, where nobody waits for anything between segments."""
        write, room, is_gone = self._transport.write, self._room, self._transport.is_closing
        for start in range(0, len(segments), _ROW):
            await asyncio.sleep(0)
            for segment in segments[start : start + _ROW]:
                if is_gone():
                    raise ClientClosed
                if segment:
                    write(b"%x\r\n%b\r\n" % (len(segment), segment) if chunked else segment)
                    if not room.is_set():
                        await room.wait()
            if is_gone():
                raise ClientClosed

    async def _write(self, data: bytes) -> None:
        if self._transport.is_closing():
            raise ClientClosed
        self._transport.write(data)
        if not self._room.is_set():
            await self._room.wait()
        if self._transport.is_closing():
            raise ClientClosed

    async def _end(self, reply: Reply, *, keep_alive: bool) -> None:
        match reply.ending:
            case "stall":
                await self.lost()
            case "reset":
                await self._reset()
            case "half-chunk" | "close":
                self._transport.close()
            case "complete":
                if not keep_alive:
                    self._transport.close()

    async def _reset(self) -> None:
        """Resets once the client's side has all bytes, for a reset drops those under way."""
        connection: socket.socket = self._transport.get_extra_info("socket")
        clock = asyncio.get_running_loop()
        deadline = clock.time() + _RESET_SECONDS
        while not self._transport.is_closing() and clock.time() < deadline:
            if not _bytes_under_way(connection):
                break
            await asyncio.sleep(_POLL_SECONDS)
        if not self._transport.is_closing():
            linger = struct.pack("ii", 1, 0)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self._transport.abort()


def _keeps_alive(received: Received, reply: Reply) -> bool:
    delimited = received.chunks or not reply.streamed
    return received.keep_alive and reply.keep_alive and delimited


def _bytes_under_way(connection: socket.socket) -> int:
    if sys.platform == "win32":
        return 0
    answer = fcntl.ioctl(connection.fileno(), termios.TIOCOUTQ, b"\0" * 4)
    return int.from_bytes(answer, sys.byteorder)
