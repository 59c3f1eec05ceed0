"""Demands under must that an honest loop may fail: it may stop where something went wrong, and
need not understand what the service itself would never send."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from loopcheck.harness.scenario import walk
from loopcheck.harness.scenario.errors import Problem
from loopcheck.harness.scenario.expectations import (
    AnyOfQuantity,
    AnyOfResult,
    AtLeast,
    AtMost,
    Exact,
    Quantity,
)
from loopcheck.harness.scenario.json_text import whole_object
from loopcheck.harness.scenario.model import (
    AttemptModel,
    CallModel,
    Scenario,
    ToolModel,
    TurnModel,
)
from loopcheck.harness.scenario.schemas import accepts
from loopcheck.harness.scenario.tool_model import HANGING, Behaviour, name_of
from loopcheck.harness.scenario.yaml_source import Path, Source

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
_MAY_NOT_RUN: Final = "this is too much for must: an honest loop may run nothing here"


def lint(scenario: Scenario, source: Source) -> Iterator[Problem]:
    """Every demand under must that stands under should."""
    disturbed = _disturbed(scenario, source)
    yield from _results(scenario, source, disturbed)
    yield from _executions(scenario, source, disturbed)
    yield from _outcome(scenario, source, disturbed)


@dataclass(frozen=True, slots=True)
class _Disturbed:
    """What may have ended the run: `shaky` calls stand beside one that is unknown, malformed or
    raises; what is `behind` a broken, cut or odd response may never be run. `any` of either."""

    shaky: frozenset[str]
    behind: frozenset[str]
    any: bool


def _disturbed(scenario: Scenario, source: Source) -> _Disturbed:
    shaky: set[str] = set()
    behind: set[str] = set()
    broken = False
    for path, turn in walk.turns(scenario, source):
        broken = broken or _is_broken(path, turn, scenario)
        for where, attempt in walk.attempts(path, turn):
            said = walk.content(path, turn, where, attempt).calls
            calls = [call for _, call in said if not scenario.is_hosted(call.tool)]
            if any(_may_end_the_run(call, scenario.tools.get(call.tool)) for call in calls):
                shaky.update(call.label for call in calls)
            if broken:
                behind.update(call.label for call in calls)
    return _Disturbed(frozenset(shaky), frozenset(behind), broken)


def _is_broken(path: Path, turn: TurnModel, scenario: Scenario) -> bool:
    """Whether a response of this turn is cut, fails, or is none that the service would send."""
    attempts = [attempt for _, attempt in walk.attempts(path, turn)]
    if any(attempt.fault for attempt in attempts):
        return True
    spoken: tuple[TurnModel | AttemptModel, ...] = (turn, *attempts)
    if scenario.quirks or any(odd.quirks or odd.raw or odd.raw_body for odd in spoken):
        return True
    for _, stop in walk.stops(path, turn):
        if _CUT.intersection(stop.values() if isinstance(stop, dict) else [stop]):
            return True
    return False


def _may_end_the_run(call: CallModel, tool: ToolModel | None) -> bool:
    if call.form == "custom":
        return True
    arguments = whole_object(call.raw_args) if call.raw_args else call.args or {}
    if tool is None or arguments is None or not accepts(tool.parameters, arguments):
        return True
    failing = any(name_of(entry) in _FAILING for entry in tool.behaviours_of(call.label))
    return failing or "denied" in tool.permission


def _results(scenario: Scenario, source: Source, disturbed: _Disturbed) -> Iterator[Problem]:
    for label, result in scenario.expect.must.results.items():
        words = result.any_of if isinstance(result, AnyOfResult) else (result,)
        place = ("expect", "must", "results", label)
        if label in disturbed.shaky | disturbed.behind and "none" not in words:
            yield source.problem(place, _MAY_STOP, "add none: {any_of: [error, none]}")
        elif "flagged" in words and "error" not in words:
            message = "this is too much for must: an honest loop may tell an error without the mark"
            yield source.problem(place, message, "under must write error, and flagged under should")


def _executions(scenario: Scenario, source: Source, disturbed: _Disturbed) -> Iterator[Problem]:
    """Tools that have to run although each of their calls may never be run."""
    calls: dict[str, set[str]] = {}
    for _, call in walk.calls(scenario, source):
        calls.setdefault(call.tool, set()).add(call.label)
    must = scenario.expect.must
    for key, demands in (("executions", must.executions), ("effects", must.effects)):
        for tool, quantity in (demands or {}).items():
            safe = calls.get(tool, set()) - disturbed.behind
            if disturbed.any and not safe and _least(quantity) > 0:
                place = ("expect", "must", key, tool)
                yield source.problem(place, _MAY_NOT_RUN, "write {at_most: 1}, or {any_of: [0, 1]}")


def _least(quantity: Quantity) -> int:
    options: Iterable[Exact] = (
        quantity.any_of if isinstance(quantity, AnyOfQuantity) else (quantity,)
    )
    return min((_least_of(option) for option in options), default=0)


def _least_of(option: Exact) -> int:
    if isinstance(option, AtLeast):
        return option.at_least
    if isinstance(option, AtMost):
        return 0
    return option if isinstance(option, int) else len(option)


def _outcome(scenario: Scenario, source: Source, disturbed: _Disturbed) -> Iterator[Problem]:
    demanding = any(
        {word.partition("/")[0] for word in words} == {"completed"}
        for words in scenario.expect.must.outcomes
    )
    if demanding and (disturbed.shaky or disturbed.any):
        hint = "add failed: {any_of: [completed, failed]}"
        yield source.problem(("expect", "must", "outcome"), _MAY_STOP, hint)
