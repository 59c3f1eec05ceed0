"""Where Hypothesis keeps the examples that failed, so that they are tried first the next time."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from hypothesis.database import DirectoryBasedExampleDatabase, ExampleDatabase

_NONE: Final = "none"
_SCHEMES: Final = ("redis", "rediss")


def database(where: str | None, default: Path) -> ExampleDatabase | None:
    """The database at a folder or at `redis://HOST:PORT/N`; None for `none`. Raises ValueError."""
    if where is None:
        return DirectoryBasedExampleDatabase(default)
    if where == _NONE:
        return None
    if urlsplit(where).scheme in _SCHEMES:
        return _in_redis(where)
    if "://" in where:
        raise ValueError(f"{where!r} is no folder, no redis:// URL and not 'none'")
    return DirectoryBasedExampleDatabase(where)


def _in_redis(url: str) -> ExampleDatabase:
    try:
        client = import_module("redis").Redis.from_url(url)
        from hypothesis.extra.redis import RedisExampleDatabase
    except ModuleNotFoundError:
        raise ValueError("a database in Redis needs: pip install redis") from None
    return RedisExampleDatabase(client)
