"""Suites: which scenarios count, by name, so that a new release adds no red by surprise.

The file of a suite stands beside the catalogue and lists its scenarios, each with a digest of what
it asks and demands. A released suite is frozen: what the catalogue gains or changes later counts
from the next suite on.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import loopcheck

CURRENT: Final = "2026.1"
FOLDER: Final = Path(loopcheck.__file__).parent / "scenarios"


def check_suite(name: str | None) -> str:
    """The suite of that name, or the current one. Raises ValueError for a name that is none."""
    if name is None:
        return CURRENT
    known = names()
    if name not in known:
        raise ValueError(f"unknown suite {name!r}; this version has {', '.join(known)}")
    return name


def names() -> list[str]:
    """The suites of this version, the oldest first."""
    found = (path.stem.removeprefix("suite-") for path in FOLDER.glob("suite-*.txt"))
    return sorted(found, key=lambda name: [int(part) for part in name.split(".")])


def listed(name: str) -> dict[str, str]:
    """The scenarios of this suite: the digest of each by its id."""
    lines = (FOLDER / f"suite-{name}.txt").read_text(encoding="utf-8").splitlines()
    pairs = (line.split() for line in lines if line and not line.startswith("#"))
    return {id: digest for id, digest in pairs}
