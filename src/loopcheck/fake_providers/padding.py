"""The padding with which a service evens out the sizes of its events."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from loopcheck.fake_providers.cutting import Cut
from loopcheck.fake_providers.ids import BASE62

# The id of a response whose padding is not known yet.
STAND_IN: Final = "~loopcheck-response~"

_SIZE: Final = 16
_EVENTS: Final = 64
_LETTERS: Final = bytes(ord(BASE62[byte % len(BASE62)]) for byte in range(256))


def padding(response_id: str, number: int, text: str) -> str:
    """The padding of an event by its number in the response and the text that it carries."""
    size = _SIZE - len(text) % _SIZE
    if response_id == STAND_IN:
        return f"{STAND_IN}{number}:{size}~"
    return Pads([(number, size)]).of(response_id)[0].decode()


class Pads:
    """The paddings of events, each by its number and with its size; numbers rise."""

    def __init__(self, wanted: Iterable[tuple[int, int]]) -> None:
        numbered = list(wanted)
        self._blocks = sorted({number // _EVENTS for number, _ in numbered})
        starts = {block: at * _EVENTS for at, block in enumerate(self._blocks)}
        lengths, end = [], 0
        for number, size in numbered:
            start = (starts[number // _EVENTS] + number % _EVENTS) * _SIZE
            lengths += [start - end, size]
            end = start + size
        self._cut = Cut(lengths)

    def of(self, response_id: str) -> tuple[bytes, ...]:
        """The paddings of this response."""
        letters = b"".join([_letters(response_id, block) for block in self._blocks])
        return self._cut(letters)[1::2]


@lru_cache(maxsize=64)
def _letters(response_id: str, block: int) -> bytes:
    """Letters for so many events: drawn one by one, they would take most of a stream's time."""
    drawn = f"{response_id}:{block}" if block else response_id
    return hashlib.shake_256(drawn.encode()).digest(_EVENTS * _SIZE).translate(_LETTERS)
