"""Cells in processes of their own."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from matrix_cells import CASES, cell

from loopcheck.harness.matrix.cell import Cell
from loopcheck.harness.matrix.errors import CannotInstall
from loopcheck.harness.matrix.executor import LocalExecutor, Prepared
from loopcheck.harness.matrix.kept import Kept


def renamed(asked: Cell, name: str, **update: object) -> Cell:
    folder = str(Path(asked.folder).parent / name)
    return asked.model_copy(update={"key": name, "folder": folder, **update})


@pytest.mark.slow
def test_whatever_goes_wrong_with_a_cell_the_others_go_on(tmp_path: Path) -> None:
    def prepare(asked: Cell) -> Prepared:
        if asked.key == "k2":
            raise CannotInstall("a 1 requires b<1", package="a")
        if asked.key == "k3":
            raise OSError(28, "No space left on device", "/envs/x")
        return Prepared(asked, None if asked.key == "k4" else 1.5)

    plain = cell(tmp_path)
    cells = [plain, renamed(plain, "k2"), renamed(plain, "k3")]
    cells.append(renamed(plain, "k4", scenarios=("nowhere.yaml",)))
    with LocalExecutor(prepare, jobs=2) as executor:
        for one in cells:
            executor.submit(one)
        found = {result.key: result for result in executor.finished()}
    assert found["k1"].status == "ran"
    assert found["k1"].environment_seconds == 1.5
    assert found["k1"].report is not None
    assert [case.case for case in found["k1"].report.targets[0].cases] == list(CASES)
    assert found["k2"].status == "cannot install"
    assert found["k2"].trouble is not None
    assert found["k2"].trouble.package == "a"
    assert found["k3"].status == "not finished"
    assert found["k3"].trouble is not None
    assert "/envs/x: the disk is full" in found["k3"].trouble.message
    assert found["k4"].status == "not finished"
    assert found["k4"].trouble is not None
    assert "its process ended with exit code 1" in found["k4"].trouble.message
    assert found["k4"].trouble.message.endswith("what was measured is kept")


def test_closing_ends_what_runs_and_what_waits(tmp_path: Path) -> None:
    (tmp_path / "hanging.py").write_text(
        "import time\nimport loopcheck\n\n@loopcheck.loop(dialects=['chat'], modes=['whole'])\n"
        "def plain(task):\n    time.sleep(600)\n"
    )
    hanging = cell(tmp_path, python="hanging:plain")
    hanging = hanging.model_copy(update={"cwd": str(tmp_path), "case_seconds": 600.0})
    waiting = renamed(hanging, "k2")
    begun = threading.Event()

    def prepare(asked: Cell) -> Prepared:
        begun.set()
        return Prepared(asked, None)

    executor = LocalExecutor(prepare, jobs=1)
    executor.submit(hanging)
    executor.submit(waiting)
    begun.wait()
    executor.close()
    results = list(executor.finished())
    assert [result.key for result in results] == ["k1"]
    assert results[0].status == "not finished"
    assert Kept(Path(hanging.folder)).result() is None
