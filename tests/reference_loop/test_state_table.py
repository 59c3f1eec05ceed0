"""The documentation shows the machine's table as it is."""

from __future__ import annotations

from pathlib import Path

from loopcheck.reference_loop.checkpoints import CHECKPOINTS
from loopcheck.reference_loop.state_table import page

DOC = Path(__file__).parents[2] / "docs" / "reference-loop.md"


def test_the_documentation_has_the_table() -> None:
    assert f"\n\n{page()}\n" in DOC.read_text("utf-8")


def test_the_table_reads_like_this() -> None:
    assert page().splitlines()[:3] == [
        "| phase | event | then |",
        "|---|---|---|",
        "| ready | Started | requesting_model, limit |",
    ]
    assert page().splitlines()[-1] == "| cancelled | | the run is over |"


def test_the_documentation_names_every_checkpoint() -> None:
    _, checkpoints = DOC.read_text("utf-8").split("| checkpoint |")
    for name in CHECKPOINTS:
        assert name in checkpoints
