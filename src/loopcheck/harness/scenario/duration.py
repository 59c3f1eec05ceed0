"""Durations as people write them: `300 ms`, `2 s`, `5 min`, `2 hours`, `3 days`."""

from __future__ import annotations

import re
from typing import Final

_UNITS: Final = {
    "ms": 1,
    "s": 1000,
    "second": 1000,
    "seconds": 1000,
    "min": 60_000,
    "minute": 60_000,
    "minutes": 60_000,
    "hour": 3_600_000,
    "hours": 3_600_000,
    "day": 86_400_000,
    "days": 86_400_000,
}
_DURATION = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,6})?) ?([a-z]+)\Z")


def milliseconds(text: str) -> int:
    """The duration in milliseconds. Raises ValueError for anything that is none."""
    match = _DURATION.match(text)
    if match is None or match[2] not in _UNITS:
        raise ValueError(f"{text!r} is no duration such as '300 ms', '2 s' or '5 min'")
    return round(float(match[1]) * _UNITS[match[2]])
