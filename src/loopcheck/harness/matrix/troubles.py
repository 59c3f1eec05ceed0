"""Why a cell has no results: what broke, in which package, at which line."""

from __future__ import annotations

import re
from typing import Final

from packaging.utils import canonicalize_name

from loopcheck.harness.matrix.cell import Cell
from loopcheck.harness.matrix.results import CellStatus, Trouble
from loopcheck.harness.results import TargetResult

_PLACE: Final = re.compile(r"\((?P<own>[^()]+?:\d+)(?: in (?P<deep>[^()]+:\d+))?\)")
_INSTALLED: Final = re.compile(r"(?:.*(?:site|dist)-packages[/\\])?([A-Za-z0-9_]+)(?:[/\\]|\.py:)")
_MISSING: Final = re.compile(r"No module named '([A-Za-z0-9_]+)[.\w]*'")
_LACKING: Final = re.compile(r" from '([A-Za-z0-9_]+)[.\w]*'")


def broken(target: TargetResult, cell: Cell) -> tuple[CellStatus, Trouble | None]:
    """How the cell went, and what is wrong where its target could not be put on trial."""
    if target.broken is None:
        return "ran", None
    status: CellStatus = "breaks at import" if target.smoke is None else "breaks at the first call"
    places = list(_PLACE.finditer(target.broken))
    last = places[-1] if places else None
    return status, Trouble(
        message=target.broken,
        package=_package(target.broken, last, cell),
        place=last["own"] if last is not None else None,
    )


def _package(message: str, place: re.Match[str] | None, cell: Cell) -> str | None:
    """The package that is missing, that lacks a name, or whose code it was, if it is known."""
    missing, lacking = _MISSING.search(message), _LACKING.search(message)
    if missing is not None:
        return _distribution(missing[1], cell) or missing[1]
    deep = _INSTALLED.match(place["deep"] or place["own"]) if place is not None else None
    names = [found[1] for found in (lacking, deep) if found is not None]
    return next(filter(None, (_distribution(name, cell) for name in names)), None)


def _distribution(module: str, cell: Cell) -> str | None:
    """The package of the environment that is called like the module."""
    name = str(canonicalize_name(module))
    return name if name in cell.packages else None
