"""A matrix from flags instead of a file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from loopcheck.harness.config import Config, ConfigError
from loopcheck.harness.matrix.errors import MatrixError
from loopcheck.harness.matrix.plan import DependencySet, Matrix
from loopcheck.harness.matrix.reading import npm_complaint, planned, python_complaint
from loopcheck.harness.naming import hinted
from loopcheck.harness.scenario.errors import did_you_mean

_EXAMPLE: Final = "as in --set now=locked --set next=openai==3.57.0"


def matrix(
    targets: Sequence[str],
    sets: Sequence[str],
    config: Config,
    *,
    only_present: bool = False,
) -> Matrix:
    """These targets under these sets. Raises MatrixError and ConfigError."""
    if not sets:
        raise MatrixError(f"say under which sets: --set NAME=PACKAGES, {_EXAMPLE}")
    names = targets or list(config.targets)
    if not names:
        raise MatrixError("say which target: --target NAME, or module:attr")
    return Matrix(
        root=config.root,
        targets=tuple(planned(config.target(name), config) for name in dict.fromkeys(names)),
        sets=tuple(dependency_sets(sets)),
        suite=config.suite,
        only_present=only_present,
    )


def dependency_sets(texts: Iterable[str]) -> list[DependencySet]:
    """The sets that are meant by `NAME=locked`, `NAME=openai==3.57.0`, `NAME=npm:openai@7.59.0`,
    `NAME=node:22` and `NAME=python:3.12`; one that is named again has both."""
    found: dict[str, DependencySet] = {}
    for text in texts:
        name, equals, what = text.partition("=")
        if not equals or not name or not what:
            raise MatrixError(f"--set {text}: write NAME=PACKAGE, {_EXAMPLE}")
        found[name] = _with(found.get(name, DependencySet(name=name)), what, f"--set {text}")
    return list(found.values())


def _with(held: DependencySet, what: str, place: str) -> DependencySet:
    kind, colon, rest = what.partition(":")
    if what == "locked":
        return held
    if colon and kind == "node":
        return replace(held, node=rest)
    if colon and kind == "python":
        return replace(held, python_version=rest)
    is_npm = bool(colon) and kind == "npm"
    text = rest if is_npm else what
    complaint = npm_complaint(text) if is_npm else python_complaint(text)
    if complaint is not None:
        raise MatrixError(f"{place}: {complaint}")
    places = {**held.places, text: place}
    if is_npm:
        return replace(held, npm=(*held.npm, text), places=places)
    return replace(held, python=(*held.python, text), places=places)


def compared(matrix: Matrix, text: str | None) -> Matrix:
    """The matrix with the sets BASE..HEAD compared, where that is asked for."""
    if text is None:
        return matrix
    base, dots, head = text.partition("..")
    names = [one.name for one in matrix.sets]
    for name in (base, head):
        if not dots or name not in names:
            hint = did_you_mean(name, names)
            raise MatrixError(hinted(f"--compare {text}: write BASE..HEAD, two of the sets", hint))
    return replace(matrix, compare=(base, head))


def only(matrix: Matrix, names: Sequence[str]) -> Matrix:
    """The matrix with these targets only, where any are named."""
    known = {target.name: target for target in matrix.targets}
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known)
            raise ConfigError(hinted(f"--only {name}: no target of the matrix is so called", hint))
    chosen = tuple(known[name] for name in dict.fromkeys(names))
    return replace(matrix, targets=chosen) if chosen else matrix
