"""One connection of a client: its requests, answered one after the other."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable
from typing import Final, cast

from loopcheck.fake_providers._limits import most_connections
from loopcheck.fake_providers._mounts import Mounts, key_of
from loopcheck.fake_providers._outlet import Outlet
from loopcheck.fake_providers._requests import Received, Refusal, RequestReader
from loopcheck.fake_providers._responses import CONTINUE, error_reply, head
from loopcheck.fake_providers.wire import Reply

_MAX_PIPELINED: Final = 64
_LINGER_SECONDS: Final = 2.0


class Connection(asyncio.BufferedProtocol):
    """Answers the requests of one client in their order.

    A client that closes its sending side counts as gone: none that speaks to a provider does
    that and still reads. It stays in `open_connections` until it is closed and its app is done.
    """

    def __init__(
        self, mounts: Mounts, open_connections: set[Connection], buffer: bytearray
    ) -> None:
        self._mounts = mounts
        self._open = open_connections
        self._buffer = buffer
        self._reader = RequestReader()
        self._waiting: deque[Received | Refusal] = deque()
        self._task: asyncio.Task[None] | None = None
        self._key = ""
        self._ending = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._outlet = Outlet(self._transport)
        if len(self._open) >= most_connections():
            self._refuse(Refusal(503, f"{len(self._open)} connections are open already"))
        self._open.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._ending = True
        self._outlet.lose()
        if self._task is None:
            self._open.discard(self)

    def pause_writing(self) -> None:
        self._outlet.pause()

    def resume_writing(self) -> None:
        self._outlet.resume()

    def eof_received(self) -> None:
        if self._task is not None:
            self._transport.abort()

    def get_buffer(self, sizehint: int) -> bytearray:
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        if self._ending:
            return
        self._waiting.extend(self._reader.feed(bytes(memoryview(self._buffer)[:nbytes])))
        if self._reader.wants_continue and self._task is None:
            self._reader.wants_continue = False
            self._transport.write(CONTINUE)
        self._advance()
        if len(self._waiting) > _MAX_PIPELINED:
            self._transport.pause_reading()

    def serves(self, key: str) -> bool:
        """Whether a request to the app of that key is being answered."""
        return self._task is not None and self._key == key

    def cut(self) -> None:
        """Ends the connection at once, and cancels the app that is answering it."""
        self._ending = True
        if self._task is not None:
            self._task.cancel()
        self._transport.abort()

    async def ended(self) -> None:
        """Returns when the connection is closed and its app is done."""
        task = self._task
        await self._outlet.lost()
        if task is not None:
            await asyncio.wait({task})

    def _advance(self) -> None:
        while self._waiting and self._task is None and not self._ending:
            received = self._waiting.popleft()
            if isinstance(received, Refusal):
                self._refuse(received)
            else:
                self._begin(received)

    def _refuse(self, refusal: Refusal) -> None:
        """Answers, ends the sending side and drops what still comes: closing at once would reset
        the connection of a client that is still sending, and the answer would be lost."""
        self._ending = True
        reply = error_reply(refusal.status, "refused", refusal.message)
        self._transport.write(head(reply, keep_alive=False, chunks=True) + reply.segments[0])
        self._transport.write_eof()
        asyncio.get_running_loop().call_later(_LINGER_SECONDS, self._transport.abort)

    def _begin(self, received: Received) -> None:
        answer = self._ask(received)
        try:
            if isinstance(answer, Reply) and self._outlet.deliver_at_once(received, answer):
                return
        except Exception as error:
            self._break_off(received, error)
            return
        self._key = key_of(received.request)
        self._task = asyncio.get_running_loop().create_task(self._answer(received, answer))
        self._task.add_done_callback(self._answered)

    def _ask(self, received: Received) -> Reply | Awaitable[Reply]:
        try:
            return self._mounts.ask(received.request, left=self._outlet.left)
        except Exception as error:
            return self._mounts.report(received.request, error)

    async def _answer(self, received: Received, answer: Reply | Awaitable[Reply]) -> None:
        try:
            reply = answer if isinstance(answer, Reply) else await answer
        except Exception as error:
            reply = self._mounts.report(received.request, error)
        try:
            await self._outlet.deliver(received, reply)
        except Exception as error:
            self._break_off(received, error)

    def _answered(self, task: asyncio.Task[None]) -> None:
        self._task = None
        if self._outlet.is_lost:
            self._open.discard(self)
        self._advance()
        if len(self._waiting) <= _MAX_PIPELINED:
            self._transport.resume_reading()

    def _break_off(self, received: Received, error: Exception) -> None:
        self._mounts.report(received.request, error)
        self._transport.abort()
