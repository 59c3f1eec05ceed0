"""How answers for a new scenario are read, from flags as from a terminal."""

from __future__ import annotations

import re
from argparse import ArgumentTypeError
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Final, get_args

from loopcheck.harness.scenario.answers import SAMPLES, ToolKind, Twist

TWISTS: Final[tuple[Twist, ...]] = get_args(Twist)
_KINDS: Final[Mapping[str, ToolKind]] = {kind: kind for kind in get_args(ToolKind)}
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")


def sentence(text: str) -> str:
    """A title or a rule."""
    if not text.strip():
        raise ArgumentTypeError("it has to say something")
    return text.strip()


def tool(text: str) -> tuple[str, ToolKind]:
    """A tool's name and kind, as in book:write."""
    name, _, word = text.strip().partition(":")
    kind = _KINDS.get(word.strip())
    if kind is None or not _NAME.fullmatch(name.strip()):
        raise ArgumentTypeError(
            f"{text!r} is no tool; write NAME:read or NAME:write, the name in letters, digits, - "
            "and _"
        )
    return name.strip(), kind


def arguments(text: str) -> dict[str, str]:
    """Arguments with their types, as in event:string,seat:integer."""
    found: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, type_ = (piece.strip() for piece in part.partition(":"))
        if not name or type_ not in SAMPLES:
            known = ", ".join(SAMPLES)
            raise ArgumentTypeError(f"{part!r} is no argument; write NAME:TYPE, a type of {known}")
        if name in found:
            raise ArgumentTypeError(f"the argument {name!r} stands twice")
        found[name] = type_
    return found


def twist(text: str) -> Twist:
    """What goes wrong, by its name."""
    for word in TWISTS:
        if word == text.strip():
            return word
    close = get_close_matches(text, TWISTS, 1)
    hint = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(TWISTS)}"
    raise ArgumentTypeError(f"{text!r} is nothing that goes wrong; {hint}")
