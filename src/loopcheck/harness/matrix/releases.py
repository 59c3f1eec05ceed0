"""The releases of a package between two of them, as the user's own index settings find them.

uv has no command that lists releases, so that it is asked for the newest one of the range again and
again, each time without those that it named before. That costs little, for it reads the index once
and no release, and whatever decides what may be installed decides here, too: indexes, find-links,
constraints, withdrawn releases, the version of Python. npm lists them itself.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from loopcheck.harness.matrix import semver
from loopcheck.harness.matrix.errors import CannotInstall, MatrixError
from loopcheck.harness.matrix.node import npm
from loopcheck.harness.matrix.ranges import Range
from loopcheck.harness.matrix.uv import Uv, complaint

_QUIET: Final = ("--quiet", "--no-header", "--no-annotate", "--no-deps")
_NONE: Final = 1  # uv's exit code where nothing goes together; 2 where it could not look
_OTHERS: Final = "choose two releases that your package index has"


def of_python(wanted: Range, uv: Uv, python: str) -> tuple[str, ...]:
    """The releases for this Python, the oldest first, with both ends. Raises MatrixError where an
    end is not to be had, or the index is not."""
    index = _Index(wanted, uv, python)
    oldest = index.end(wanted.low)
    found = [index.end(wanted.high)]
    while found[-1] != oldest:
        last = found[-1]
        older, _ = index.newest(f"{wanted.name}>={wanted.low},<={last},!={last}")
        found.append(older or oldest)  # a withdrawn release is there for who names it, only
    return tuple(reversed(found))


@dataclass(frozen=True, slots=True)
class _Index:
    wanted: Range
    uv: Uv
    python: str

    def end(self, version: str) -> str:
        """This release, as the index writes it."""
        name = self.wanted.name
        found, said = self.newest(f"{name}=={version}")
        if found is not None:
            return found
        newest, _ = self.newest(name)
        told = f"; the newest is {newest}" if newest is not None else ""
        raise MatrixError(
            f"--bisect {self.wanted}: {name} {version} is not to be had "
            f"({complaint(said).message}); {_OTHERS}{told}"
        )

    def newest(self, asked: str) -> tuple[str | None, str]:
        """The newest release that is asked for, if there is one, and what uv said."""
        done = self.uv.run(
            *("pip", "compile", "-", "--python", self.python),
            *("--prerelease", "allow" if self.wanted.takes_prereleases else "disallow"),
            *_QUIET,
            text=f"{asked}\n",
        )
        if done.returncode not in (0, _NONE):
            message = f"its releases cannot be listed: {complaint(done.stderr).message}"
            raise MatrixError(f"--bisect {self.wanted}: {message}")
        found = re.search(r"==([^\s;]+)", done.stdout)
        return found[1] if found is not None else None, done.stderr


def of_npm(wanted: Range, folder: Path) -> tuple[str, ...]:
    """The releases that npm lists for the project in this folder, the oldest first, with both
    ends. Raises MatrixError where an end is not to be had."""
    try:
        listed = _listed(npm(folder, None, "view", wanted.package, "versions", "--json"))
    except CannotInstall as error:
        raise MatrixError(f"--bisect {wanted}: {error.message}") from None
    for version in (wanted.low, wanted.high):
        if version not in listed:
            newest = f"; the newest is {max(listed, key=semver.key)}" if listed else ""
            message = f"{wanted.name} {version} is not to be had; {_OTHERS}{newest}"
            raise MatrixError(f"--bisect {wanted}: {message}")
    low, high = semver.key(wanted.low), semver.key(wanted.high)
    return tuple(
        version
        for version in sorted(listed, key=semver.key)
        if low <= semver.key(version) <= high
        and (wanted.takes_prereleases or not semver.is_prerelease(version))
    )


def _listed(said: str) -> list[str]:
    """A package with a single release is told as text."""
    try:
        found = json.loads(said)
    except ValueError:
        raise CannotInstall(f"npm lists no releases: {said.strip()[:200]}") from None
    return [str(one) for one in found] if isinstance(found, list) else [str(found)]
