"""Which releases are tried to find the first one that is worse.

The first release is good and the last one worse. Whatever is tried between them moves one of these
two ends towards the other; a release that cannot be installed decides nothing, and is not tried
again. Verdicts need not go from good to worse once only: what is found is always one that is worse
with a good one right before it, of those that were tried.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Verdict: TypeAlias = Literal["good", "worse", "skipped"]


@dataclass(slots=True)
class Search:
    """A search among releases that are numbered from the oldest. `good` and `worse` are the ends
    of what is left to search."""

    good: int
    worse: int
    skipped: set[int] = field(default_factory=set)

    def next(self, width: int) -> list[int]:
        """The releases to be tried next, at most so many, which part what is left evenly; none at
        the end."""
        left = [n for n in range(self.good + 1, self.worse) if n not in self.skipped]
        points = min(width, len(left))
        return [left[part * (len(left) + 1) // (points + 1) - 1] for part in range(1, points + 1)]

    def hear(self, verdicts: Mapping[int, Verdict]) -> None:
        """Takes what came of some releases between the ends."""
        worse = [n for n, verdict in verdicts.items() if verdict == "worse"]
        self.worse = min([self.worse, *worse])
        good = [n for n, verdict in verdicts.items() if verdict == "good" and n < self.worse]
        self.good = max([self.good, *good])
        self.skipped |= {n for n, verdict in verdicts.items() if verdict == "skipped"}

    @property
    def between(self) -> list[int]:
        """Those between the ends that could not be tried; any of them may be the first that is
        worse."""
        return [n for n in range(self.good + 1, self.worse) if n in self.skipped]
