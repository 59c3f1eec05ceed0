from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest

from loopcheck.reference_loop.adapters.streams import fill
from loopcheck.reference_loop.events import Failed

pytestmark = pytest.mark.asyncio


@dataclass
class Scripted:
    """A stream of these events; an exception is raised, None is a silence that does not end."""

    events: list[object]
    read: int = 0
    is_closed: bool = False

    async def __anext__(self) -> object:
        if self.read == len(self.events):
            raise StopAsyncIteration
        event = self.events[self.read]
        self.read += 1
        if event is None:
            await asyncio.Event().wait()
        if isinstance(event, Exception):
            raise event
        return event

    def __aiter__(self) -> AsyncIterator[object]:
        return self

    async def close(self) -> None:
        self.is_closed = True


@dataclass
class Kept:
    """Keeps events, and is over at the event `end`."""

    events: list[object] = field(default_factory=list)

    @property
    def is_over(self) -> bool:
        return "end" in self.events

    def feed(self, event: object) -> None:
        if event == "odd":
            raise LookupError("a mistake of ours")
        self.events.append(event)


@pytest.mark.parametrize(
    ("after", "read"),
    [([], 2), (["more", "more"], 4), ([OSError("reset"), "more"], 3), ([None, "more"], 3)],
    ids=["clean", "more", "reset", "silence"],
)
async def test_what_follows_the_end_cannot_take_it_back(after: list[object], read: int) -> None:
    stream, kept = Scripted(["a", "end", *after]), Kept()
    assert await fill(kept, stream) is None
    assert kept.events == ["a", "end"]
    assert stream.read == read
    assert stream.is_closed


async def test_a_stream_may_end_without_saying_so() -> None:
    stream, kept = Scripted(["a"]), Kept()
    assert await fill(kept, stream) is None
    assert kept.events == ["a"]
    assert stream.is_closed


async def test_what_the_stream_raises_is_the_provider_failure() -> None:
    stream = Scripted(["a", OSError("reset")])
    assert await fill(Kept(), stream) == Failed("OSError: reset", retryable=True)
    assert stream.is_closed


async def test_what_the_assembly_raises_is_no_failure_of_the_provider() -> None:
    stream = Scripted(["odd"])
    with pytest.raises(LookupError):
        await fill(Kept(), stream)
    assert stream.is_closed
