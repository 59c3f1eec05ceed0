"""How long a service asks to wait before the next request."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from email.utils import parsedate_to_datetime


def retry_after(
    header: Callable[[str], str | None], *, now: Callable[[], float] = time.time
) -> float | None:
    """Seconds, or None where the service asks for nothing that makes sense.

    `retry-after-ms` is the finer one and goes first. A date is taken against the service's own
    clock, where it tells it. Nothing is asked by zero: then it is for the client to say how long.
    """
    milliseconds = _number(header("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    asked = header("retry-after")
    seconds = _number(asked)
    if seconds is not None:
        return seconds
    until, sent = _date(asked), _date(header("date"))
    if until is None:
        return None
    wait = until - (now() if sent is None else sent)
    return wait if wait > 0 else None


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if number > 0 and math.isfinite(number) else None


def _date(text: str | None) -> float | None:
    try:
        return parsedate_to_datetime(text or "").timestamp()
    except (ValueError, OverflowError):
        return None
