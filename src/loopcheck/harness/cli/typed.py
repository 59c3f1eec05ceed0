"""What is typed behind options, read to values; each says what would be right."""

from __future__ import annotations

from argparse import ArgumentTypeError
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from loopcheck.harness import shards

REPORTS: Final = ("json", "junit", "html", "markdown", "requirements")


def report_request(text: str) -> tuple[str, Path]:
    """The kind and the path of a report that is asked for."""
    kind, colon, path = text.partition(":")
    if kind not in REPORTS:
        close = get_close_matches(kind, REPORTS, 1)
        hint = f"did you mean {close[0]!r}?" if close else f"kinds: {', '.join(REPORTS)}"
        raise ArgumentTypeError(f"unknown kind of report {kind!r}; {hint}")
    if not colon or not path:
        raise ArgumentTypeError(f"{text!r} names no file; write {kind}:PATH")
    return kind, Path(path)


def shard(text: str) -> shards.Shard:
    """One part of a run."""
    try:
        return shards.parse(text)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from None


def count(text: str) -> int:
    """A whole number above 0."""
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"{text!r} is no whole number above 0")
    return int(text)


def seconds(text: str) -> float:
    """A number of seconds above 0."""
    try:
        found = float(text)
    except ValueError:
        found = 0.0
    if not 0 < found < float("inf"):
        raise ArgumentTypeError(f"{text!r} is no number of seconds above 0")
    return found
