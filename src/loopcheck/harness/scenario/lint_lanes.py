"""What the lanes of a scenario may get wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from loopcheck.harness.scenario.errors import Problem, did_you_mean
from loopcheck.harness.scenario.model import LaneIfModel, Scenario
from loopcheck.harness.scenario.yaml_source import Path, Source

_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,39}\Z")


def lint(scenario: Scenario, source: Source) -> Iterator[Problem]:
    """Problems of every lane, and of lanes that no target is known to have."""
    if scenario.lanes and "lanes" not in scenario.needs:
        hint = "a target that holds one conversation at a time is then not declared"
        yield source.problem(("lanes",), "'lanes' wants needs: [lanes]", hint, key=True)
    claimed: list[tuple[str, LaneIfModel]] = []
    for name, lane in scenario.lanes.items():
        path: Path = ("lanes", name)
        if not _NAME.match(name):
            yield source.problem(path, f"{name!r} is no name of a lane", key=True)
        if not lane.turns:
            yield source.problem((*path, "turns"), f"lane {name!r} has no turn")
        yield from _condition((*path, "if"), lane.if_, scenario, source)
        twin = next((other for other, condition in claimed if _same(condition, lane.if_)), None)
        if twin is not None:
            message = f"lane {twin!r} claims every request of lane {name!r}"
            yield source.problem((*path, "if"), message, "tell them apart by model or tools")
        claimed.append((name, lane.if_))


def _condition(
    path: Path, condition: LaneIfModel, scenario: Scenario, source: Source
) -> Iterator[Problem]:
    if condition == LaneIfModel():
        hint = "say by its model or its tools which requests it claims"
        yield source.problem(path, "this lane claims every request", hint)
    for number, tool in enumerate(condition.tools or ()):
        if tool not in scenario.client_tools:
            hint = did_you_mean(tool, scenario.client_tools)
            yield source.problem((*path, "tools", number), f"{tool!r} is no tool here", hint)


def _same(one: LaneIfModel, other: LaneIfModel) -> bool:
    tools = [None if given.tools is None else set(given.tools) for given in (one, other)]
    return one.model == other.model and tools[0] == tools[1]
