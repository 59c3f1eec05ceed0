"""Turns in one line each, for tests that need a bare fake."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping

from loopcheck.fake_providers.script import (
    Attempt,
    Call,
    Content,
    Hosted,
    Refuse,
    Say,
    Script,
    Think,
    Turn,
)
from loopcheck.fake_providers.script import answer as _answer


def say(text: str) -> Say:
    """A turn, or part of one, in which the model says this."""
    return Say(text)


def refuse(text: str = "") -> Refuse:
    """A turn in which the model refuses, in the dialect's own form."""
    return Refuse(text)


def call(
    tool: str, arguments: Mapping[str, object] | None = None, *, label: str | None = None
) -> Call:
    """A turn, or part of one, in which the model calls a tool; the label is the tool's name
    unless another is given."""
    text = json.dumps(dict(arguments or {}), ensure_ascii=False, separators=(",", ":"))
    return Call(label=label or tool, tool=tool, arguments=text)


def script(turns: Iterable[Content | Iterable[Content]]) -> Script:
    """A script of these turns, for any prompt; a turn of several parts is a list of them.

    Raises TypeError for what is no turn, and ValueError for two calls of one turn with one label.
    """
    numbered = tuple(
        Turn(number=number, attempts=(_attempt(turn, number),))
        for number, turn in enumerate(turns, 1)
    )
    otherwise = Turn(number=len(numbered) + 1, attempts=(_answer([Say("Finished.")]),))
    return Script(turns=numbered, otherwise=(otherwise,), prompt=None)


def _attempt(turn: Content | Iterable[Content], number: int) -> Attempt:
    parts: list[object] = list(turn) if isinstance(turn, list | tuple) else [turn]
    known = [part for part in parts if isinstance(part, Say | Refuse | Call | Think | Hosted)]
    if not parts or len(known) < len(parts):
        raise TypeError(
            f"turn {number} is loopcheck.say(...), call(...) or refuse(...), or a list of them, "
            f"not {turn!r}"
        )
    twice = [label for label, n in Counter(_labels(known)).items() if n > 1]
    if twice:
        raise ValueError(
            f"two calls of turn {number} have the label {twice[0]!r}; give each a label of its own"
        )
    return _answer(known)


def _labels(parts: Iterable[Content]) -> list[str]:
    return [part.label for part in parts if isinstance(part, Call)]
