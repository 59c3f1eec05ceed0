"""The command that narrows a regression down to one release, where it is clear what to try."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from loopcheck.harness.cli.matrix_command import command
from loopcheck.harness.matrix.errors import CannotInstall, MatrixError
from loopcheck.harness.matrix.node_lock import is_release, package_of
from loopcheck.harness.matrix.plan import DependencySet, Matrix, PlannedTarget
from loopcheck.harness.matrix.ranges import Range, parse
from loopcheck.harness.matrix.suspects import rest_of
from loopcheck.reports.difference import PackageChange
from loopcheck.reports.matrix_report import Comparison


def narrower(matrix: Matrix, comparisons: Sequence[Comparison], options: Namespace) -> str:
    """The command for the first regression that has one package behind it: the only one that the
    sets ask for and that changed. Empty where there is none."""
    targets = {target.name: target for target in matrix.targets}
    for comparison in comparisons:
        for name in comparison.of("regressed"):
            wanted = _range(targets[name], matrix, comparison)
            if wanted is not None:
                base = rest_of(matrix, wanted).name
                pair = f"{comparison.base}..{comparison.head}"
                compared = options.compare if base == comparison.base else pair
                only = [name] if len(matrix.targets) > 1 else options.only
                return command(options, bisect=[str(wanted)], only=only, compare=compared)
    return ""


def _range(target: PlannedTarget, matrix: Matrix, comparison: Comparison) -> Range | None:
    base, head = (
        next(one for one in matrix.sets if one.name == name)
        for name in (comparison.base, comparison.head)
    )
    if (base.node, base.python_version) != (head.node, head.python_version):
        return None
    asked = {**_asked(base, target), **_asked(head, target)}
    changed = [
        change
        for change in comparison.packages
        if change.target == target.name and change.package in asked
    ]
    if len(changed) != 1 or not _are_releases(changed[0], target, base):
        return None
    wanted = Range(
        package=asked[changed[0].package],
        low=changed[0].before or "",
        high=changed[0].after or "",
        is_npm=target.is_node,
    )
    try:
        return parse(str(wanted))
    except MatrixError:
        return None


def _asked(dependencies: DependencySet, target: PlannedTarget) -> dict[str, str]:
    """What the set asks for, by name; with its extras."""
    if target.is_node:
        return {package_of(text): package_of(text) for text in dependencies.npm}
    found = map(Requirement, dependencies.python)
    return {
        str(canonicalize_name(one.name)): f"{one.name}[{','.join(sorted(one.extras))}]"
        if one.extras
        else one.name
        for one in found
        if one.url is None
    }


def _are_releases(change: PackageChange, target: PlannedTarget, base: DependencySet) -> bool:
    """Whether npm has both; of Python the versions themselves say it."""
    if not target.is_node:
        return True
    if any(package_of(text) == change.package for text in base.npm):
        return True
    try:
        return is_release(target.folder or target.config.root, change.package)
    except CannotInstall:
        return False
