"""Structured error results: what the model is told when a call has no ordinary result."""

from __future__ import annotations

import json
from typing import Final

MAX_MESSAGE_CHARACTERS: Final = 2000


def error_text(code: str, message: str, *, retryable: bool = False) -> str:
    """The result that tells the model what went wrong, as JSON."""
    error = {"code": code, "message": message[:MAX_MESSAGE_CHARACTERS], "retryable": retryable}
    return json.dumps({"error": error}, ensure_ascii=False)


def is_error(text: str) -> bool:
    """Whether a tool's own result is such an error: a JSON object with the member `error`."""
    if '"error"' not in text:
        return False
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and "error" in value
