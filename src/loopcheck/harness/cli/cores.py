"""The cores of this machine."""

from __future__ import annotations

import os
import sys


def cores() -> int:
    """How many this process may use."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
