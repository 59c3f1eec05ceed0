"""`loopcheck matrix` from the file to the reports, with real environments and made-up packages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import matrix_project
import pytest

from loopcheck.harness.cli import main

pytestmark = pytest.mark.slow


@pytest.fixture
def project(tmp_path: Path, offline: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the matrix, which is the current one."""
    monkeypatch.chdir(matrix_project.write(tmp_path))
    return tmp_path


def swept(*arguments: str) -> tuple[int, dict[str, Any]]:
    code = main(["matrix", *arguments, "--report", "json:matrix.json"])
    found: dict[str, Any] = json.loads(Path("matrix.json").read_text())
    return code, found


def statuses(found: dict[str, Any]) -> dict[str, str]:
    return {cell["dependency_set"]: cell["status"] for cell in found["cells"]}


def test_every_set_has_its_row_and_the_rest_goes_on(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, found = swept("--compare", "now..next")
    out = capsys.readouterr().out
    assert statuses(found) == {
        "now": "ran",
        "next": "ran",
        "call": "breaks at the first call",
        "import": "breaks at import",
        "needs": "cannot install",
    }
    troubles = {cell["dependency_set"]: cell["trouble"] for cell in found["cells"]}
    assert troubles["needs"]["package"] == "tinysdk"
    assert "tinysdk >=5.0 requires tinybase>=9" in troubles["needs"]["message"]
    assert troubles["needs"]["place"] == "loopcheck-matrix.yaml:10"
    assert troubles["call"]["place"] == "trial.py:7"
    assert "run() takes 0 positional arguments" in troubles["call"]["message"]
    assert troubles["import"]["package"] == "tinysdk"
    assert troubles["import"]["place"].endswith("service/trial.py:2")
    comparison = found["comparisons"][0]
    assert comparison["targets"] == {"tiny": "regressed"}
    package = {"target": "tiny", "package": "tinysdk", "before": "1.0", "after": "2.0"}
    assert {one["package"]["package"] for one in comparison["changes"]} == {"tinysdk"}
    assert comparison["changes"][0]["package"] == package
    drift = [(one["kind"], one["name"], one["after"]) for one in comparison["drift"]]
    assert drift == [("header", "x-tiny", "2.0 new")]
    assert code == found["footer"]["exit_code"] == 1
    assert "[5/5] tiny" in out
    assert "now -> next     targets: 1 regressed, 0 fixed, 0 unchanged" in out

    # Each cell has a report of its own, as a run would have written it.
    own = project / ".loopcheck/matrix/reports/tiny.next.json"
    assert json.loads(own.read_text())["footer"]["cases"] == 2
    assert main(["report", str(own)]) == 0

    # What was measured is taken as it is; a change of the target's code is measured again.
    capsys.readouterr()
    assert swept("--compare", "now..next")[1]["footer"]["resumed"] == 2
    (project / "service/trial.py").write_text(matrix_project.TARGET + "# changed\n")
    assert swept("--compare", "now..next")[1]["footer"]["resumed"] == 0
