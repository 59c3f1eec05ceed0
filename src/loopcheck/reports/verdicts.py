"""How verdicts are shown where colour is not enough: a shape and a word for each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from loopcheck.harness.results import CaseResult


@dataclass(frozen=True, slots=True)
class Sign:
    """A verdict's shape, its word, what it means, and the tone of its colour."""

    shape: str
    word: str
    meaning: str
    tone: str


# The worst first: a cell of several cases takes the colour of the worst.
SIGNS: Final = {
    "target broken": Sign("!", "broken", "the target broke or hung", "bad"),
    "fail": Sign("✕", "fail", "a requirement is broken", "bad"),
    "harness error": Sign("?", "harness error", "loopcheck itself failed", "bad"),
    "stale": Sign("↺", "stale", "listed as a known failure and no longer fails", "warn"),
    "flaky": Sign("≈", "flaky", "fails at times, as listed", "warn"),
    "expected": Sign("◇", "expected", "fails as listed: a known bug", "warn"),
    "policy": Sign("§", "by policy", "fails as listed: on purpose", "warn"),
    "pass": Sign("✓", "pass", "every requirement that was put to the test was kept", "good"),
    "unscored": Sign(
        "·", "unscored", "the suite leaves its scenario out; counts for nothing", "none"
    ),
    "not exercised": Sign("○", "not exercised", "the case did not get there", "none"),
    "not declared": Sign("⊘", "not declared", "the target does not say that it can", "none"),
}


def counted(cases: Iterable[CaseResult]) -> dict[str, int]:
    """How many cases have each verdict, the worst first, without those that none has."""
    numbers = Counter(str(case.verdict) for case in cases)
    return {verdict: numbers[verdict] for verdict in SIGNS if verdict in numbers}


def count(number: int, what: str) -> str:
    """The number with its noun."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
