"""The time, as the loop sees it: what a test replaces so that nothing has to be waited for."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """`wall` is the time of day in seconds since 1970, for what is kept; `running` measures."""

    wall: Callable[[], float] = time.time
    running: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Coroutine[Any, Any, None]] = asyncio.sleep
