"""Delivers an event to observers: without what was said, unless they ask for it."""

from __future__ import annotations

import traceback
from collections.abc import Iterable
from dataclasses import fields, replace

from loopcheck.reference_loop.telemetry.events import CONTENT, Observer, RunEvent
from loopcheck.reference_loop.telemetry.logs import LOGGER


def tell(observers: Iterable[Observer], event: RunEvent) -> None:
    """Tells each of them. What one raises is logged."""
    shown = _without_content(event)
    for observer in observers:
        try:
            observer.observe(event if observer.content else shown)
        except Exception as error:
            _complain(error, event)


def _without_content(event: RunEvent) -> RunEvent:
    named = {field.name: None for field in fields(event) if field.name in CONTENT}
    # Any: each of these fields is optional, which the type of `replace` cannot say.
    return replace(event, **named) if named else event  # type: ignore[arg-type]


def _complain(error: Exception, event: RunEvent) -> None:
    """Says what was raised and where. Its message and its traceback may hold what was said."""
    *_, frame = traceback.extract_tb(error.__traceback__)
    LOGGER.warning(
        "an observer raised %s at %s, %s:%s",
        type(error).__name__,
        type(event).__name__,
        frame.filename,
        frame.lineno,
    )
