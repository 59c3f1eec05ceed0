"""Which app answers which requests, and what went wrong in them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TypeAlias

from loopcheck.fake_providers._responses import error_reply
from loopcheck.fake_providers.wire import HttpRequest, Reply

App: TypeAlias = Callable[[HttpRequest], Reply | Awaitable[Reply]]


@dataclass(frozen=True, slots=True)
class AppError:
    """An exception that an app or a callback of its reply raised: an error of the harness."""

    key: str
    request: str
    error: Exception


@dataclass(frozen=True, slots=True)
class Mounts:
    """The apps by key, and the errors of all of them. Any thread may read both."""

    apps: dict[str, App] = field(default_factory=dict)
    errors: list[AppError] = field(default_factory=list)

    def ask(
        self, request: HttpRequest, *, left: Future[None] | None = None
    ) -> Reply | Awaitable[Reply]:
        """The answer of the app that the path names; the app sees the path below its root, and
        `left` when its client is gone."""
        key, below = _split(request.path)
        app = self.apps.get(key)
        if app is None:
            return error_reply(404, "not_found", _not_mounted(request.path, key))
        if below is request.path:
            return app(request)
        return app(
            HttpRequest(
                method=request.method,
                path=below,
                query=request.query,
                headers=request.headers,
                body=request.body,
                left=left,
            )
        )

    def report(self, request: HttpRequest, error: Exception) -> Reply:
        """Keeps the error, and returns what the client is told of it."""
        key, below = _split(request.path)
        self.errors.append(AppError(key, f"{request.method} {below}", error))
        name = type(error).__name__
        message = f"{name} in the app at /c/{key}: {error}"
        return error_reply(500, "harness_error", message)


def key_of(request: HttpRequest) -> str:
    """The key that the request's path names, or an empty string."""
    return _split(request.path)[0]


def _split(path: str) -> tuple[str, str]:
    if not path.startswith("/c/"):
        return "", path
    key, slash, below = path[3:].partition("/")
    return key, slash + below


def _not_mounted(path: str, key: str) -> str:
    if not key:
        return f"nothing is served at {path}; cases are served below /c/KEY/"
    return f"no case is mounted at /c/{key}; it has ended, or the base URL is wrong"
