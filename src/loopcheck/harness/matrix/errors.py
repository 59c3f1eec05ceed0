"""What can be wrong with a matrix before a cell is run."""

from __future__ import annotations

from collections.abc import Iterable

from loopcheck.harness.scenario.errors import Problem


class MatrixError(Exception):
    """A matrix that cannot be run: the file, the place in it, and what would be right."""

    def __init__(self, problems: Iterable[Problem] | str) -> None:
        told = problems if isinstance(problems, str) else "\n".join(map(str, sorted(problems)))
        super().__init__(told)


class CannotInstall(Exception):
    """A set of dependencies that there is no environment for. `package` is the one that stands in
    the way, where it is known."""

    def __init__(self, message: str, *, package: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.package = package
