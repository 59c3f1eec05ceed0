"""The certificates that every client of the SDKs loads, loaded once."""

from __future__ import annotations

import ssl
from functools import cache


@cache
def certificates() -> ssl.SSLContext:
    """Loading them costs more than a whole case, and nothing here is encrypted."""
    return ssl.create_default_context()
