"""The order of releases on npm, as its version numbers have it."""

from __future__ import annotations

import re
from typing import Final, TypeAlias

_VERSION: Final = re.compile(
    r"(?P<numbers>\d+\.\d+\.\d+)(?:-(?P<before>[0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?"
)
# A number goes before a word, and what has words behind its numbers before what has none.
_Part: TypeAlias = tuple[int, int, str]
Key: TypeAlias = tuple[tuple[int, ...], bool, tuple[_Part, ...]]


def key(version: str) -> Key:
    """What releases are sorted by. Raises ValueError for what is no version."""
    found = _VERSION.fullmatch(version)
    if found is None:
        raise ValueError(f"{version!r} is no version of npm; write it as 7.59.0")
    numbers = tuple(map(int, found["numbers"].split(".")))
    before = found["before"]
    parts = tuple(map(_part, before.split("."))) if before else ()
    return numbers, before is None, parts


def is_prerelease(version: str) -> bool:
    """Whether it is one from before its release. Raises ValueError."""
    return not key(version)[1]


def _part(text: str) -> _Part:
    return (0, int(text), "") if text.isdigit() else (1, 0, text)
