"""How a search goes on from what its cells come to."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopcheck.harness.config import Config, TargetSource
from loopcheck.harness.matrix.narrowing import Course
from loopcheck.harness.matrix.plan import DependencySet, PlannedTarget
from loopcheck.harness.matrix.results import CellResult, CellStatus
from loopcheck.harness.matrix.suspects import Suspect

WORSE: CellStatus = "breaks at import"


def is_worse(base: CellResult, other: CellResult) -> bool:
    return base.status == "ran" and other.status == WORSE


def course(releases: int) -> Course:
    names = tuple(str(number) for number in range(releases))
    target = PlannedTarget(
        source=TargetSource(name="t"), folder=None, config=Config(root=Path("/nowhere"))
    )
    sets = tuple(DependencySet(name=name) for name in names)
    return Course(Suspect(target=target, releases=names, sets=sets), is_worse)


def run(one: Course, statuses: dict[str, CellStatus], width: int = 1) -> list[str]:
    """Runs a round; what was tried in it."""
    tried = [dependencies.name for _, dependencies in one.due(width)]
    for name in reversed(tried):
        status = statuses.get(name, "ran")
        one.take(CellResult(target="t", dependency_set=name, key=name, status=status))
    if tried:
        one.decide()
    return tried


def test_the_ends_come_first_and_then_what_is_between() -> None:
    one = course(8)
    statuses: dict[str, CellStatus] = {name: WORSE for name in ("3", "4", "5", "6", "7")}
    assert [run(one, statuses) for _ in range(5)] == [["0", "7"], ["3"], ["1"], ["2"], []]
    assert (one.outcome, one.search.good, one.search.worse) == ("found", 2, 3)


def test_several_are_tried_at_a_time_where_there_is_room() -> None:
    one = course(8)
    statuses: dict[str, CellStatus] = {name: WORSE for name in ("5", "6", "7")}
    assert [run(one, statuses, 2) for _ in range(4)] == [["0", "7"], ["2", "4"], ["5", "6"], []]
    assert (one.outcome, one.search.good, one.search.worse) == ("found", 4, 5)


def test_two_releases_beside_each_other_are_the_answer() -> None:
    one = course(2)
    assert [run(one, {"1": WORSE}) for _ in range(2)] == [["0", "1"], []]
    assert (one.outcome, one.search.good, one.search.worse) == ("found", 0, 1)


@pytest.mark.parametrize(
    ("statuses", "outcome"),
    [
        ({}, "not worse"),
        ({"0": WORSE, "7": WORSE}, "not worse"),
        ({"0": WORSE}, "not worse"),
        ({"7": "cannot install"}, "cannot tell"),
        ({"0": "cannot install", "7": WORSE}, "cannot tell"),
        ({"0": "not finished"}, "cannot tell"),
        ({"7": "not finished"}, "cannot tell"),
    ],
)
def test_without_a_worse_end_nothing_else_is_tried(
    statuses: dict[str, CellStatus], outcome: str
) -> None:
    one = course(8)
    assert [run(one, statuses) for _ in range(2)] == [["0", "7"], []]
    assert one.outcome == outcome


def test_what_cannot_be_installed_is_passed_over() -> None:
    one = course(5)
    statuses: dict[str, CellStatus] = {"2": "cannot install", "3": WORSE, "4": WORSE}
    assert [run(one, statuses) for _ in range(5)] == [["0", "4"], ["2"], ["1"], ["3"], []]
    assert (one.outcome, one.search.good, one.search.worse) == ("found", 1, 3)
    assert one.search.between == [2]


def test_what_was_not_finished_ends_it() -> None:
    one = course(8)
    statuses: dict[str, CellStatus] = {"3": "not finished", "7": WORSE}
    assert [run(one, statuses) for _ in range(3)] == [["0", "7"], ["3"], []]
    assert (one.outcome, one.search.good, one.search.worse) == ("stopped", 0, 7)


def test_what_a_release_is_shows_as_soon_as_the_oldest_is_there() -> None:
    one = course(3)
    oldest = CellResult(target="t", dependency_set="0", key="0", status="ran")
    newest = CellResult(target="t", dependency_set="2", key="2", status=WORSE)
    one.take(newest)
    assert one.verdict(newest) is None
    one.take(oldest)
    assert one.verdict(oldest) is None
    assert one.verdict(newest) == "worse"
