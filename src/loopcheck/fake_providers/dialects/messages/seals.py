"""The opaque values of thinking: signatures, and the data of redacted blocks."""

from __future__ import annotations

import base64
import binascii
import hashlib
from typing import Final

_HEADS: Final = {False: b"\x12\x48", True: b"\x12\xf8"}
_MARK: Final = 32
_LENGTHS: Final = {False: 64, True: 160}


def seal(digest: str, *, redacted: bool) -> str:
    """An opaque value for this digest; data is longer than a signature, as at the service."""
    mark = bytes.fromhex(digest)
    return base64.b64encode(_sealed(mark, redacted)).decode()


def is_ours(value: str, *, redacted: bool) -> bool:
    """Whether a fake made this value, also in a response that never arrived whole."""
    try:
        found = base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        return False
    head = len(_HEADS[redacted])
    return found == _sealed(found[head : head + _MARK], redacted)


def _sealed(mark: bytes, redacted: bool) -> bytes:
    head = _HEADS[redacted]
    return head + mark + hashlib.shake_256(head + mark).digest(_LENGTHS[redacted])
