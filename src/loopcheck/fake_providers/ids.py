"""Every id of a run comes from one seed, so that one seed gives one stream."""

from __future__ import annotations

import hashlib
from functools import cache
from typing import Final

BASE58: Final = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
BASE62: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def digest(seed: int, *parts: object) -> str:
    """64 characters of lower-case hex that depend on the seed and on each part."""
    return hashlib.sha256(repr((seed, *parts)).encode()).hexdigest()


def spell(digest: str, *, alphabet: str, length: int) -> str:
    """The digest in other letters, as the services spell their ids; up to 32 of them."""
    return bytes.fromhex(digest).translate(_letters(alphabet))[:length].decode()


@cache
def _letters(alphabet: str) -> bytes:
    """A letter for each byte. Some letters come a little more often than others."""
    return bytes(ord(alphabet[byte % len(alphabet)]) for byte in range(256))
