"""Other processes, as tests look at them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from worker_targets import PATIENCE


def is_gone(pid: int) -> bool:
    """Whether a process has ended, be it that nobody has asked for its exit code yet."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return True
    return state == "Z"


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline
        os.sched_yield()
