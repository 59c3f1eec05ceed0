"""Suites: which scenarios count, by name, so that a new release adds no red by surprise."""

from __future__ import annotations

from typing import Final

CURRENT: Final = "2026.1"
SUITES: Final = (CURRENT,)


def check_suite(name: str | None) -> str:
    """The suite of that name, or the current one. Raises ValueError for a name that is none."""
    if name is None:
        return CURRENT
    if name not in SUITES:
        raise ValueError(f"unknown suite {name!r}; this version has {', '.join(SUITES)}")
    return name
