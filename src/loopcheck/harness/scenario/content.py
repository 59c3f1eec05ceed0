"""What a turn says, piece by piece, in either of the two ways in which it can be written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from loopcheck.harness.scenario.model import AttemptModel, ItemModel, TurnModel
from loopcheck.harness.scenario.yaml_source import Path


@dataclass(frozen=True, slots=True)
class Piece:
    """One piece with its path below the attempt, or below the turn, that holds it."""

    item: ItemModel
    path: Path
    of_attempt: bool = False


def of_turn(turn: TurnModel) -> list[Piece]:
    """What a turn says where no attempt replaces it."""
    return [*_listed(turn, turn, False)]


def of_attempt(attempt: AttemptModel, turn: TurnModel) -> list[Piece]:
    """What an attempt says, by its own keys or by those of its turn."""
    if attempt.replaces_nothing:
        return of_turn(turn)
    return [*_listed(attempt, turn if turn.items is None else TurnModel(), True)]


def _listed(owner: TurnModel | AttemptModel, turn: TurnModel, of_attempt: bool) -> Iterator[Piece]:
    if owner.items is not None:
        for number, item in enumerate(owner.items):
            yield Piece(item, ("items", number), of_attempt)
        return
    for key in ("think", "say", "calls", "refuse"):
        given = getattr(owner, key)
        own = owner is not turn and given is not None
        value = given if own else getattr(turn, key)
        if key == "calls":
            for number, call in enumerate(value or ()):
                yield Piece(ItemModel(call=call), (key, number), own)
        elif value is not None:
            yield Piece(ItemModel.model_validate({key: value}), (key,), own)
