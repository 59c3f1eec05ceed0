"""Arguments as JSON text."""

from __future__ import annotations

import json


def compact(value: object) -> str:
    """The value as compact JSON text, keys in the order in which they were written."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def whole_object(text: str) -> dict[str, object] | None:
    """The JSON object that this text is, or None."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
