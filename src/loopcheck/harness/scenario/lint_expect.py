"""What the expectations of a scenario may get wrong."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, get_args

from loopcheck.harness.results import Level
from loopcheck.harness.scenario import walk
from loopcheck.harness.scenario.errors import Problem, did_you_mean
from loopcheck.harness.scenario.expectations import AnyOfResult, ExpectLevel
from loopcheck.harness.scenario.json_text import whole_object
from loopcheck.harness.scenario.model import CallModel, Scenario, ToolModel
from loopcheck.harness.scenario.point_names import complaint
from loopcheck.harness.scenario.schemas import accepts
from loopcheck.harness.scenario.tool_model import HANGING, Behaviour, name_of
from loopcheck.harness.scenario.yaml_source import Path, Source

_TURN: Final = re.compile(r"turn[1-9][0-9]{0,3}\Z")
_RAISING: Final[tuple[Behaviour, ...]] = (
    "raises",
    "raises-timeout",
    "rejects",
    "rate-limited",
    "commit-then-raise",
    "commit-then-lose-response",
)
_FAILING: Final = HANGING.union(_RAISING)
_CUT: Final = frozenset({"length", "filter", "refusal", "context"})
_MAY_STOP: Final = "this is too much for must: an honest loop may stop here instead"


def lint(scenario: Scenario, source: Source) -> Iterator[Problem]:
    """Problems of every level, and demands under must that not every honest loop meets."""
    levels: tuple[Level, ...] = get_args(Level)
    for level in levels:
        expected = scenario.expect.level(level)
        path: Path = ("expect", level)
        yield from _names(path, expected, scenario, source)
        yield from _order(path, expected, scenario, source)
        yield from _requests(path, expected, source)
    yield from _too_much(scenario, source)


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


def _requests(path: Path, expected: ExpectLevel, source: Source) -> Iterator[Problem]:
    for key in (expected.requests.model_extra or {}) if expected.requests else ():
        if not _TURN.match(key):
            hint = "known: total, side, otherwise, tools, retries, turn1, turn2, ..."
            message = f"{key!r} is no kind of request"
            yield source.problem((*path, "requests", key), message, hint, key=True)


def _too_much(scenario: Scenario, source: Source) -> Iterator[Problem]:
    must = scenario.expect.must
    shaky = _shaky_labels(scenario, source)
    for label, result in must.results.items():
        words = result.any_of if isinstance(result, AnyOfResult) else (result,)
        if label in shaky and "none" not in words:
            hint = "add none: {any_of: [error, none]}"
            place = ("expect", "must", "results", label)
            yield source.problem(place, _MAY_STOP, hint)
    demanding = any(
        {word.partition("/")[0] for word in words} == {"completed"} for words in must.outcomes
    )
    if demanding and (shaky or _disturbed(scenario, source)):
        hint = "add failed: {any_of: [completed, failed]}"
        yield source.problem(("expect", "must", "outcome"), _MAY_STOP, hint)


def _shaky_labels(scenario: Scenario, source: Source) -> set[str]:
    """Calls of a turn in which one is unknown, malformed or ends in an exception."""
    shaky: set[str] = set()
    for path, turn in walk.turns(scenario, source):
        for where, attempt in walk.attempts(path, turn):
            said = walk.content(path, turn, where, attempt).calls
            calls = [call for _, call in said if not scenario.is_hosted(call.tool)]
            if any(_may_end_the_run(call, scenario.tools.get(call.tool)) for call in calls):
                shaky.update(call.label for call in calls)
    return shaky


def _may_end_the_run(call: CallModel, tool: ToolModel | None) -> bool:
    if call.form == "custom":
        return True
    arguments = whole_object(call.raw_args) if call.raw_args else call.args or {}
    if tool is None or arguments is None or not accepts(tool.parameters, arguments):
        return True
    failing = any(name_of(entry) in _FAILING for entry in tool.behaviours_of(call.label))
    return failing or "denied" in tool.permission


def _disturbed(scenario: Scenario, source: Source) -> bool:
    for path, turn in walk.turns(scenario, source):
        if any(attempt.fault for _, attempt in walk.attempts(path, turn)):
            return True
        for _, stop in walk.stops(path, turn):
            if _CUT.intersection(stop.values() if isinstance(stop, dict) else [stop]):
                return True
    return False
