"""What a liar is: a broken loop, and where the check that it trips is to find it out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

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


CAN = ("parallel", "limits", "validates", "thinking")


@dataclass(frozen=True, slots=True, kw_only=True)
class Liar:
    """A broken loop and the check that its primary finding is of, in each of these cases.

    `also` are checks that it fails in consequence. It claims the capabilities of the honest loop
    that it spoils, and those in `claims`, which are part of the lie.
    """

    kind: Kind
    check: str
    cases: tuple[str, ...]
    also: frozenset[str] = frozenset()
    claims: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.kind.__name__

    @property
    def target(self) -> Target:
        """The loop as it is put on trial."""
        return target_of(self.kind, (*CAN, *self.claims))


def target_of(kind: Kind, can: tuple[str, ...] = CAN) -> Target:
    """A loop of this kind as a target."""

    def run(task: Task) -> Outcome:
        return kind(task).run()

    return loop(name=kind.__name__, dialects=("responses", "chat", "messages"), can=can)(run)


def liar(
    kind: Kind,
    check: str,
    *cases: str,
    also: tuple[str, ...] = (),
    claims: tuple[str, ...] = (),
) -> Liar:
    """A liar, by the ids of the cases that show it."""
    return Liar(kind=kind, check=check, cases=cases, also=frozenset(also), claims=claims)
