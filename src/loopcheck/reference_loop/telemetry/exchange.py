"""What an adapter knows of one exchange with a service, beside the reply itself.

An adapter notes it as it goes along; it is kept only while somebody watches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

from loopcheck.reference_loop.adapters import fields


@dataclass(slots=True)
class Exchange:
    """One request and what came back. What is not known is None, or empty."""

    running: Callable[[], float]
    began_at: float
    first_at: float | None = None
    response_id: str = ""
    finish: str = ""
    error: str = ""
    status: int | None = None
    bytes_sent: int | None = None
    bytes_received: int | None = None


_current: Final[ContextVar[Exchange | None]] = ContextVar("exchange", default=None)


@contextmanager
def noted(running: Callable[[], float]) -> Iterator[Exchange]:
    """The exchange that adapters note things of meanwhile; `running` is the clock."""
    exchange = Exchange(running, running())
    token = _current.set(exchange)
    try:
        yield exchange
    finally:
        _current.reset(token)


def said(*, response_id: str, finish: str) -> None:
    """The response is over: its id, and why it ended."""
    if exchange := _current.get():
        exchange.response_id, exchange.finish = response_id, finish


def began() -> None:
    """The first event of a stream has come."""
    if (exchange := _current.get()) and exchange.first_at is None:
        exchange.first_at = exchange.running()


def failed(error: Exception) -> None:
    """The type of what was raised, and the response that it holds; its words are not kept."""
    if exchange := _current.get():
        exchange.error = type(error).__name__
        if response := fields.value(error, "response"):
            carried(response)


def carried(response: object) -> None:
    """The status and the sizes of an HTTP response, as its client knows them by now."""
    if exchange := _current.get():
        exchange.status = fields.number(response, "status_code")
        exchange.bytes_received = fields.number(response, "num_bytes_downloaded")
        with suppress(RuntimeError):  # a response that was not asked for has no request
            headers = fields.value(fields.value(response, "request"), "headers")
            length = fields.text(headers, "content-length")
            exchange.bytes_sent = int(length) if length.isdecimal() else None
