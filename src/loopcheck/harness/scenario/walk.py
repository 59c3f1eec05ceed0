"""Walks a scenario together with the places of its parts in the file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from loopcheck.fake_providers.script import DIALECTS, DialectName, Stop
from loopcheck.harness.scenario import content as content_of
from loopcheck.harness.scenario.model import (
    AttemptModel,
    CallModel,
    DeliveryModel,
    ItemModel,
    Scenario,
    TurnModel,
)
from loopcheck.harness.scenario.yaml_source import Path, Source


@dataclass(frozen=True, slots=True)
class Content:
    """What one attempt says, each piece with its path in the file."""

    pieces: tuple[tuple[Path, ItemModel], ...]

    @property
    def calls(self) -> tuple[tuple[Path, CallModel], ...]:
        """The calls, hosted ones included."""
        return tuple(
            ((*path, "call") if "items" in path else path, item.call)
            for path, item in self.pieces
            if item.call is not None
        )

    @property
    def says(self) -> bool:
        return any(item.say for _, item in self.pieces)

    @property
    def thinks(self) -> bool:
        return any(item.think for _, item in self.pieces)

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(call.label for _, call in self.calls)

    def call(self, label: str) -> CallModel | None:
        return next((call for _, call in self.calls if call.label == label), None)


def dialects(scenario: Scenario) -> tuple[DialectName, ...]:
    """The dialects that a scenario is run in."""
    return DIALECTS if scenario.dialects == "all" else scenario.dialects


def turns(scenario: Scenario, source: Source) -> Iterator[tuple[Path, TurnModel]]:
    """Every turn in the order of their numbers, those of `otherwise` last."""
    for number, turn in enumerate(scenario.entries):
        if isinstance(turn, TurnModel):
            yield ("turns", number), turn
    for name, lane in scenario.lanes.items():
        for number, turn in enumerate(lane.turns):
            yield ("lanes", name, "turns", number), turn
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
    return Content(tuple(((*path, *piece.path), piece.item) for piece in content_of.of_turn(turn)))


def content(path: Path, turn: TurnModel, where: Path, attempt: AttemptModel) -> Content:
    """What an attempt says, by its own keys or by those of its turn."""
    return Content(
        tuple(
            ((*(where if piece.of_attempt else path), *piece.path), piece.item)
            for piece in content_of.of_attempt(attempt, turn)
        )
    )


def contents(scenario: Scenario, source: Source) -> Iterator[Content]:
    """Every content of the file: of each turn, and of attempts that say something else."""
    for path, turn in turns(scenario, source):
        yield own_content(path, turn)
        for where, attempt in attempts(path, turn):
            if not attempt.replaces_nothing:
                yield content(path, turn, where, attempt)


def pieces(scenario: Scenario, source: Source) -> Iterator[tuple[Path, ItemModel]]:
    """Every piece that is written down, each once."""
    seen: set[Path] = set()
    for said in contents(scenario, source):
        for path, item in said.pieces:
            if path not in seen:
                seen.add(path)
                yield path, item


def calls(scenario: Scenario, source: Source) -> Iterator[tuple[Path, CallModel]]:
    """Every scripted call, each once."""
    seen: set[Path] = set()
    for said in contents(scenario, source):
        for path, call in said.calls:
            if path not in seen:
                seen.add(path)
                yield path, call


def deliveries(scenario: Scenario, source: Source) -> Iterator[tuple[Path, DeliveryModel]]:
    """Every `delivery` of the file."""
    yield ("delivery",), scenario.delivery
    for path, turn in turns(scenario, source):
        if turn.delivery is not None:
            yield (*path, "delivery"), turn.delivery
        for where, attempt in attempts(path, turn):
            if attempt.delivery is not None:
                yield (*where, "delivery"), attempt.delivery
