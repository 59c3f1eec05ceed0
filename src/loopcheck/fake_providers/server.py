"""A loopback HTTP server on a thread of its own, whose replies are exact to the byte.

Requests are parsed by a library; what is sent back is written here, since half chunks, resets
and stalls are the point. Connections are kept alive, for some clients take a closed connection
for a complete body.
"""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import threading
from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from types import TracebackType
from typing import Final

from loopcheck.fake_providers._connection import Connection
from loopcheck.fake_providers._mounts import App, AppError, Mounts

__all__ = ["App", "AppError", "Server", "ServerError"]

_BACKLOG: Final = 1024
_CUT_SECONDS: Final = 5.0
_READ_BYTES: Final = 256 * 1024


class ServerError(Exception):
    """The server cannot do what it was asked. The message says what would help."""


class Server:
    """Serves apps to any number of clients; a context manager.

    Each app is mounted under a key of its own and runs in the server's event loop, so an app
    that blocks holds up all of them. `errors` lists what apps raised; their clients got a 500.
    """

    def __init__(self, *, host: str = "127.0.0.1", port: int = 0) -> None:
        self._host = host
        self._port = port
        self._mounts = Mounts()
        self._connections: set[Connection] = set()
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def __enter__(self) -> Server:
        listener = self._listen()
        self._port = listener.getsockname()[1]
        started: Future[asyncio.AbstractEventLoop] = Future()
        self._thread = threading.Thread(
            target=self._run,
            args=(listener, started),
            name=f"loopcheck-server-{self._port}",
            daemon=True,
        )
        self._thread.start()
        self._loop = started.result()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def url(self) -> str:
        """The server's root, such as http://127.0.0.1:40117."""
        _ = self.loop
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{host}:{self._port}"

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The event loop that apps run in."""
        if self._loop is None:
            raise ServerError("the server is not running; enter it with `with Server() as server:`")
        return self._loop

    @property
    def errors(self) -> tuple[AppError, ...]:
        """What apps and the callbacks of their replies raised, in order."""
        return tuple(self._mounts.errors)

    def mount(self, key: str, app: App) -> str:
        """Serves everything below /c/KEY/ with this app, and returns the URL of that root."""
        if not key or not key.isascii() or not key.isprintable() or set(key) & set(" /?#%"):
            raise ServerError(f"cannot mount at {key!r}: a key is one plain part of a path")
        if key in self._mounts.apps:
            raise ServerError(f"cannot mount at {key!r}: something is mounted there")
        root = f"{self.url}/c/{key}"
        self._mounts.apps[key] = app
        return root

    def mount_root(self, app: App) -> str:
        """Serves everything that is not below /c/ with this app, and returns the server's URL."""
        self._mounts.apps[""] = app
        return self.url

    def unmount(self, key: str) -> None:
        """Takes the app away and cuts the connections that it is answering, stalled ones too.

        When it returns nothing of the app runs any more, unless it is called from the server's
        own loop, which cannot wait for itself.
        """
        self._mounts.apps.pop(key, None)
        if threading.current_thread() is self._thread:
            _cut(self._serving(key))
        elif self._loop is not None:
            ended = asyncio.run_coroutine_threadsafe(self._unmounted(key), self._loop)
            try:
                ended.result(_CUT_SECONDS)
            except TimeoutError:
                raise ServerError(f"the app at /c/{key} does not end when cancelled") from None

    def close(self) -> None:
        """Ends all connections and the server's thread. May be called again."""
        thread, self._thread = self._thread, None
        loop, self._loop = self._loop, None
        if thread is not None and loop is not None:
            loop.call_soon_threadsafe(self._stop.set)
            thread.join(_CUT_SECONDS)
            if thread.is_alive():
                raise ServerError("an app does not end when cancelled; the server goes on")

    def _listen(self) -> socket.socket:
        family = socket.AF_INET6 if ":" in self._host else socket.AF_INET
        try:
            return socket.create_server((self._host, self._port), family=family)
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                hint = "choose another, or 0 for any that is free"
                raise ServerError(f"port {self._port} is in use; {hint}") from None
            why = os.strerror(error.errno) if error.errno else str(error)
            raise ServerError(f"cannot listen on {self._host}:{self._port}: {why}") from None

    def _run(self, listener: socket.socket, started: Future[asyncio.AbstractEventLoop]) -> None:
        try:
            asyncio.run(self._serve(listener, started))
        except BaseException as error:
            if started.done():
                raise
            started.set_exception(error)

    async def _serve(
        self, listener: socket.socket, started: Future[asyncio.AbstractEventLoop]
    ) -> None:
        loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        # For all connections: what is read is taken out before anything else is. Without it asyncio
        # has 256 KiB mapped and unmapped for each read, which takes longer than all else.
        buffer = bytearray(_READ_BYTES)
        server = await loop.create_server(
            lambda: Connection(self._mounts, self._connections, buffer),
            sock=listener,
            backlog=_BACKLOG,
        )
        started.set_result(loop)
        await self._stop.wait()
        server.close()
        await _ended(_cut(tuple(self._connections)))

    def _serving(self, key: str) -> list[Connection]:
        return [connection for connection in self._connections if connection.serves(key)]

    async def _unmounted(self, key: str) -> None:
        await _ended(_cut(self._serving(key)))


def _cut(connections: Sequence[Connection]) -> Sequence[Connection]:
    for connection in connections:
        connection.cut()
    return connections


async def _ended(connections: Iterable[Connection]) -> None:
    await asyncio.gather(*(connection.ended() for connection in connections))
