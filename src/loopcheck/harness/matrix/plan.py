"""What a matrix is to run: targets under sets of dependencies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from loopcheck.harness.config import Config, TargetSource


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTarget:
    """A target, with the project that holds its lock (None: ready-made, it has none) and the
    settings of that project."""

    source: TargetSource
    folder: Path | None
    config: Config

    @property
    def name(self) -> str:
        return self.source.name

    @property
    def is_node(self) -> bool:
        """Whether npm makes its environment."""
        return self.source.worker is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class DependencySet:
    """What is installed: what each target has locked, changed by these packages. `places` says
    where each package was asked for, as file:line."""

    name: str
    python: tuple[str, ...] = ()
    npm: tuple[str, ...] = ()
    node: str | None = None
    python_version: str | None = None
    places: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_locked(self) -> bool:
        """Whether nothing is changed."""
        return not (self.python or self.npm)

    def asked(self) -> tuple[str, ...]:
        """What was asked for, in words."""
        versions = [("node", self.node), ("python", self.python_version)]
        named = tuple(f"{name} {version}" for name, version in versions if version)
        return (*(("locked",) if self.is_locked else (*self.python, *self.npm)), *named)


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """A whole matrix. `root` is where it keeps what it makes."""

    root: Path
    targets: tuple[PlannedTarget, ...]
    sets: tuple[DependencySet, ...]
    suite: str
    scenarios: tuple[str, ...] = ()
    only_present: bool = False
    compare: tuple[str, str] | None = None

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The sets that are compared: as asked, else each with the next one."""
        if self.compare is not None:
            return (self.compare,)
        names = [one.name for one in self.sets]
        return tuple(pairwise(names))

    def cells(self) -> Iterator[tuple[PlannedTarget, DependencySet]]:
        """Every target under every set."""
        for target in self.targets:
            for dependencies in self.sets:
                yield target, dependencies
