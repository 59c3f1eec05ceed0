"""The fake providers without a socket: in this process, with the same bytes.

Requests of HTTPX and HTTPX2 clients are taken below their connection pools, so that everything
above is the client's own code: what it makes of headers, segments and broken connections is what
it makes of them on a socket. Other clients (aiohttp, requests, urllib) are not reached.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from threading import RLock
from types import TracebackType
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar
from urllib.parse import urlsplit

from loopcheck.fake_providers._requests import Received, Refusal, RequestReader
from loopcheck.fake_providers._responses import LAST_CHUNK, chunk, error_reply, head
from loopcheck.fake_providers.wire import HttpRequest, Reply

if TYPE_CHECKING:
    from loopcheck.fake_providers._respx_routes import Routes

__all__ = ["REAL_SERVICES", "InProcess", "InProcessError", "SyncApp", "in_process"]

SyncApp: TypeAlias = Callable[[HttpRequest], Reply]

REAL_SERVICES: Final = ("https://api.openai.com/v1", "https://api.anthropic.com")
Told = TypeVar("Told")
_PORTS: Final = {"http": 80, "https": 443}
_NEEDED: Final = ("respx", "httpx", "pytest_httpx2", "pytest")


class InProcessError(Exception):
    """The app cannot be served in process, or it failed there. The message says which and why."""


@dataclass(frozen=True, slots=True)
class Root:
    """Where an app's paths begin."""

    origin: tuple[str, str, int]
    path: str

    @classmethod
    def of(cls, base_url: str) -> Root:
        """The root for clients with this base URL. The app sees paths as the services have them,
        from `/v1` on, whether the client writes that itself or has it in its base URL."""
        try:
            parts = urlsplit(base_url)
            port = parts.port
        except ValueError as error:
            raise InProcessError(f"not a base URL: {base_url!r}: {error}") from None
        if parts.scheme not in _PORTS or not parts.hostname or parts.query or parts.fragment:
            raise InProcessError(f"not a base URL: {base_url!r}; it is like {REAL_SERVICES[0]}")
        path = parts.path.rstrip("/").removesuffix("/v1").rstrip("/")
        return cls((parts.scheme, parts.hostname, port or _PORTS[parts.scheme]), path)

    def below(self, scheme: str, host: str, port: int | None, target: str) -> str | None:
        """The request's target below this root, or None when it is elsewhere."""
        if (scheme, host, port or _PORTS.get(scheme)) != self.origin:
            return None
        if not target.startswith((f"{self.path}/", f"{self.path}?")):
            return None
        return target[len(self.path) :]

    def overlaps(self, other: Root) -> bool:
        """Whether a request can be below both."""
        one, two = f"{self.path}/", f"{other.path}/"
        return self.origin == other.origin and (one.startswith(two) or two.startswith(one))

    def __str__(self) -> str:
        scheme, host, port = self.origin
        where = f"[{host}]" if ":" in host else host
        return f"{scheme}://{where}{'' if port == _PORTS[scheme] else f':{port}'}{self.path}"


_served: list[Root] = []


class InProcess:
    """Serves an app to this process; a context manager. Made by `in_process`.

    The app and the callbacks of its replies are called by one thread at a time. `errors` lists
    what they raised; where it was the app, its client got a 500. Leaving the block raises the
    first of them, for the code under test may have made light of it.
    """

    def __init__(self, app: SyncApp, roots: Sequence[Root]) -> None:
        self._app = app
        self.roots = tuple(roots)
        self._lock = RLock()
        self._errors: list[Exception] = []
        self._routes: Routes | None = None

    def __enter__(self) -> InProcess:
        taken = [str(root) for root in self.roots if any(map(root.overlaps, _served))]
        if taken:
            raise InProcessError(f"{taken[0]} is served in process already")
        self._routes = _routes(self)
        self._routes.start()
        _served.extend(self.roots)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._routes is not None:
            self._routes.stop()
            self._routes = None
            for root in self.roots:
                _served.remove(root)
        if self._errors and error is None:
            first = self._errors[0]
            raise InProcessError(f"{type(first).__name__} while serving: {first}") from first

    @property
    def errors(self) -> tuple[Exception, ...]:
        """What the app and the callbacks of its replies raised, in order."""
        return tuple(self._errors)

    def report(self, error: Exception) -> None:
        """Keeps an error that is neither the client's nor a scripted one."""
        self._errors.append(error)

    def answer(
        self, method: str, target: str, headers: Sequence[tuple[bytes, bytes]], body: bytes
    ) -> tuple[Reply, bytes]:
        """The app's reply to a request, and the head that a socket would carry."""
        received = _received(method, target, headers, body)
        if isinstance(received, Refusal):
            reply = error_reply(received.status, "refused", received.message)
            return reply, head(reply, keep_alive=False, chunks=True)
        with self._lock:
            try:
                reply = self._app(received.request)
                return reply, _head(received, reply)
            except Exception as error:
                self.report(error)
                message = f"{type(error).__name__} in the app: {error}"
                reply = error_reply(500, "harness_error", message)
                return reply, _head(received, reply)

    def tell(self, callback: Callable[[Told], None] | None, what: Told) -> None:
        """Calls one of a reply's callbacks, if it has it."""
        if callback is None:
            return
        with self._lock:
            try:
                callback(what)
            except Exception as error:
                self.report(error)


def in_process(app: SyncApp, *, base_url: str | Sequence[str] = REAL_SERVICES) -> InProcess:
    """Answers this process's requests below these base URLs with the app, as a context manager.

    By default those of the real services, so that code under test needs nothing but some API
    key. Other requests go out as ever, or to other respx mocks where some are active. A stall is
    told to the client at once as its read timeout. Raises InProcessError for what is no base URL
    and, on entering, when the `respx` extra is not installed.
    """
    urls = (base_url,) if isinstance(base_url, str) else tuple(base_url)
    if not urls:
        raise InProcessError("no base URL is given, so that no request would be answered")
    return InProcess(app, [Root.of(url) for url in urls])


def _routes(serving: InProcess) -> Routes:
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise InProcessError(
            f"providers in process need {missing[0].replace('_', '-')}; "
            'install the extra: pip install "loopcheck[respx]"'
        )
    from loopcheck.fake_providers._respx_routes import Routes

    return Routes(serving)


def _head(received: Received, reply: Reply) -> bytes:
    return head(reply, keep_alive=received.keep_alive and reply.keep_alive, chunks=True)


def _received(
    method: str, target: str, headers: Sequence[tuple[bytes, bytes]], body: bytes
) -> Received | Refusal:
    """Reads the request as the server reads it from a socket."""
    head = [f"{method} {target} HTTP/1.1".encode("latin-1")]
    head += [name + b": " + value for name, value in headers]
    if any(name.lower() == b"transfer-encoding" for name, _ in headers):
        body = (chunk(body) if body else b"") + LAST_CHUNK
    sent = b"\r\n".join(head) + b"\r\n\r\n" + body
    return next(iter(RequestReader().feed(sent)))
