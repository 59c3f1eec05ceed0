"""What the expected conversations of a scenario may get wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, get_args

from loopcheck.harness.results import Level
from loopcheck.harness.scenario import history_entries, walk
from loopcheck.harness.scenario.errors import Problem
from loopcheck.harness.scenario.expectations import AnyOfHistory, HistoryModel
from loopcheck.harness.scenario.model import Scenario
from loopcheck.harness.scenario.yaml_source import Path, Source

_TURN: Final = re.compile(r"turn(?P<number>[1-9][0-9]{0,3})\Z")


def lint(scenario: Scenario, source: Source) -> Iterator[Problem]:
    """Problems of `history` at every level."""
    levels: tuple[Level, ...] = get_args(Level)
    for level in levels:
        for turn, expected in scenario.expect.level(level).history.items():
            path: Path = ("expect", level, "history", turn)
            yield from _turn(path, turn, scenario, source)
            several = isinstance(expected, AnyOfHistory)
            for number, one in enumerate(history_entries.alternatives(expected)):
                place = (*path, "any_of", number) if several else path
                yield from _conversation(place, one, level, scenario, source)


def _turn(path: Path, turn: str, scenario: Scenario, source: Source) -> Iterator[Problem]:
    match = _TURN.match(turn)
    last = len(scenario.turns) + 1
    if match is None:
        yield source.problem(path, f"{turn!r} is no turn such as 'turn2'", key=True)
    elif int(match["number"]) > last:
        hint = f"known: turn1 to turn{last}, the first that is beyond the script"
        yield source.problem(path, f"{turn!r} is never asked for", hint, key=True)


def _conversation(
    path: Path, expected: HistoryModel, level: Level, scenario: Scenario, source: Source
) -> Iterator[Problem]:
    if expected == HistoryModel():
        yield source.problem(path, "this says nothing about the conversation")
    for key, number, label in history_entries.labels(expected):
        wrong = history_entries.complaint(label, scenario, is_label=True)
        if wrong is not None:
            yield source.problem((*path, key, number), *wrong)
        elif key == "images" and not _has_image(label, scenario, source):
            message = f"no result of {label!r} has an image"
            yield source.problem((*path, key, number), message)
    for key, place, text in history_entries.entries(expected):
        wrong = history_entries.complaint(text, scenario, is_label=False)
        if wrong is not None:
            where = (*path, key) if place is None else (*path, key, place)
            yield source.problem(where, *wrong)
    if expected.images is not None and level == "must":
        message = "this is too much for must: an honest loop may write images anew"
        yield source.problem((*path, "images"), message, "say it under should", key=True)


def _has_image(label: str, scenario: Scenario, source: Source) -> bool:
    named = history_entries.labelled("call", label).label
    tools = {call.tool for _, call in walk.calls(scenario, source) if call.label == named}
    return any(
        part.image is not None
        for tool in tools & scenario.tools.keys()
        for part in scenario.tools[tool].returns_parts or ()
    )
