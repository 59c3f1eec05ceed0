"""What is known of the models of the Messages service, as far as requests depend on it."""

from __future__ import annotations

import re
from typing import Final

NAMES: Final = {
    "claude-opus-5-5": "Claude Opus 5.5",
    "claude-sonnet-5": "Claude Sonnet 5",
    "claude-opus-4-8": "Claude Opus 4.8",
    "claude-opus-4-6": "Claude Opus 4.6",
    "claude-sonnet-4-6": "Claude Sonnet 4.6",
    "claude-sonnet-4-5": "Claude Sonnet 4.5",
    "claude-haiku-4-5": "Claude Haiku 4.5",
}
# In the order in which the service lists them; models that are not named here take any.
EFFORTS: Final = {"claude-opus-4-6": ("high", "low", "max", "medium")}

_VERSION: Final = re.compile(r"claude-(?:[a-z]+-)?(\d)(?:-(\d{1,2}))?(?=-|@|$)")


def takes_system_messages(model: str) -> bool:
    """Whether a message may have the role `system`."""
    version = _version(model)
    return version is None or version >= (4, 8)


def takes_prefill(model: str) -> bool:
    """Whether a conversation may end with the beginning of an answer."""
    version = _version(model)
    return version is None or version < (4, 6)


def thinks_unasked(model: str) -> bool:
    """Whether thinking may be on although the request does not say so."""
    version = _version(model)
    return version is None or version >= (5, 0)


def _version(model: str) -> tuple[int, int] | None:
    found = _VERSION.match(model)
    return (int(found[1]), int(found[2] or 0)) if found else None
