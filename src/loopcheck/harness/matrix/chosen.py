"""Which cases the cells of a matrix run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from loopcheck.harness.cases import CaseSpec
from loopcheck.harness.cli.selection import select
from loopcheck.harness.config import DEFAULT_SCENARIOS, Config


def chosen(patterns: Sequence[str], root: Path) -> list[CaseSpec]:
    """The cases that these patterns name, those of files from this folder."""
    return select(patterns or DEFAULT_SCENARIOS, Config(root=root), cwd=root)
