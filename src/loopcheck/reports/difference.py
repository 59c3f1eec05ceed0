"""What two reports tell of each other, as data: the source of every rendering of a comparison."""

from __future__ import annotations

import json
from typing import Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from loopcheck.harness.results import Verdict

DIFF_FORMAT: Final = 1

Kind: TypeAlias = Literal[
    "regressed", "fixed", "differently", "could not run", "added", "gone", "unchanged"
]
KINDS: Final[tuple[Kind, ...]] = (
    "regressed",
    "differently",
    "could not run",
    "fixed",
    "added",
    "gone",
    "unchanged",
)


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Change(_Model):
    """One case, or a target whose every case is concerned, in both runs."""

    kind: Kind
    target: str
    case: str | None = Field(description="absent where the whole target is meant")
    title: str = ""
    before: Verdict | None = Field(default=None, description="absent where it was not in the run")
    after: Verdict | None = None
    check: str | None = Field(default=None, description="the check that the failing side fails")
    expected: str = Field(default="", description="what that check expects")
    was: str = Field(default="", description="what was seen before, or how the run ended")
    now: str = Field(default="", description="what is seen after, or how the run ends")
    entries: tuple[int | None, int | None] = Field(
        default=(None, None),
        description="the journal entry of the first mismatch, before and after",
    )
    same_in: tuple[str, ...] = Field(default=(), description="cases that changed in the same way")


class PackageChange(_Model):
    """A version that is not the same in both runs; absent: not installed."""

    target: str | None = Field(description="absent for the environment of the run itself")
    package: str
    before: str | None
    after: str | None


class Side(_Model):
    """One of the two runs."""

    name: str
    suite: str
    seed: int
    lenient: tuple[str, ...]
    loopcheck: str
    started: str


class Difference(_Model):
    """Everything that two reports tell of each other."""

    format: int = DIFF_FORMAT
    before: Side
    after: Side
    notes: tuple[str, ...] = Field(
        default=(), description="why the two runs may differ although no loop does"
    )
    packages: tuple[PackageChange, ...] = ()
    counts: dict[Kind, int] = Field(description="cases of each kind")
    changes: tuple[Change, ...] = Field(
        description="one for each cause, unchanged cases left out unless they fail"
    )

    @property
    def regressed(self) -> bool:
        """Whether anything is worse than before."""
        return bool(self.counts["regressed"])


def dump(difference: Difference) -> str:
    """The comparison as a JSON document."""
    return json.dumps(difference.model_dump(mode="json"), indent=2) + "\n"
