"""The search: examples are drawn until one fails, and each distinct failure is made small.

Hypothesis draws and shrinks. One failure is hunted at a time: once one is seen, only the same one
counts, so that what is shrunk does not turn into another. Then the search goes on without it,
until all examples are spent. What a database holds from before is tried first, and does not
change what is drawn afterwards: the same seed gives the same result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from random import Random
from typing import Final, TypeAlias

from hypothesis import Phase, Verbosity, find, settings
from hypothesis.database import ExampleDatabase
from hypothesis.errors import Flaky, NoSuchExample

from loopcheck.fake_providers.script import DialectName, Mode
from loopcheck.harness.fuzz.coverage import Coverage
from loopcheck.harness.fuzz.examples import Example, examples
from loopcheck.harness.fuzz.failure import Failure
from loopcheck.harness.fuzz.shown import is_clean
from loopcheck.harness.fuzz.smaller import smaller
from loopcheck.harness.fuzz.trial import Trial
from loopcheck.harness.strategies.features import Feature

Key: TypeAlias = tuple[str, str]
# Hypothesis keeps nothing of a search with a seed; what is found is kept as a scenario.
_SETTINGS: Final = settings(
    database=None,
    deadline=None,
    phases=(Phase.generate, Phase.shrink),
    verbosity=Verbosity.quiet,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A distinct failure, as small as it was made. It is `steady` when it came again each time
    the same example was run once more, and `known` when the database had it from before."""

    failure: Failure
    example: Example
    steady: bool
    known: bool


@dataclass(slots=True, kw_only=True)
class Hunt:
    """A search on one target. `progress` is called after each example; after `most_smaller`
    smaller ones, a failure is small enough. It ends early when `most_found` were found, and has
    processes die where `dies` says so."""

    trial: Trial
    dialects: tuple[DialectName, ...]
    modes: tuple[Mode, ...]
    features: tuple[Feature, ...]
    seed: int = 0
    limit: int = 200
    most_smaller: int = 600
    most_found: int | None = None
    dies: bool = False
    database: ExampleDatabase | None = None
    progress: Callable[[Hunt], None] = lambda hunt: None
    coverage: Coverage = field(default_factory=Coverage)
    drawn: int = 0
    found: list[Found] = field(default_factory=list)

    def run(self) -> list[Found]:
        """Everything that was found, by check and kind."""
        known = list(self.remembered())
        self._search()
        mine = {one.failure.key for one in self.found}
        self.found += [one for one in known if one.failure.key not in mine]
        return sorted(self.found, key=lambda one: one.failure.key)

    def count(self) -> None:
        """One more example was drawn."""
        self.drawn += 1
        self.progress(self)

    def _search(self) -> None:
        drawn = examples(
            dialects=self.dialects, modes=self.modes, features=self.features, dies=self.dies
        )
        random = Random(f"loopcheck {self.seed}")
        while self.drawn < self.limit and len(self.found) != self.most_found:
            chase = _Chase(self, {one.failure.key for one in self.found})
            quick = settings(_SETTINGS, max_examples=self.limit - self.drawn)
            example: Example | None
            try:
                example = find(drawn, chase.fails, settings=quick, random=random)
            except NoSuchExample:
                return
            except Flaky:
                example = chase.last
            if example is None:
                return
            self.found.append(self._confirmed(example, chase))
            if self.database is not None:
                self.database.save(self._database_key, example.to_bytes())

    def remembered(self) -> Iterator[Found]:
        """What the database has from before and is still wrong; the rest is removed from it."""
        stored = [] if self.database is None else sorted(self.database.fetch(self._database_key))
        seen: set[Key] = set()
        for value in stored:
            example = Example.from_bytes(value)
            failure = None if example is None else example.failure(self.trial)
            if example is None or failure is None:
                if self.database is not None:
                    self.database.delete(self._database_key, value)
            elif failure.key not in seen:
                seen.add(failure.key)
                yield Found(failure=failure, example=example, steady=True, known=True)

    @property
    def _database_key(self) -> bytes:
        what = (self.trial.card.name, *self.dialects, *self.modes, *self.features)
        return f"loopcheck {' '.join(what)}".encode()

    def _confirmed(self, example: Example, chase: _Chase) -> Found:
        failure = chase.failures[example.text]
        again = example.failure(self.trial)
        if again is None or again.key != failure.key:
            return Found(failure=failure, example=example, steady=False, known=False)
        example, failure = self._reduced(example, again)
        return Found(failure=failure, example=example, steady=True, known=False)

    def _reduced(self, example: Example, failure: Failure) -> tuple[Example, Failure]:
        """The example without anything that can be taken away and leaves it failing the same."""
        for scenario in smaller(example.scenario):
            less = replace(example, scenario=scenario, turn=min(example.turn, len(scenario.turns)))
            if is_clean(scenario) and less.turn >= 1:
                found = less.failure(self.trial)
                if found is not None and found.key == failure.key:
                    return self._reduced(less, found)
        return example, failure


@dataclass(slots=True)
class _Chase:
    """The search for one failure that is not among those found already."""

    hunt: Hunt
    passed_over: set[Key]
    failures: dict[str, Failure] = field(default_factory=dict)
    last: Example | None = None
    _key: Key | None = None
    _seen: dict[str, bool] = field(default_factory=dict)
    _smaller: int = 0

    def fails(self, example: Example) -> bool:
        """Whether the example shows the failure that is chased; the first one is from then on."""
        text = example.text
        if text in self._seen:
            if self._key is None:
                self.hunt.count()
            return self._seen[text]
        if self._key is not None:
            self._smaller += 1
            if self._smaller > self.hunt.most_smaller:
                return False
        failure = self._failure(example)
        self._seen[text] = failure is not None and self._is_chased(failure)
        if failure is not None and self._seen[text]:
            self.failures[text], self.last = failure, example
        return self._seen[text]

    def _failure(self, example: Example) -> Failure | None:
        """Tries the example; it is counted unless it only makes a failure smaller."""
        hunt = self.hunt
        if self._key is not None:
            return example.failure(hunt.trial)
        failure = example.failure(replace(hunt.trial, heard=hunt.coverage.add))
        hunt.count()
        return failure

    def _is_chased(self, failure: Failure) -> bool:
        if self._key is None and failure.key not in self.passed_over:
            self._key = failure.key
        return failure.key == self._key
