"""Several services behind one root, told apart by their paths."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from loopcheck.fake_providers.dialects import dialect
from loopcheck.fake_providers.script import DIALECTS, DialectName
from loopcheck.fake_providers.wire import HttpRequest, Reply


def spoken(request: HttpRequest) -> DialectName:
    """The protocol of a request; of what no service serves, the one whose error fits best."""
    for name in DIALECTS:
        if dialect(name).serves("POST", request.path) == "generate":
            return name  # by another method, too: the refusal is in this service's words
    if "anthropic-version" in request.headers or "x-api-key" in request.headers:
        return "messages"
    for name in DIALECTS:
        if dialect(name).serves(request.method, request.path) == "side":
            return name
    return "chat"


def by_dialect(
    handlers: Mapping[DialectName, Callable[[HttpRequest], Reply]],
) -> Callable[[HttpRequest], Reply]:
    """An app that hands each request to the service whose protocol it speaks."""

    def app(request: HttpRequest) -> Reply:
        name = spoken(request)
        return handlers[name if name in handlers else next(iter(handlers))](request)

    return app
