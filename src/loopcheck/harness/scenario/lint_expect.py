"""What the expectations of a scenario may get wrong."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, get_args

from loopcheck.harness.results import Level
from loopcheck.harness.scenario import walk
from loopcheck.harness.scenario.errors import Problem, did_you_mean
from loopcheck.harness.scenario.expectations import ExpectLevel
from loopcheck.harness.scenario.model import Scenario
from loopcheck.harness.scenario.point_names import complaint
from loopcheck.harness.scenario.yaml_source import Path, Source

_TURN: Final = re.compile(r"turn[1-9][0-9]{0,3}\Z")


def lint(scenario: Scenario, source: Source) -> Iterator[Problem]:
    """Problems of every level."""
    levels: tuple[Level, ...] = get_args(Level)
    for level in levels:
        expected = scenario.expect.level(level)
        path: Path = ("expect", level)
        yield from _names(path, expected, scenario, source)
        yield from _order(path, expected, scenario, source)
        yield from _requests(path, expected, scenario, source)


def _names(
    path: Path, expected: ExpectLevel, scenario: Scenario, source: Source
) -> Iterator[Problem]:
    scripted = {call.tool for _, call in walk.calls(scenario, source)}
    tools = {*scenario.tools, *scripted}
    sections: tuple[tuple[str, Iterable[str], Iterable[str], str], ...] = (
        ("executions", expected.executions or (), tools, "tool"),
        ("effects", expected.effects or (), scenario.tools, "tool"),
        ("results", expected.results, scenario.labels, "call"),
    )
    for key, names, known, what in sections:
        for name in names:
            if name not in known:
                hint = did_you_mean(name, known)
                message = f"{name!r} is no {what} of this file"
                yield source.problem((*path, key, name), message, hint, key=True)


def _order(
    path: Path, expected: ExpectLevel, scenario: Scenario, source: Source
) -> Iterator[Problem]:
    for number, chain in enumerate(expected.order):
        points = [point.strip() for point in chain.split("<")]
        place = (*path, "order", number)
        if len(points) < 2:
            yield source.problem(place, f"{chain!r} is no chain such as 'a.ended < b.started'")
        for point in points:
            wrong = complaint(point, scenario)
            if wrong is not None:
                yield source.problem(place, *wrong)


def _requests(
    path: Path, expected: ExpectLevel, scenario: Scenario, source: Source
) -> Iterator[Problem]:
    known = [f"turn{number}" for number in range(1, len(scenario.turns) + 1)]
    for key in (expected.requests.model_extra or {}) if expected.requests else ():
        if key in known:
            continue
        place = (*path, "requests", key)
        if _TURN.match(key):
            hint = "requests beyond the script are counted by otherwise"
            message = f"there is no {key}: the last is turn{len(known)}"
        else:
            hint = "known: total, side, otherwise, tools, retries, turn1, turn2, ..."
            message = f"{key!r} is no kind of request"
        yield source.problem(place, message, hint, key=True)
