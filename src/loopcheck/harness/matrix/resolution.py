"""From what a cell asks for to the exact packages that it is given.

Where packages are changed, everything else stays as it is locked, as far as that is possible:
what is locked is what the resolver prefers. What was once resolved is kept, so that the same
command goes on with the same packages.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from typing import Final

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from loopcheck.harness.matrix import own_wheel
from loopcheck.harness.matrix.errors import CannotInstall
from loopcheck.harness.matrix.plan import DependencySet
from loopcheck.harness.matrix.projects import Project, name_of
from loopcheck.harness.matrix.storage import check_space, write_whole
from loopcheck.harness.matrix.uv import Uv, complaint

_PLAIN: Final = ("--quiet", "--no-header", "--no-annotate")


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """The exact requirements of an environment, one a line, and the version of its Python; None
    for the one that runs."""

    lines: tuple[str, ...]
    python: str | None = None

    @property
    def interpreter(self) -> str:
        """What uv is to make it of."""
        return self.python or sys.executable

    @property
    def packages(self) -> dict[str, str]:
        """Versions by name; for what is no release, where it comes from."""
        return dict(_package(line) for line in self.lines)

    @property
    def key(self) -> str:
        """What the environment is found by."""
        python = self.python or sys.version
        words = (*self.lines, python, platform.platform(), metadata.version("loopcheck"))
        return sha256("\n".join(words).encode()).hexdigest()[:16]


def changes(
    dependencies: DependencySet, project: Project, *, only_present: bool
) -> tuple[str, ...]:
    """The packages of the set that are changed in this project."""
    present = project.present
    return tuple(
        text
        for text in dependencies.python
        if not only_present or canonicalize_name(Requirement(text).name) in present
    )


@dataclass(frozen=True, slots=True)
class Resolver:
    """Resolves sets of dependencies, and keeps what it resolved in a folder. With `anew`, what
    was kept is resolved again."""

    uv: Callable[[], Uv]
    folder: Path
    anew: bool = False

    def resolve(self, project: Project, changed: Sequence[str], python: str | None) -> Resolved:
        """The packages of the project with these changed. Raises CannotInstall."""
        wanted, preferred = _asked(project, changed)
        lines = self._lines(wanted, preferred, python or sys.executable)
        return Resolved(lines=lines, python=python)

    def _lines(
        self, wanted: Iterable[str], preferred: Iterable[str], python: str
    ) -> tuple[str, ...]:
        asked = "".join(f"{line}\n" for line in wanted)
        held = "".join(f"{line}\n" for line in preferred)
        words = (asked, held, python, sys.version)
        name = sha256(repr(words).encode()).hexdigest()[:16]
        kept = self.folder / f"{name}.txt"
        if not kept.is_file() or self.anew:
            write_whole(kept, self._compiled(asked, held, python, name))
        return tuple(kept.read_text(encoding="utf-8").splitlines())

    def _compiled(self, asked: str, held: str, python: str, name: str) -> str:
        self.folder.mkdir(parents=True, exist_ok=True)
        output = self.folder / f".{name}.{os.getpid()}.txt"
        output.write_text(held, encoding="utf-8")
        try:
            done = self.uv().run(
                *("pip", "compile", "-", "--output-file", str(output), "--python", python),
                *_PLAIN,
                text=asked,
            )
            if done.returncode != 0:
                check_space(done.stderr, self.folder)
                raise complaint(done.stderr)
            return _normal(output.read_text(encoding="utf-8"))
        finally:
            output.unlink(missing_ok=True)


def _asked(project: Project, changed: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
    """What is required, and what is preferred where there is a choice."""
    own = own_wheel.requirements()
    if not changed:
        return [*project.locked, *own], ()
    names = {name_of(line) for line in changed}
    kept = [line for line in project.declared if name_of(line) not in names]
    preferred = tuple(
        line for line in project.locked if name_of(line) not in names and "==" in line
    )
    return [*kept, *changed, *own], preferred


def _normal(text: str) -> str:
    lines = (line.strip() for line in text.splitlines())
    return "".join(f"{line}\n" for line in sorted(lines) if line and not line.startswith("#"))


def _package(line: str) -> tuple[str, str]:
    requirement = line.partition(" ; ")[0].strip()
    if requirement.startswith("-e "):
        path = requirement.removeprefix("-e ")
        return Path(path.rstrip("/")).name, path
    name, at, url = requirement.partition(" @ ")
    if at:
        return str(canonicalize_name(name)), url
    name, _, version = requirement.partition("==")
    return name_of(name) or name, version or "?"


def place_of(error: CannotInstall, dependencies: DependencySet) -> str | None:
    """The place of the package in the matrix that the trouble is about, if it names one."""
    for text, place in dependencies.places.items():
        if error.package and name_of(text) == str(canonicalize_name(error.package)):
            return place
    named = [place for text, place in dependencies.places.items() if text in error.message]
    return named[0] if named else next(iter(dependencies.places.values()), None)
