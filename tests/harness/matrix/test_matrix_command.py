"""Which matrix is meant, what is refused, and with what the command ends."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import matrix_project
import pytest

from loopcheck.harness.cli import main
from loopcheck.harness.cli.arguments import parse
from loopcheck.harness.cli.matrix_document import code
from loopcheck.harness.cli.matrix_request import requested
from loopcheck.harness.config import find
from loopcheck.harness.matrix.plan import Matrix
from loopcheck.harness.matrix.results import CellResult, CellStatus
from loopcheck.reports.matrix_comparison import compare


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(matrix_project.write(tmp_path))
    return tmp_path


def asked(*arguments: str) -> Matrix:
    return requested(parse(["matrix", *arguments]), find(Path.cwd()))


def test_the_usual_file_is_taken_where_none_is_named(project: Path) -> None:
    assert [one.name for one in asked().sets] == ["now", "next", "call", "import", "needs"]
    (project / "other.yaml").write_text(matrix_project.MATRIX.replace("now:", "before:"))
    assert asked("other.yaml").sets[0].name == "before"


def test_flags_go_before_the_usual_file(project: Path) -> None:
    found = asked("--target", "openai-sdk", "--set", "a=locked", "--set", "b=openai==3.57.0")
    assert [one.name for one in found.sets] == ["a", "b"]
    assert [one.name for one in found.targets] == ["openai-sdk"]


def test_flags_narrow_what_the_file_says(project: Path) -> None:
    found = asked(
        "--scenario", "once/*", "--only", "tiny", "--compare", "next..now", "--only-present"
    )
    assert found.scenarios == ("once/*",)
    assert found.pairs == (("next", "now"),)
    assert found.only_present


def test_the_settings_are_taken_where_there_is_no_file(project: Path) -> None:
    (project / "loopcheck-matrix.yaml").unlink()
    (project / "loopcheck.toml").write_text(
        '[matrix]\ntargets = ["openai-sdk"]\nsets = { a = "locked" }\n'
    )
    assert [one.name for one in asked().sets] == ["a"]


def test_a_bisection_needs_no_sets(project: Path) -> None:
    wanted = ("--bisect", "openai==1.109.1..3.57.0")
    assert [one.name for one in asked(*wanted).sets] == ["now", "next", "call", "import", "needs"]
    found = asked(*wanted, "--target", "openai-sdk")
    assert [(one.name, one.is_locked) for one in found.sets] == [("now", True)]
    (project / "loopcheck-matrix.yaml").unlink()
    (project / "loopcheck.toml").write_text('[targets]\ntiny = "service.trial:plain"\n')
    found = asked(*wanted)
    assert [one.name for one in found.targets] == ["tiny"]
    assert [(one.name, one.is_locked) for one in found.sets] == [("now", True)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["loopcheck-matrix.yaml", "--set", "a=locked"], "a matrix is either a file or --target"),
        (["none.yaml"], "none.yaml: cannot be read: No such file"),
        (["--only", "tinny"], "--only tinny: no target of the matrix is so called; did you mean"),
        (["--compare", "now"], "--compare now: write BASE..HEAD"),
        (["--lenient", "Z9"], "Z9"),
        (["--jobs", "0"], "'0' is no whole number above 0"),
        (["--report", "junit:x.xml"], "there is no junit of a matrix; kinds: json, html"),
        (["--target", "nobody", "--set", "a=locked"], "unknown target 'nobody'"),
    ],
)
def test_what_is_refused(
    project: Path, arguments: Sequence[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["matrix", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_without_anything_it_is_said_what_to_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loopcheck.toml").write_text("")
    assert main(["matrix"]) == 2
    assert "say what to run: a matrix file" in capsys.readouterr().err


def test_a_project_that_nothing_is_known_of_is_one_line_of_the_matrix(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "service" / "requirements.txt").unlink()
    (project / "service" / "poetry.lock").write_text("nothing")
    assert main(["matrix", "--report", "json:m.json"]) == 4
    out = capsys.readouterr().out
    assert out.count("CANNOT INSTALL") == 5
    assert "poetry.lock: cannot be read" in out
    assert main(["report", "m.json"]) == 0
    assert capsys.readouterr().out == out.partition("\n")[2]
    assert main(["report", "m.json", "--to", "html:m.html", "--to", "markdown:m.md"]) == 0
    assert (project / "m.md").read_text().startswith("### loopcheck: 1 target could not run")
    assert main(["report", "m.json", "--to", "junit:m.xml"]) == 2
    assert "there is no junit of a matrix" in capsys.readouterr().err
    assert sys.executable not in out


def ended(*statuses: tuple[str, CellStatus]) -> int:
    cells = [
        CellResult(target="t", dependency_set=name, key=name, status=status)
        for name, status in statuses
    ]
    names = [name for name, _ in statuses]
    return code(cells, [compare(cells, base, head) for base, head in pairwise(names)])


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        ((("a", "ran"), ("b", "breaks at import")), 1),
        ((("a", "ran"), ("b", "cannot install")), 4),
        ((("a", "cannot install"), ("b", "ran")), 4),
        ((("a", "ran"), ("b", "not finished")), 4),
        ((("a", "ran"), ("b", "ran")), 5),
        ((("a", "cannot install"),), 4),
    ],
)
def test_the_exit_code(statuses: tuple[tuple[str, CellStatus], ...], expected: int) -> None:
    assert ended(*statuses) == expected
