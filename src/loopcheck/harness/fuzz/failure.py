"""A property that was found broken: where, how, and in which scenario."""

from __future__ import annotations

from dataclasses import dataclass

from loopcheck.harness.cases import CaseSpec
from loopcheck.harness.journal import Entry
from loopcheck.harness.scenario.write import write


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """`check` is the check or property that was broken, `kind` what was first seen to differ;
    failures that share both are one. `shown` is the case that shows it."""

    check: str
    kind: str
    expected: str
    seen: str
    shown: CaseSpec
    entries: tuple[Entry, ...]

    @property
    def key(self) -> tuple[str, str]:
        return self.check, self.kind

    def __str__(self) -> str:
        said = f"{self.check}: {self.kind}\n  expected  {self.expected}\n  seen      {self.seen}"
        case = f"{self.shown.dialect}, {self.shown.mode}"
        return f"{said}\nin this scenario ({case}):\n\n{write(self.shown.scenario)}"


class PropertyBroken(AssertionError):
    """Raised by the `check_` functions; says the scenario as a file that can be kept."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(str(failure))
        self.failure = failure
