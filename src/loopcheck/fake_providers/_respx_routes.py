"""Routes of respx into an app. The only module that knows respx, and imported when it is used.

respx brings a mocker for `httpcore`, on which HTTPX stands; `pytest-httpx2` registers one for
`httpcore2`, on which HTTPX2 stands. Both speak in HTTPX's values. Endings are raised as the core's
own exceptions, so that the client maps them to its own as it does for a socket.
"""

from __future__ import annotations

import errno
import os
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Final, Literal

import anyio.lowlevel
import httpx
from respx import MockRouter
from respx.mocks import Mocker

from loopcheck.fake_providers.inprocess import InProcess, InProcessError
from loopcheck.fake_providers.wire import Reply

_CORES: Final = ("httpcore", "httpcore2")
_NO_ANSWER: Final = "Server disconnected without sending a response."


@dataclass(frozen=True, slots=True)
class Failures:
    """A core's exceptions for what can become of a connection."""

    disconnected: type[Exception]
    broken: type[Exception]
    silent: type[Exception]

    @classmethod
    def of(cls, core: str) -> Failures:
        module = import_module(core)
        return cls(module.RemoteProtocolError, module.ReadError, module.ReadTimeout)


class Routes:
    """One router for each generation of clients that is installed."""

    def __init__(self, serving: InProcess) -> None:
        if "httpcore2" not in Mocker.registry:
            import_module("pytest_httpx2")
        self._bodies: set[Body] = set()
        self._routes = [
            _Route(serving, self._bodies, Mocker.registry[core], Failures.of(core))
            for core in _CORES
            if find_spec(core) is not None
        ]

    def start(self) -> None:
        for route in self._routes:
            route.router.start()

    def stop(self) -> None:
        """Takes the routes away, and cuts the replies that are being read."""
        for route in self._routes:
            route.router.stop()
        for body in tuple(self._bodies):
            body.cut()


class _Router(MockRouter):
    """A router of ours, told apart from those of a test."""


class _Route:
    def __init__(
        self, serving: InProcess, bodies: set[Body], mocker: type[Mocker], failures: Failures
    ) -> None:
        self._serving, self._bodies = serving, bodies
        self._mocker, self._failures = mocker, failures
        self.router = _Router(assert_all_called=False, using=mocker.name)
        self.router.route().side_effect = self._answer

    def _answer(self, request: httpx.Request) -> httpx.Response | httpx.Request | None:
        url = request.url
        for root in self._serving.roots:
            target = root.below(url.scheme, url.host, url.port, url.raw_path.decode("latin-1"))
            if target is not None:
                return self._respond(request, target)
        return self._elsewhere(request)

    def _elsewhere(self, request: httpx.Request) -> httpx.Request | None:
        """Passes on to the next router, and behind the last one to the network; but what no
        mock of the test answers is for respx to refuse."""
        routers = self._mocker.routers
        alone = all(isinstance(router, _Router) for router in routers)
        return request if alone and routers[-1] is self.router else None

    def _respond(self, request: httpx.Request, target: str) -> httpx.Response:
        reply, head = self._serving.answer(
            request.method, target, request.headers.raw, request.content
        )
        if reply.ending == "close":
            how: Literal["written"] = "written"
            self._serving.tell(reply.finished, how)
            raise self._failures.disconnected(_NO_ANSWER)
        status, *lines = head.decode("latin-1").rstrip().split("\r\n")
        return httpx.Response(
            reply.status,
            headers=[(name, value) for name, _, value in (line.partition(": ") for line in lines)],
            stream=Body(self._serving, self._bodies, request, reply, self._failures),
            request=request,
            extensions={
                "http_version": b"HTTP/1.1",
                "reason_phrase": status.split(" ", 2)[2].encode("ascii"),
            },
        )


class Body(httpx.SyncByteStream, httpx.AsyncByteStream):
    """The body of one reply, given to the client segment by segment as it reads.

    What a socket would take at once, everything up to the next pause, counts as written before
    the client reads it: a client that stops early has closed nothing that was under way. A pause
    is skipped, unless the client's read timeout is shorter.
    """

    def __init__(
        self,
        serving: InProcess,
        bodies: set[Body],
        request: httpx.Request,
        reply: Reply,
        failures: Failures,
    ) -> None:
        self._serving, self._bodies = serving, bodies
        self._reply, self._failures = reply, failures
        # A client has read the whole reply to HEAD with its headers.
        self._is_head = request.method == "HEAD"
        self._segments = () if self._is_head else reply.segments
        self._read_seconds = request.extensions.get("timeout", {}).get("read")
        self._written = 0
        self._finished = self._is_cut = False
        bodies.add(self)
        if not self._segments or not reply.pauses.get(0):
            self._write()

    def __iter__(self) -> Iterator[bytes]:
        for index, segment in enumerate(self._segments):
            self._check_uncut()
            if self._reply.pauses.get(index):
                self._pause(self._reply.pauses[index] / 1000)
            yield segment
        self._check_uncut()
        self._end()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for segment in self:
            await anyio.lowlevel.checkpoint()
            yield segment

    def close(self) -> None:
        self._bodies.discard(self)
        self._finish("client-closed")

    async def aclose(self) -> None:
        self.close()

    def cut(self) -> None:
        """Breaks the connection."""
        self._is_cut = True
        self.close()

    def _check_uncut(self) -> None:
        if self._is_cut:
            raise self._failures.broken("the fake provider has been taken away")

    def _finish(self, how: Literal["written", "client-closed"]) -> None:
        if not self._finished:
            self._finished = True
            self._serving.tell(self._reply.finished, how)

    def _write(self) -> None:
        for index in range(self._written, len(self._segments)):
            if index > self._written and self._reply.pauses.get(index):
                self._written = index
                return
            self._serving.tell(self._reply.reached, index)
        self._finish("written")

    def _pause(self, seconds: float) -> None:
        if self._read_seconds is not None and seconds >= self._read_seconds:
            raise self._silence(f"pauses for {seconds} s")
        self._write()

    def _end(self) -> None:
        match "complete" if self._is_head else self._reply.ending:
            case "half-chunk":
                raise self._failures.disconnected(self._incomplete())
            case "reset":
                reset = OSError(errno.ECONNRESET, os.strerror(errno.ECONNRESET))
                raise self._failures.broken(str(reset))
            case "stall":
                raise self._silence("stalls")
            case _:
                self._bodies.discard(self)

    def _incomplete(self) -> str:
        size = sum(map(len, self._segments))
        how = "incomplete chunked read"
        if not self._reply.streamed:
            how = f"received {size} bytes, expected {size + 1}"
        return f"peer closed connection without sending complete message body ({how})"

    def _silence(self, what: str) -> Exception:
        if self._read_seconds is not None:
            limit = f"the client's read timeout of {self._read_seconds} s has not been waited for"
            return self._failures.silent(f"the fake provider {what}; {limit}")
        endless = InProcessError(
            "the fake provider stalls and the client has no read timeout, so it would wait for ever"
        )
        self._serving.report(endless)
        return endless
