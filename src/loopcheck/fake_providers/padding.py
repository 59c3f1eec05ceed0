"""The padding with which a service evens out the sizes of its events."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from loopcheck.fake_providers.ids import BASE62

# The id of a response whose padding is not known yet.
STAND_IN: Final = "~loopcheck-response~"

_BLOCK: Final = 16
_EVENTS: Final = 64
_LETTERS: Final = bytes(ord(BASE62[byte % len(BASE62)]) for byte in range(256))


def padding(response_id: str, number: int, text: str) -> str:
    """The padding of an event by its number in the response and the text that it carries."""
    size = _BLOCK - len(text) % _BLOCK
    if response_id == STAND_IN:
        return f"{STAND_IN}{number}:{size}~"
    return paddings(response_id, [(number, size)])[0].decode()


def paddings(response_id: str, wanted: Sequence[tuple[int, int]]) -> list[bytes]:
    """The paddings of events, each by its number and with its size; numbers rise."""
    if not wanted:
        return []
    # What is drawn for more events begins with what is drawn for fewer.
    letters = _letters(response_id, wanted[-1][0] // _EVENTS + 1)
    return [letters[(start := number * _BLOCK) : start + size] for number, size in wanted]


@lru_cache(maxsize=64)
def _letters(response_id: str, parts: int) -> bytes:
    """Letters for many events: drawn one by one, they would take most of a stream's time."""
    made = hashlib.shake_256(response_id.encode()).digest(parts * _EVENTS * _BLOCK)
    return made.translate(_LETTERS)
