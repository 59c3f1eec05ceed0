"""Every id of a run comes from one seed, so that one seed gives one stream."""

from __future__ import annotations

import hashlib
from typing import Final

BASE58: Final = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
BASE62: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def digest(seed: int, *parts: object) -> str:
    """64 characters of lower-case hex that depend on the seed and on each part."""
    return hashlib.sha256(repr((seed, *parts)).encode("utf-8", "backslashreplace")).hexdigest()


def spell(digest: str, *, alphabet: str, length: int) -> str:
    """The digest in other letters, as the services spell their ids."""
    number = int(digest, 16)
    letters = []
    for _ in range(length):
        number, rest = divmod(number, len(alphabet))
        letters.append(alphabet[rest])
    return "".join(letters)
