"""A connection to an MCP server that outlives what goes wrong with it.

A transport that breaks cancels the task that opened it, whatever that task is doing. So each
connection is held by a task of its own, and whoever waits for an answer is told that it is lost.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Protocol, TypeAlias

from mcp import Client, ClientSession, StdioServerParameters, stdio_client

Where: TypeAlias = str | Sequence[str] | StdioServerParameters


class Connection(Protocol):
    """Gives the session in which to call."""

    @property
    def where(self) -> str:
        """The server, for messages."""
        ...

    async def session(self) -> ClientSession:
        """The open session. Raises ConnectionError where there is none, and none can be had."""
        ...

    def lost(self) -> None:
        """The server closed the session that was given out last."""


class OpenSession:
    """A session that somebody else opened, and closes."""

    def __init__(self, session: ClientSession) -> None:
        self._session = session

    @property
    def where(self) -> str:
        info = self._session.server_info
        return f"MCP server {info.name}" if info is not None else "MCP server"

    async def session(self) -> ClientSession:
        return self._session

    def lost(self) -> None:
        """It stays what it is: who opened it has to open another."""


class OwnConnection:
    """A connection to a URL or command, made again when it is needed after it was lost."""

    def __init__(self, server: Where) -> None:
        self._server = server
        self._task: asyncio.Task[None] | None = None
        self._opened: asyncio.Future[ClientSession] = asyncio.Future()
        self._over = asyncio.Event()
        self._is_closed = False

    @property
    def where(self) -> str:
        if isinstance(self._server, str):
            return f"MCP server {self._server}"
        if isinstance(self._server, StdioServerParameters):
            return f"MCP server {self._server.command}"
        return f"MCP server {self._server[0]}"

    async def session(self) -> ClientSession:
        if self._is_closed:
            raise ConnectionError(f"{self.where}: the connection was closed")
        if self._task is None or self._task.done() or self._over.is_set():
            self._opened, self._over = asyncio.Future(), asyncio.Event()
            self._task = asyncio.create_task(self._hold(self._opened, self._over, self._task))
        # Shielded: others may wait for it, too.
        return await asyncio.shield(self._opened)

    def lost(self) -> None:
        # Over HTTP one answer is lost, and the session goes on. A process is gone.
        if not isinstance(self._server, str):
            self._over.set()

    async def close(self) -> None:
        """Closes it, whether it is open or about to be, and returns when that is done."""
        self._is_closed = True
        self._over.set()
        if self._task is not None:
            if self._opened.cancel():
                self._task.cancel()
            await asyncio.wait({self._task})

    async def _hold(
        self,
        opened: asyncio.Future[ClientSession],
        over: asyncio.Event,
        before: asyncio.Task[None] | None,
    ) -> None:
        if before is not None:
            await asyncio.wait({before})
        try:
            async with self._client() as client:
                opened.set_result(client.session)
                try:
                    await over.wait()
                finally:
                    over.set()  # nobody gets this session any more
        except Exception as error:
            # Once it is open, those who wait for an answer learn of it by themselves.
            if not opened.done():
                opened.set_exception(ConnectionError(f"{self.where}: {_reason(error)}"))
                opened.exception()  # perhaps nobody waits for it any more

    def _client(self) -> Client:
        if isinstance(self._server, str):
            return Client(self._server)
        parameters = self._server
        if not isinstance(parameters, StdioServerParameters):
            command, *arguments = parameters
            parameters = StdioServerParameters(command=command, args=arguments)
        # The real one: what stands in for it, in notebooks and tests, may be no file.
        return Client(stdio_client(parameters, errlog=sys.__stderr__ or sys.stderr))


@asynccontextmanager
async def connection(server: Where | ClientSession) -> AsyncIterator[Connection]:
    """The connection, which is closed at the end unless somebody else opened it."""
    if isinstance(server, ClientSession):
        yield OpenSession(server)
        return
    own = OwnConnection(server)
    try:
        yield own
    finally:
        await own.close()


def _reason(error: BaseException) -> str:
    """The first error of a group, since the groups say nothing."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}"
