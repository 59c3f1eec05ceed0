"""A user's word that a run is to be given up, as the loop on trial hears it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")


class Stop:
    """Whether the user wants no more; may be asked and said in any thread.

    A loop with an event of its own sets it from `on_request`; one that is cancelled from outside
    hands its work to `cancels`; one that goes step by step looks at `requested`.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requested = False
        self._callbacks: list[Callable[[], None]] = []

    @property
    def requested(self) -> bool:
        return self._requested

    def request(self) -> None:
        """Says it. Saying it again changes nothing."""
        with self._lock:
            self._requested = True
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()

    def on_request(self, callback: Callable[[], None]) -> None:
        """Calls back once, in the thread that says it; at once where it was said already. The
        callback neither waits for anything nor raises."""
        with self._lock:
            if not self._requested:
                self._callbacks.append(callback)
                return
        callback()

    def event(self) -> asyncio.Event:
        """An event of the running loop that is set when it is said."""
        event = asyncio.Event()
        loop = asyncio.get_running_loop()
        here = threading.get_ident()

        def heard() -> None:
            if threading.get_ident() == here:
                event.set()
            else:
                with suppress(RuntimeError):  # its loop has been closed, and the run with it
                    loop.call_soon_threadsafe(event.set)

        self.on_request(heard)
        return event

    async def cancels(self, work: Coroutine[Any, Any, T]) -> T:
        """Awaits the work, which is cancelled when it is said; CancelledError is raised then."""
        task = asyncio.ensure_future(work)
        stopping = asyncio.ensure_future(self.event().wait())
        try:
            await asyncio.wait({task, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                task.cancel()
            return await task
        finally:
            stopping.cancel()
            if not task.done():  # the caller itself was cancelled, and leaves nothing behind
                task.cancel()
                await asyncio.wait({task})
