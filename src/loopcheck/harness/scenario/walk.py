"""Walks a scenario together with the places of its parts in the file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from loopcheck.fake_providers.script import DIALECTS, DialectName, Stop
from loopcheck.harness.scenario.model import (
    AttemptModel,
    CallModel,
    DeliveryModel,
    Scenario,
    TurnModel,
)
from loopcheck.harness.scenario.yaml_source import Path, Source


@dataclass(frozen=True, slots=True)
class Content:
    """What one attempt says: the calls with their paths, and whether there is text."""

    calls: tuple[tuple[Path, CallModel], ...]
    says: bool

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(call.label for _, call in self.calls)

    def call(self, label: str) -> CallModel | None:
        return next((call for _, call in self.calls if call.label == label), None)


def dialects(scenario: Scenario) -> tuple[DialectName, ...]:
    """The dialects that a scenario is run in."""
    return DIALECTS if scenario.dialects == "all" else scenario.dialects


def turns(scenario: Scenario, source: Source) -> Iterator[tuple[Path, TurnModel]]:
    """Every turn, those of `otherwise` last."""
    for number, turn in enumerate(scenario.turns):
        yield ("turns", number), turn
    single = isinstance(source.data.get("otherwise"), dict)
    for number, turn in enumerate(scenario.otherwise):
        yield ("otherwise",) if single else ("otherwise", number), turn


def attempts(path: Path, turn: TurnModel) -> Iterator[tuple[Path, AttemptModel]]:
    """Every attempt of a turn; a plain `normal` is one that changes nothing."""
    for number, attempt in enumerate(turn.attempts):
        plain = AttemptModel() if attempt == "normal" else attempt
        yield (*path, "attempts", number), plain


def stops(
    path: Path, turn: TurnModel
) -> Iterator[tuple[Path, Stop | dict[DialectName, Stop] | None]]:
    """The stop of a turn, then those of its attempts."""
    yield (*path, "stop"), turn.stop
    for where, attempt in attempts(path, turn):
        yield (*where, "stop"), attempt.stop


def own_content(path: Path, turn: TurnModel) -> Content:
    """What a turn says where no attempt replaces it."""
    if turn.items is None:
        calls = [((*path, "calls", n), call) for n, call in enumerate(turn.calls)]
        return Content(tuple(calls), bool(turn.say))
    items = [
        ((*path, "items", n, "call"), item.call)
        for n, item in enumerate(turn.items)
        if item.call is not None
    ]
    return Content(tuple(items), any(item.say for item in turn.items))


def content(path: Path, turn: TurnModel, where: Path, attempt: AttemptModel) -> Content:
    """What an attempt says, by its own keys or by those of its turn."""
    if attempt.replaces_nothing:
        return own_content(path, turn)
    own = own_content(path, turn) if turn.items is None else Content((), False)
    calls = own.calls
    if attempt.calls is not None:
        calls = tuple(((*where, "calls", n), call) for n, call in enumerate(attempt.calls))
    return Content(calls, own.says if attempt.say is None else bool(attempt.say))


def calls(scenario: Scenario, source: Source) -> Iterator[tuple[Path, CallModel]]:
    """Every scripted call, each once."""
    for path, turn in turns(scenario, source):
        yield from own_content(path, turn).calls
        for where, attempt in attempts(path, turn):
            for number, call in enumerate(attempt.calls or ()):
                yield (*where, "calls", number), call


def deliveries(scenario: Scenario, source: Source) -> Iterator[tuple[Path, DeliveryModel]]:
    """Every `delivery` of the file."""
    yield ("delivery",), scenario.delivery
    for path, turn in turns(scenario, source):
        if turn.delivery is not None:
            yield (*path, "delivery"), turn.delivery
        for where, attempt in attempts(path, turn):
            if attempt.delivery is not None:
                yield (*where, "delivery"), attempt.delivery
