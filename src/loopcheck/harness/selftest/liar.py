"""What a liar is: a broken loop, and where the check that it trips is to find it out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from loopcheck.harness.results import Level
from loopcheck.harness.target import Target, loop
from loopcheck.harness.task import Outcome, Task


class Run(Protocol):
    """One run of a task by a loop."""

    def run(self) -> Outcome:
        """Runs it to its end."""
        ...


class Kind(Protocol):
    """The class of a loop: made anew for each task."""

    __name__: str

    def __call__(self, task: Task) -> Run: ...


CAN = (
    "approval",
    "cancel",
    "hosted",
    "limits",
    "operation_ids",
    "parallel",
    "resume",
    "thinking",
    "validates",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Liar:
    """A broken loop and the check that its primary finding is of, in each of these cases.

    `level` is that of the primary finding. `also` are the checks that it fails under must in
    consequence, beside the scenario's own words.
    """

    target: Target
    check: str
    cases: tuple[str, ...]
    also: frozenset[str] = frozenset()
    level: Level = "must"

    @property
    def name(self) -> str:
        return self.target.name


def target_of(kind: Kind) -> Target:
    """A loop of this kind as a target."""

    def run(task: Task) -> Outcome:
        return kind(task).run()

    return loop(name=kind.__name__, dialects=("responses", "chat", "messages"), can=CAN)(run)


def liar(
    kind: Kind,
    check: str,
    *cases: str,
    also: tuple[str, ...] = (),
    level: Level = "must",
) -> Liar:
    """A liar, by the ids of the cases that show it. It claims the capabilities of the honest
    loop that it spoils."""
    return Liar(target=target_of(kind), check=check, cases=cases, also=frozenset(also), level=level)
