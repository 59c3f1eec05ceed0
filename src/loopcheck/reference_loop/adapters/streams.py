"""Reading a stream of raw events to its end, wherever that is."""

from __future__ import annotations

from typing import Protocol

from loopcheck.reference_loop.adapters.failures import inside_stream
from loopcheck.reference_loop.events import Failed


class EventStream(Protocol):
    """The part of the SDKs' streams that is used: raw events, one after the other."""

    async def __anext__(self) -> object: ...

    async def close(self) -> None: ...


class Assembly(Protocol):
    """Takes raw events in, until the protocol says that the response is over."""

    @property
    def is_over(self) -> bool: ...

    def feed(self, event: object, /) -> None: ...


async def fill(assembly: Assembly, stream: EventStream) -> Failed | None:
    """Feeds the events of the stream; the failure if it broke off before the response was over.

    Once the protocol has said that the response is over, nothing more is waited for: a close
    that goes wrong after that cannot take back what was said.
    """
    try:
        while not assembly.is_over:
            # Only what the stream raises is the provider's failure: the SDKs let through the
            # exceptions of their HTTP client and of their decoders, of many kinds.
            try:
                event = await stream.__anext__()
            except StopAsyncIteration:
                break
            except Exception as error:
                return inside_stream(error)
            assembly.feed(event)
    finally:
        await stream.close()
    return None
