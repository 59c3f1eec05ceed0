"""Conversations that a generated run holds at the same time, beside the one without a name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

from hypothesis.strategies import DrawFn

from loopcheck.harness.strategies import turns
from loopcheck.harness.strategies.tools import RARELY, SELDOM, Document, some

Lanes: TypeAlias = Mapping[str, list[Document]]
_NAMES: Final = ("left", "right")
_MOST_TURNS: Final = 2


def talks(draw: DrawFn, script: turns.Script) -> Lanes:
    """The turns of one lane or two, by name; seldom any. None with business operations, of which
    the user wished for one, whichever conversation asks for it; and none with repeated ids, by
    which a journal cannot tell whose result it was."""
    is_plain = not script.is_keyed and not script.repeats_ids
    if "lanes" not in script.features or not is_plain or not draw(RARELY):
        return {}

    def talk(draw: DrawFn) -> list[Document]:
        return some(draw, lambda draw: turns.calling(draw, script), most=_MOST_TURNS)

    return dict(zip(_NAMES, some(draw, talk, most=len(_NAMES)), strict=False))


def claimed(draw: DrawFn, lanes: Lanes, tools: Mapping[str, Document]) -> Document:
    """The lanes, each with what tells its requests from all others: a model of its own, or the
    tools that it calls, where these are others than any other conversation has."""
    offered = {
        name
        for name, tool in tools.items()
        if tool["kind"] != "hosted" and tool.get("approval") != "disabled"
    }
    taken = [offered]
    document: Document = {}
    for name, said in lanes.items():
        called = offered.intersection(
            str(call["tool"]) for turn in said for call in turns.calls_of(turn)
        )
        condition: Document = {"model": name}
        if called and called not in taken and not draw(SELDOM):
            condition = {"tools": sorted(called)}
            taken.append(called)
        document[name] = {"if": condition, "turns": said}
    return document
