"""One request over a connection of its own, which may be broken off while it is answered."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import suppress
from http.client import HTTPConnection
from urllib.parse import urlsplit

Answer = tuple[int, bytes]


class Exchange:
    """Posts JSON to an URL, once. The answer is its status and its body."""

    def __init__(self, where: str) -> None:
        url = urlsplit(where)
        self._connection = HTTPConnection(url.netloc)
        self._path = url.path
        self._lock = threading.Lock()
        self._given_up = False

    def ask(self, body: Mapping[str, object], headers: Mapping[str, str] | None = None) -> Answer:
        """The answer. Raises OSError when there is none."""
        try:
            with self._lock:
                if self._given_up:
                    raise ConnectionAbortedError("given up before it was asked")
                self._connection.connect()
            sent = {"content-type": "application/json", **(headers or {})}
            self._connection.request("POST", self._path, json.dumps(dict(body)), sent)
            answer = self._connection.getresponse()
            return answer.status, answer.read()
        finally:
            self._connection.close()

    async def aask(
        self, body: Mapping[str, object], headers: Mapping[str, str] | None = None
    ) -> Answer:
        """The same without blocking the event loop; cancelled, it closes the connection.

        It has a thread of its own: a pool would fill up with calls that wait for one that has no
        thread yet.
        """
        done: Future[Answer] = Future()

        def run() -> None:
            try:
                done.set_result(self.ask(body, headers))
            except BaseException as error:
                done.set_exception(error)

        done.set_running_or_notify_cancel()
        threading.Thread(target=run, name="loopcheck-tool", daemon=True).start()
        try:
            return await asyncio.wrap_future(done)
        except asyncio.CancelledError:
            self._give_up()
            raise

    def _give_up(self) -> None:
        with self._lock:
            self._given_up = True
            if self._connection.sock is not None:
                with suppress(OSError):  # it has just ended by itself
                    self._connection.sock.shutdown(socket.SHUT_RDWR)
