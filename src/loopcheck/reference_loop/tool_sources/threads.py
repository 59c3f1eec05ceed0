"""Runs plain functions beside the event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from typing import TypeVar

T = TypeVar("T")


async def in_own_thread(work: Callable[[], T]) -> T:
    """What the work gives, in the context of the caller.

    Each call has a thread of its own: a pool would fill up with calls that wait for one that has
    no thread yet. It is a daemon, so that work which never ends does not keep the process.
    """
    done: Future[T] = Future()
    context = copy_context()

    def run() -> None:
        try:
            done.set_result(context.run(work))
        except StopIteration as error:
            # No awaiting can raise this one; whoever waits would wait for ever.
            done.set_exception(RuntimeError(f"the function raised StopIteration: {error}"))
        except BaseException as error:
            done.set_exception(error)

    done.set_running_or_notify_cancel()
    threading.Thread(target=run, name="loopcheck-tool", daemon=True).start()
    return await asyncio.wrap_future(done)
