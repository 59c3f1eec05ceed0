"""The log of a run: one line an event, with its ids, names, digests and decisions."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from dataclasses import fields
from typing import Final

from loopcheck.reference_loop.events import Usage
from loopcheck.reference_loop.telemetry.events import (
    CONTENT,
    CallName,
    CheckpointSaved,
    ModelName,
    RequestStarted,
    RunEvent,
    ToolStarted,
)

LOGGER: Final = logging.getLogger("loopcheck.reference_loop")

_DETAILS: Final = (RequestStarted, ToolStarted, CheckpointSaved)
_WORD: Final = re.compile(r"(?<!^)(?=[A-Z])")


def is_wanted() -> bool:
    """Whether anything of a run is logged at all."""
    return LOGGER.isEnabledFor(logging.INFO)


def logged(event: RunEvent) -> None:
    """Writes the event to the logger; it is also the record's attribute `event`."""
    level = logging.DEBUG if isinstance(event, _DETAILS) else logging.INFO
    if LOGGER.isEnabledFor(level):
        words = " ".join(f"{name}={value!r}" for name, value in _told(event))
        name = _WORD.sub(" ", type(event).__name__).lower()
        LOGGER.log(level, "%s: %s", name, words, extra={"event": event})


def _told(event: RunEvent | ModelName | CallName | Usage) -> Iterator[tuple[str, object]]:
    """What there is to say: fields of fields too, and nothing that is empty."""
    for field in fields(event):
        value: object = getattr(event, field.name)
        if isinstance(value, ModelName | CallName | Usage):
            yield from _told(value)
        elif field.name not in CONTENT and value not in (None, ""):
            yield field.name, value
