"""One cell: what it measures, keeps, and goes on with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from matrix_cells import CASES, cell

from loopcheck.harness.matrix.kept import Kept
from loopcheck.harness.matrix.results import CellResult
from loopcheck.harness.matrix.running import run_cell


def cases_of(result: CellResult) -> list[str]:
    assert result.report is not None
    return [case.case for case in result.report.targets[0].cases]


def test_a_cell_is_run_and_kept_whole(tmp_path: Path) -> None:
    result = run_cell(cell(tmp_path))
    assert (result.status, result.trouble, result.resumed) == ("ran", None, 0)
    assert cases_of(result) == list(CASES)
    assert result.report is not None
    assert result.report.footer.verdicts == {"pass": 2}
    assert result.report.header.packages == {"pytest": "9.2.0"}
    assert result.report.targets[0].card.name == "plain"
    assert [case.case for case in result.wire.cases] == list(CASES)
    assert result.wire.headers[0]["authorization"] == "Bearer ***"
    assert result.cpu_seconds > 0
    kept = Kept(Path(cell(tmp_path).folder))
    assert kept.result() == result
    assert not (kept.folder / "cases.jsonl").exists()
    assert (kept.folder.parent / ".gitignore").read_text() == "*\n"


def test_what_was_measured_is_not_measured_again(tmp_path: Path) -> None:
    whole = run_cell(cell(tmp_path))
    kept = Kept(Path(cell(tmp_path).folder))
    (kept.folder / "cell.json").unlink()
    assert whole.report is not None
    first = whole.report.targets[0].cases[0].model_copy(update={"summary": "as measured before"})
    kept.add(first, whole.wire.model_copy(update={"cases": whole.wire.cases[:1]}))
    with (kept.folder / "cases.jsonl").open("a") as lines:
        lines.write('{"case": {"case": "cut[chat-str')  # where the power went
    again = run_cell(cell(tmp_path))
    assert (again.status, again.resumed) == ("ran", 1)
    assert cases_of(again) == list(CASES)
    assert again.report is not None
    assert again.report.targets[0].cases[0].summary == "as measured before"
    assert sorted(case.case for case in again.wire.cases) == sorted(CASES)


def test_a_full_disk_loses_nothing(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full, a disk that is always full")
    whole = run_cell(cell(tmp_path))
    kept = Kept(Path(cell(tmp_path).folder))
    (kept.folder / "cell.json").unlink()
    assert whole.report is not None
    kept.add(whole.report.targets[0].cases[0], whole.wire)
    mark = kept.journals / ".gitignore"
    mark.unlink()
    mark.symlink_to("/dev/full")
    result = run_cell(cell(tmp_path))
    assert result.status == "not finished"
    assert result.trouble is not None
    assert "the disk is full; what was measured before is kept" in result.trouble.message
    assert cases_of(result) == [CASES[0]]
    assert [case.case for case in kept.cases()[0]] == [CASES[0]]
    assert kept.result() is None


@pytest.mark.parametrize(
    ("text", "status", "package", "place", "said"),
    [
        (
            "import loopcheck\nimport nowhere_at_all\n",
            "breaks at import",
            "nowhere_at_all",
            "broken.py:2",
            "No module named 'nowhere_at_all'",
        ),
        (
            "import loopcheck\nimport packaging.markers as m\nm.Marker('no marker')\n",
            "breaks at import",
            "packaging",
            "broken.py:3",
            "InvalidMarker",
        ),
        (
            "import loopcheck\n\n@loopcheck.loop(dialects=['chat'])\ndef plain(task):\n"
            "    open(temperature=1)\n",
            "breaks at the first call",
            None,
            "broken.py:5",
            "open() missing required argument",
        ),
    ],
)
def test_what_breaks_is_told_with_package_and_line(
    tmp_path: Path, text: str, status: str, package: str | None, place: str, said: str
) -> None:
    (tmp_path / "broken.py").write_text(text)
    broken = cell(tmp_path, python="broken:plain")
    packages = {"packaging": "26"}
    result = run_cell(broken.model_copy(update={"cwd": str(tmp_path), "packages": packages}))
    assert result.status == status
    assert result.trouble is not None
    assert (result.trouble.package, Path(result.trouble.place or "").name) == (package, place)
    assert said in result.trouble.message
    # What broke is tried again: it may have been this machine's fault.
    assert Kept(Path(broken.folder)).result() is None


def test_a_result_that_was_changed_by_hand_is_none(tmp_path: Path) -> None:
    run_cell(cell(tmp_path))
    kept = Kept(Path(cell(tmp_path).folder))
    path = kept.folder / "cell.json"
    held = json.loads(path.read_text())
    del held["report"]["footer"]
    path.write_text(json.dumps(held))
    assert kept.result() is None
    path.write_bytes(b"\xff")
    assert kept.result() is None


def test_modules_and_programs_of_a_cell_are_found(tmp_path: Path) -> None:
    folder = tmp_path / "src"
    folder.mkdir()
    (folder / "below.py").write_text(
        "import os\nfrom stdlib_loop import honest\n"
        "assert os.environ['PATH'].startswith('/no/such/bin')\n"
    )
    found = cell(tmp_path, python="below:honest")
    update = {"modules": (str(folder),), "binaries": "/no/such/bin"}
    assert run_cell(found.model_copy(update=update)).status == "ran"
