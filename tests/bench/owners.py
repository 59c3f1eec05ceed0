"""Whose CPU time it is: ours, by room, or that of the SDKs and what they stand on.

The calling thread is looked at once for each millisecond of CPU, which slows nothing down, as a
profiler would, and by that favours nobody.
"""

from __future__ import annotations

import asyncio
import signal
import time
from collections import defaultdict
from types import FrameType
from typing import Final

OWN: Final = ("fake_providers", "harness", "reference_loop")
SDKS: Final = "SDKs and libraries"
SERVER: Final = "server's thread"
LOOP: Final = "event loop"
_NOBODY: Final = "Python itself"
_LOOK_SECONDS: Final = 0.001
_RUN_FOREVER: Final = asyncio.BaseEventLoop.run_forever.__code__


class Owners:
    """A context manager over the main thread, which alone can be looked at; the CPU time of all
    others is the server's."""

    def __init__(self) -> None:
        self._ms: defaultdict[str, float] = defaultdict(float)
        self._here = self._all = 0.0

    def __enter__(self) -> Owners:
        self._here, self._all = time.thread_time(), time.process_time()
        signal.signal(signal.SIGPROF, self._look)
        signal.setitimer(signal.ITIMER_PROF, _LOOK_SECONDS, _LOOK_SECONDS)
        return self

    def __exit__(self, *_: object) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, signal.SIG_DFL)

    def per(self, cases: int) -> dict[str, float]:
        """Milliseconds for each of so many cases, by owner, most first."""
        most_first = sorted(self._ms.items(), key=lambda item: -item[1])
        return {name: ms / cases for name, ms in most_first}

    def _look(self, _: int, frame: FrameType | None) -> None:
        here, everywhere = time.thread_time(), time.process_time()
        own, whole = here - self._here, everywhere - self._all
        self._here, self._all = here, everywhere
        self._ms[_owner(frame)] += own * 1000
        self._ms[SERVER] += (whole - own) * 1000


def _owner(frame: FrameType | None) -> str:
    """Whose code runs. Python's own works for who called it, save for the event loop, which works
    for all that wait in it."""
    while frame is not None:
        if frame.f_code is _RUN_FOREVER:
            return LOOP
        filename = frame.f_code.co_filename
        for room in OWN:
            if f"/loopcheck/{room}/" in filename:
                return room
        if "site-packages" in filename:
            return SDKS
        frame = frame.f_back
    return _NOBODY
