from __future__ import annotations

import asyncio
import threading

import pytest

from loopcheck.harness.stop import Stop


def test_it_is_said_once() -> None:
    stop, heard = Stop(), []
    stop.on_request(lambda: heard.append("before"))
    assert not stop.requested
    stop.request()
    assert stop.requested
    stop.request()
    assert heard == ["before"]


def test_who_asks_late_hears_it_at_once() -> None:
    stop, heard = Stop(), []
    stop.request()
    stop.on_request(lambda: heard.append("late"))
    assert heard == ["late"]


def test_a_callback_may_ask_for_more() -> None:
    stop, heard = Stop(), []
    stop.on_request(lambda: stop.on_request(lambda: heard.append("inner")))
    stop.request()
    assert heard == ["inner"]


def said_elsewhere(stop: Stop) -> None:
    thread = threading.Thread(target=stop.request)
    thread.start()
    thread.join()


@pytest.mark.asyncio
async def test_the_event_is_set_from_any_thread() -> None:
    stop = Stop()
    event = stop.event()
    assert not event.is_set()
    said_elsewhere(stop)
    await event.wait()
    assert stop.event().is_set()


def test_a_loop_that_is_closed_hears_nothing() -> None:
    stop = Stop()

    async def listen() -> None:
        stop.event()

    asyncio.run(listen())
    said_elsewhere(stop)
    assert stop.requested


@pytest.mark.asyncio
async def test_work_that_ends_by_itself() -> None:
    async def work() -> int:
        return 3

    assert await Stop().cancels(work()) == 3


@pytest.mark.asyncio
async def test_work_is_cancelled_and_its_end_awaited() -> None:
    stop, seen = Stop(), []

    async def work() -> None:
        try:
            stop.request()
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            seen.append("cleaned up")

    with pytest.raises(asyncio.CancelledError):
        await stop.cancels(work())
    assert seen == ["cleaned up"]


@pytest.mark.asyncio
async def test_work_may_end_with_a_result_all_the_same() -> None:
    stop = Stop()

    async def work() -> str:
        stop.request()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return "half"
        return "whole"

    assert await stop.cancels(work()) == "half"


@pytest.mark.asyncio
async def test_what_it_raises_goes_through() -> None:
    async def work() -> None:
        raise KeyError("lost")

    with pytest.raises(KeyError):
        await Stop().cancels(work())


@pytest.mark.asyncio
async def test_a_caller_that_is_cancelled_itself_leaves_nothing_behind() -> None:
    seen: list[str] = []
    begun = asyncio.Event()

    async def work() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            seen.append("cleaned up")

    waiting = asyncio.ensure_future(Stop().cancels(work()))
    await begun.wait()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert seen == ["cleaned up"]
