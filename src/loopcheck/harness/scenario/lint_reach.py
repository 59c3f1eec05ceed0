"""What can never come: turns behind a final answer, and faults that cannot strike."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from loopcheck.harness.scenario import walk
from loopcheck.harness.scenario.errors import Problem
from loopcheck.harness.scenario.model import AttemptModel, Scenario, TurnModel
from loopcheck.harness.scenario.yaml_source import Path, Source

_ASKED_ALONE: Final = "a further message of the user is an entry of its own: - user: …"


def lint_turns(scenario: Scenario, source: Source) -> Iterator[Problem]:
    """Turns that no request asks for, since the one before them ends every run."""
    turns = list(walk.turns(scenario, source))
    numbers = {path: number for number, (path, _) in enumerate(turns, 1)}
    for (path, turn), (following, _) in pairwise(turns):
        if _are_in_a_row(path, following) and _is_final(path, turn, scenario):
            number = numbers[path]
            message = f"no request reaches turn {number + 1}: turn {number} is a final answer"
            yield source.problem(following, message, _ASKED_ALONE)


def _are_in_a_row(path: Path, following: Path) -> bool:
    """Whether nobody says anything between these turns of one script."""
    *script, place = path
    if path[0] == "otherwise" or not isinstance(place, int):
        return False
    return following == (*script, place + 1)


def _is_final(path: Path, turn: TurnModel, scenario: Scenario) -> bool:
    """Whether every loop ends with this turn: it says something whole, calls nothing, and nothing
    in it is odd."""
    if turn.optional or turn.quirks or scenario.quirks:
        return False
    for where, attempt in walk.attempts(path, turn):
        said = walk.content(path, turn, where, attempt)
        if said.calls or not said.says or any(item.hosted_result for _, item in said.pieces):
            return False
        if attempt.quirks or attempt.raw or attempt.raw_body or turn.raw or turn.raw_body:
            return False
        if any(stop not in (None, "end") for stop in (attempt.stop, turn.stop)):
            return False
    return turn.attempts[-1] == "normal" or turn.attempts[-1].fault is None


def lint_faults(scenario: Scenario, source: Source) -> Iterator[Problem]:
    """Faults that have no place in what is sent, found out by sending it. For files that are
    right otherwise."""
    from loopcheck.fake_providers import faults
    from loopcheck.fake_providers.answers import prepare
    from loopcheck.fake_providers.dialects import dialect as named
    from loopcheck.harness.scenario.asking import reading
    from loopcheck.harness.scenario.compile import compile_script

    turns = list(walk.turns(scenario, source))
    if not any(attempt.fault for path, turn in turns for _, attempt in walk.attempts(path, turn)):
        return
    told: set[Path] = set()
    for dialect in walk.dialects(scenario):
        for mode in scenario.modes:
            script = compile_script(scenario, dialect, mode)
            asked = reading(scenario, dialect, mode)
            compiled = (*script.turns, *script.otherwise)
            for number, ((path, turn), sent) in enumerate(zip(turns, compiled, strict=True), 1):
                written = list(walk.attempts(path, turn))
                for (where, model), attempt in zip(written, sent.attempts, strict=True):
                    if attempt.fault is None or where in told:
                        continue
                    answer = prepare(asked, attempt, turn=number, asked=1, seed=0, number=number)
                    try:
                        faults.render(named(dialect), answer, attempt, mode, seed=0)
                    except faults.FaultError as error:
                        told.add(where)
                        yield _no_place(where, model, f"{error} ({dialect}, {mode})", source)


def _no_place(where: Path, attempt: AttemptModel, why: str, source: Source) -> Problem:
    place = (*where, "at") if attempt.at is not None else (*where, "fault")
    return source.problem(place, why)
