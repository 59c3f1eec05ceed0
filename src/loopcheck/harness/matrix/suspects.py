"""What a bisection tries: each target that has the package, with a set for each release."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

from loopcheck.harness.matrix import releases
from loopcheck.harness.matrix.cells import Workshop
from loopcheck.harness.matrix.errors import MatrixError
from loopcheck.harness.matrix.plan import DependencySet, Matrix, PlannedTarget
from loopcheck.harness.matrix.ranges import Range
from loopcheck.harness.matrix.results import CellResult
from loopcheck.harness.matrix.storage import told
from loopcheck.harness.naming import hinted
from loopcheck.harness.scenario.errors import did_you_mean


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspect:
    """A target whose package is tried: its releases, the oldest first, and a set for each, the
    same but for it."""

    target: PlannedTarget
    releases: tuple[str, ...]
    sets: tuple[DependencySet, ...]


def rest_of(matrix: Matrix, wanted: Range) -> DependencySet:
    """Everything but the package, as in the set that others are compared with, else in the
    first."""
    name = matrix.compare[0] if matrix.compare is not None else matrix.sets[0].name
    base = next(one for one in matrix.sets if one.name == name)
    if wanted.is_npm:
        return replace(base, npm=_others(base.npm, wanted))
    return replace(base, python=_others(base.python, wanted))


def _others(texts: Sequence[str], wanted: Range) -> tuple[str, ...]:
    return tuple(text for text in texts if not wanted.is_about(text))


def suspects(workshop: Workshop, wanted: Range, rest: DependencySet) -> list[Suspect]:
    """The targets of the matrix that have the package, which `rest` leaves open. Raises
    MatrixError where none has it, and where one of the two releases is not to be had."""

    @cache
    def of_python() -> tuple[str, ...]:
        return releases.of_python(wanted, workshop.uv, rest.python_version or sys.executable)

    return [
        _suspect(target, _of_node(target, wanted) if wanted.is_npm else of_python(), wanted, rest)
        for target in _having(workshop, wanted, rest)
    ]


def _of_node(target: PlannedTarget, wanted: Range) -> tuple[str, ...]:
    """The releases for a Node project, which may have a registry of its own."""
    return releases.of_npm(wanted, target.folder or target.config.root)


def _suspect(
    target: PlannedTarget, found: tuple[str, ...], wanted: Range, rest: DependencySet
) -> Suspect:
    sets = tuple(_set(wanted.pin(version), wanted, rest) for version in found)
    return Suspect(target=target, releases=found, sets=sets)


def _set(pin: str, wanted: Range, rest: DependencySet) -> DependencySet:
    pinned = (
        replace(rest, npm=(*rest.npm, pin))
        if wanted.is_npm
        else replace(rest, python=(*rest.python, pin))
    )
    return replace(pinned, name=pin, places={**rest.places, pin: f"--bisect {wanted}"})


def _having(workshop: Workshop, wanted: Range, rest: DependencySet) -> list[PlannedTarget]:
    """Those whose environment has it; one whose environment is not known may have it."""
    targets = [one for one in workshop.matrix.targets if one.is_node == wanted.is_npm]
    if not targets:
        kind, other = ("Node", "PACKAGE==") if wanted.is_npm else ("Python", "npm:PACKAGE@")
        raise MatrixError(
            f"--bisect {wanted}: none of the targets is a {kind} project; for a package of the "
            f"others write {other}{wanted.low}..{wanted.high}"
        )
    try:
        cells = [workshop.cell(target, rest) for target in targets]
    except OSError as error:
        raise MatrixError(told(error)) from None
    having = [
        target
        for target, cell in zip(targets, cells, strict=True)
        if isinstance(cell, CellResult) or wanted.name in cell.packages
    ]
    lacking = [target.name for target in targets if target not in having]
    if not having:
        known = {name for cell in cells for name in cell.packages}
        message = f"--bisect {wanted}: {', '.join(lacking)} has no package {wanted.name}"
        raise MatrixError(hinted(message, did_you_mean(wanted.name, known)))
    if lacking:
        workshop.note(f"without {wanted.name}, and left out: {', '.join(lacking)}")
    return having
