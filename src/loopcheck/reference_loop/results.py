"""Structured error results: what the model is told when a call has no ordinary result."""

from __future__ import annotations

import json
from typing import Final

MAX_MESSAGE_CHARACTERS: Final = 2000
CANCELLED: Final = "It was not run: the user wants no more."
NOT_DONE: Final = "It was looked up, and nothing was done."
OUTCOME_UNKNOWN: Final = (
    "Whether this took effect is unknown. Do not simply ask again: find out first, or tell the "
    "user that the outcome is unknown."
)


def error_text(code: str, message: str, *, retryable: bool = False) -> str:
    """The result that tells the model what went wrong, as JSON."""
    error = {"code": code, "message": message[:MAX_MESSAGE_CHARACTERS], "retryable": retryable}
    return json.dumps({"error": error}, ensure_ascii=False)


def shortened(text: str, characters: int) -> str:
    """The text, cut to so many characters and marked as cut if it is longer."""
    if len(text) <= characters:
        return text
    return f"{text[:characters]}\n[cut: {characters} of {len(text)} characters]"


def is_error(text: str) -> bool:
    """Whether a tool's own result is such an error: a JSON object with the member `error`."""
    if '"error"' not in text:
        return False
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and "error" in value
