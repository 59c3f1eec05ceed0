"""Reading a stream of raw events to its end, wherever that is."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Final, Protocol

from loopcheck.reference_loop.adapters import fields
from loopcheck.reference_loop.adapters.failures import inside_stream
from loopcheck.reference_loop.events import Failed
from loopcheck.reference_loop.telemetry import exchange

CLOSE_SECONDS: Final = 0.2


class EventStream(Protocol):
    """The part of the SDKs' streams that is used: raw events, one after the other."""

    async def __anext__(self) -> object: ...

    def __aiter__(self) -> AsyncIterator[object]: ...

    async def close(self) -> None: ...


class Assembly(Protocol):
    """Takes raw events in, until the protocol says that the response is over."""

    @property
    def is_over(self) -> bool: ...

    def feed(self, event: object, /) -> None: ...


async def fill(assembly: Assembly, stream: EventStream) -> Failed | None:
    """Feeds the events of the stream; the failure if it broke off before the response was over.

    Once the protocol has said that the response is over, nothing can take that back: neither
    what follows nor a close that goes wrong.
    """
    try:
        while not assembly.is_over:
            # Only what the stream raises is the provider's failure: the SDKs let through the
            # exceptions of their HTTP client and of their decoders, of many kinds.
            try:
                event = await stream.__anext__()
            except StopAsyncIteration:
                return None
            except Exception as error:
                return inside_stream(error)
            exchange.began()
            assembly.feed(event)
        await _read_out(stream)
    finally:
        exchange.carried(fields.value(stream, "response"))
        with contextlib.suppress(Exception):
            await stream.close()
    return None


async def _read_out(stream: EventStream) -> None:
    """Reads on to the end of the body, so that the connection can be used again.

    A service that does not end the body at once is not waited for.
    """
    with contextlib.suppress(Exception):  # whatever it is, the response is whole
        async with asyncio.timeout(CLOSE_SECONDS):
            async for _ in stream:
                pass
