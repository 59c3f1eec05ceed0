"""Turns in one line each, for tests that need a bare fake."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from loopcheck.fake_providers.script import Attempt, Call, Content, Refuse, Say, Script, Turn
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
    """A script of these turns, for any prompt; a turn of several parts is a list of them."""
    numbered = tuple(
        Turn(number=number, attempts=(_attempt(turn),)) for number, turn in enumerate(turns, 1)
    )
    otherwise = Turn(number=len(numbered) + 1, attempts=(_answer([Say("Finished.")]),))
    return Script(turns=numbered, otherwise=(otherwise,), prompt=None)


def _attempt(turn: Content | Iterable[Content]) -> Attempt:
    parts = [turn] if isinstance(turn, Say | Refuse | Call) else list(turn)
    return _answer(parts)
