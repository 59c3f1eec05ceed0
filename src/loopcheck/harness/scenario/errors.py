"""What is wrong with scenario files, each with its place."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One thing to mend. Lines and columns count from 1; both are 0 where there is no file."""

    file: str
    line: int
    column: int
    message: str
    hint: str = ""

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        return f"{where}: error: {self.message}" + (f"\n    {self.hint}" if self.hint else "")


class ScenarioError(Exception):
    """Scenario files that cannot be used. `problems` lists everything that was found."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(sorted(problems))
        super().__init__("\n".join(str(problem) for problem in self.problems))


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A hint that names the nearest known word, or lists the known ones when they are few."""
    words = sorted(set(known))
    close = get_close_matches(word, words, 1)
    if close:
        return f"did you mean {close[0]!r}?"
    return f"known: {', '.join(words)}" if 0 < len(words) <= 24 else ""
