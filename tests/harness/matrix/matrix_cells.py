"""Cells over the loops of the tests, which need no environment of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import matrix_project

from loopcheck.harness.matrix.cell import Cell

LOOPS: Final = Path(__file__).parents[1]
CASES: Final = ("cut[chat-whole]", "cut[chat-stream]")


def cell(folder: Path, *, python: str = "stdlib_loop:honest", scenario: str = "cut.yaml") -> Cell:
    """A cell of two cases, which keeps what it measures below this folder."""
    (folder / "cut.yaml").write_text(matrix_project.SCENARIO)
    return Cell(
        target="plain",
        dependency_set="now",
        key="k1",
        folder=str(folder / "cells" / "k1"),
        python=python,
        cwd=str(LOOPS),
        environment="e1",
        packages={"pytest": "9.2.0"},
        scenarios=(scenario,),
        scenarios_root=str(folder),
        suite="2026.1",
    )
