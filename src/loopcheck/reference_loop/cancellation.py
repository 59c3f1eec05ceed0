"""Waiting for something, unless the user wants no more."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class Stopped(Exception):
    """The user wants no more; what was waited for was given up."""


async def unless(stop: asyncio.Event | None, work: Coroutine[Any, Any, T]) -> T:
    """What the work gives. Once `stop` is set, the work is cancelled and Stopped is raised."""
    if stop is None:
        return await work
    if stop.is_set():
        work.close()
        raise Stopped
    working = asyncio.ensure_future(work)
    stopping = asyncio.ensure_future(stop.wait())
    try:
        await asyncio.wait({working, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        raise Stopped
    finally:
        await _end(stopping)
        await _end(working)


async def _end(task: asyncio.Future[Any]) -> None:
    if not task.done():
        task.cancel()
        # What it raises on being cancelled is its own affair: it was given up.
        await asyncio.wait({task})
        if not task.cancelled():
            task.exception()
