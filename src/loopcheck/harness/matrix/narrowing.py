"""Runs what a bisection tries, in rounds, until the first release that is worse is found."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from loopcheck.harness.matrix.bisection import Search, Verdict
from loopcheck.harness.matrix.cells import Workshop
from loopcheck.harness.matrix.executor import Executor
from loopcheck.harness.matrix.plan import DependencySet, PlannedTarget
from loopcheck.harness.matrix.results import CellResult, CellStatus
from loopcheck.harness.matrix.suspects import Suspect
from loopcheck.harness.matrix.sweep import sweep

# `stopped`: a cell was not finished, so that there is more to search.
Outcome: TypeAlias = Literal["open", "found", "not worse", "cannot tell", "stopped"]
_DECIDES_NOTHING: Final[frozenset[CellStatus]] = frozenset({"cannot install", "not finished"})
IsWorse: TypeAlias = Callable[[CellResult, CellResult], bool]


@dataclass(slots=True)
class Course:
    """How the search for one target stands. `is_worse` says it of a cell, after that of the oldest
    release."""

    suspect: Suspect
    is_worse: IsWorse
    outcome: Outcome = "open"
    results: dict[int, CellResult] = field(default_factory=dict)
    search: Search = field(init=False)
    _verdicts: dict[int, Verdict] = field(default_factory=dict)
    _names: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        self.search = Search(good=0, worse=self.newest)
        self._names = {one.name: place for place, one in enumerate(self.suspect.sets)}

    @property
    def newest(self) -> int:
        """The place of the newest release; that of the oldest is 0."""
        return len(self.suspect.releases) - 1

    def due(self, width: int) -> list[tuple[PlannedTarget, DependencySet]]:
        """What is to be run next, at most so many beside the two ends; nothing at the end."""
        if self.outcome != "open":
            return []
        places = self.search.next(width) if self.results else [0, self.newest]
        return [(self.suspect.target, self.suspect.sets[place]) for place in places]

    def take(self, result: CellResult) -> None:
        """Takes what came of a release."""
        self.results[self._names[result.dependency_set]] = result

    def verdict(self, result: CellResult) -> Verdict | None:
        """What a release that was taken is, beside the oldest; none as long as that is not known,
        and of itself."""
        place = self._names[result.dependency_set]
        if place == 0 or 0 not in self.results:
            return None
        if place not in self._verdicts:
            self._verdicts[place] = self._judge(result)
        return self._verdicts[place]

    def decide(self) -> None:
        """Goes on from what was taken."""
        for result in self.results.values():
            self.verdict(result)
        self.search.hear(self._verdicts)
        end = self._verdicts[self.newest]
        if self.results[0].status in _DECIDES_NOTHING or end == "skipped":
            self.outcome = "cannot tell"
        elif any(result.status == "not finished" for result in self.results.values()):
            self.outcome = "stopped"
        elif end == "good":
            self.outcome = "not worse"
        elif not self.search.next(1):
            self.outcome = "found"

    def _judge(self, result: CellResult) -> Verdict:
        if result.status in _DECIDES_NOTHING:
            return "skipped"
        return "worse" if self.is_worse(self.results[0], result) else "good"


def narrow(
    workshop: Workshop,
    executor: Executor,
    courses: Sequence[Course],
    *,
    width: int,
    judged: Callable[[CellResult], CellResult],
) -> Iterator[CellResult]:
    """The result of everything that is tried, as it is there and as it is `judged`, until each
    course has come to its end; with `width` releases at a time."""
    while True:
        going = [course for course in courses if course.outcome == "open"]
        share = max(1, width // max(1, len(going)))
        due = [place for course in going for place in course.due(share)]
        if not due:
            return
        by_name = {course.suspect.target.name: course for course in going}
        for result in map(judged, sweep(workshop, executor, due)):
            by_name[result.target].take(result)
            yield result
        for course in going:
            course.decide()
