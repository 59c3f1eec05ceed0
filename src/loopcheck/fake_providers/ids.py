"""Every id of a run comes from one seed, so that one seed gives one stream."""

from __future__ import annotations

import hashlib
from functools import cache
from typing import Final

BASE58: Final = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
BASE62: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def digest(seed: int, *parts: object) -> str:
    """64 characters of lower-case hex that depend on the seed and on each part."""
    return hashlib.sha256(repr((seed, *parts)).encode("utf-8", "backslashreplace")).hexdigest()


def spell(digest: str, *, alphabet: str, length: int) -> str:
    """The digest in other letters, as the services spell their ids."""
    pairs = _pairs(alphabet)
    base = len(pairs)
    number = int(digest, 16) % len(alphabet) ** length
    spelt = []
    for _ in range(0, length, 4):
        # Few divisions of large numbers, and more of small ones.
        number, four = divmod(number, base * base)
        second, first = divmod(four, base)
        spelt += [pairs[first], pairs[second]]
    return "".join(spelt)[:length]


@cache
def _pairs(alphabet: str) -> tuple[str, ...]:
    """Two letters for each number: half the divisions."""
    return tuple(first + second for second in alphabet for first in alphabet)
