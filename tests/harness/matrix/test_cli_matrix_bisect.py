"""`loopcheck matrix --bisect` from the command to the release, with made-up packages."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gradual
import pytest
from syrupy.assertion import SnapshotAssertion

from loopcheck.harness.cli import main

RANGE = "gradual==1.0..3.0"


@pytest.fixture(scope="session")
def releases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return gradual.write_wheels(tmp_path_factory.mktemp("gradual") / "wheels")


@pytest.fixture
def indexed(offline: Path, releases: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """uv finds the package, too."""
    monkeypatch.setenv("UV_FIND_LINKS", f"{offline},{releases}")


@pytest.fixture
def project(tmp_path: Path, indexed: None, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the matrix, which is the current one."""
    gradual.write(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shared")
    gradual.write(folder)
    return folder


@pytest.fixture
def shared(written: Path, indexed: None, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One that several tests have, with what the earlier ones made there."""
    monkeypatch.chdir(written)
    return written


def plain(text: str, project: Path) -> str:
    """What was printed, without times and places."""
    text = re.sub(r"in \d+ min \d+ s", "in … s", text).replace(str(project), "PROJECT")
    text = re.sub(r"env +\d+\.\d s   ?", "env …     ", text)
    text = re.sub(r" +\d+\.\d s", "     … s", text)
    return re.sub(r"envs/\w+/\S+/site-packages", "ENVIRONMENT", text)


def report(path: str = "found.json") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(path).read_text())
    return found


def compared(found: dict[str, Any]) -> list[tuple[str, str, dict[str, str]]]:
    return [(one["base"], one["head"], one["targets"]) for one in found["comparisons"]]


@pytest.mark.slow
def test_what_a_matrix_advises_finds_the_first_release_that_is_worse(
    project: Path, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    assert main(["matrix", "--report", "markdown:comment.md"]) == 1
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == f"Narrow one down: loopcheck matrix --bisect {RANGE}"
    assert f"Narrow one down: `loopcheck matrix --bisect {RANGE}`" in Path("comment.md").read_text()

    written = [f"--report={kind}:found.{kind}" for kind in ("json", "html", "markdown")]
    words = shlex.split(last.partition(": loopcheck ")[2])
    assert main([*words, "--jobs", "1", *written]) == 1
    assert plain(capsys.readouterr().out, project) == snapshot
    found = report()
    assert compared(found) == [("gradual==1.2", "gradual==1.4", {"tiny": "regressed"})]
    tried = [
        "gradual==1.0",
        "gradual==1.1",
        "gradual==1.2",
        "gradual==1.3",
        "gradual==1.4",
        "gradual==3.0",
    ]
    assert [one["name"] for one in found["sets"]] == tried
    assert [cell["dependency_set"] for cell in found["cells"]] == tried
    assert found["footer"]["resumed"] == 1
    assert found["header"]["command"] == f"loopcheck matrix --bisect {RANGE}"
    assert "gradual==1.2 → gradual==1.4" in Path("found.html").read_text()
    assert "by gradual 1.2 → 1.4" in Path("found.markdown").read_text()


@pytest.mark.slow
def test_an_interrupted_search_goes_on(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wanted = ["matrix", "--bisect", "gradual==1.2..1.5", "--jobs", "1"]
    command = [sys.executable, "-m", "loopcheck", *wanted]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        heard = [next(process.stdout) for _ in range(4)]
        process.send_signal(signal.SIGINT)
        _, said = process.communicate()
    assert process.returncode == 130
    assert "releases are tried; what was measured is kept, and the same command goes on" in said
    assert main([*wanted, "--report", "json:found.json"]) == 1
    again = capsys.readouterr().out.splitlines()[:4]
    assert [line.split()[3] for line in heard[1:]] == [
        f"gradual=={n}" for n in ("1.2", "1.5", "1.3")
    ]
    assert ["resumed" in line for line in again] == [False, True, True, False]
    assert compared(report()) == [("gradual==1.2", "gradual==1.4", {"tiny": "regressed"})]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wanted", "code", "told"),
    [
        (
            "gradual==1.0..1.2",
            0,
            "tiny: gradual 1.2 is not worse than 1.0\n      2 of 3 releases tried\n",
        ),
        (
            "gradual==1.2..1.3",
            4,
            "tiny: it cannot be told where gradual gets worse: gradual==1.3 cannot be installed; "
            "bisect between releases that can be\n"
            "      2 of 2 releases tried; cannot be installed: 1.3\n",
        ),
        (
            "gradual==1.2..1.4",
            1,
            "tiny: gradual 1.4 is the first release known to be worse, 1.2 the last good one "
            "before it; cannot be installed between them: 1.3\n      2 cases regressed there\n"
            "      3 of 3 releases tried; cannot be installed: 1.3\n",
        ),
        (
            "gradual==2.0..3.0",
            1,
            "tiny: gradual 3.0 is the first release that is worse; 2.0 is the last good one "
            "before it\n      every case regressed there\n      2 of 2 releases tried\n",
        ),
    ],
)
def test_how_a_search_ends(
    wanted: str, code: int, told: str, shared: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["matrix", "--bisect", wanted, "--only", "tiny"]) == code
    out = capsys.readouterr().out
    assert told in out
    assert out.endswith(f"    exit {code}\n")


@pytest.mark.slow
def test_the_rest_is_as_in_the_base_that_is_compared(
    shared: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    matrix = gradual.MATRIX + '  base: {python: ["gradual==1.0", "tinybase==2.0"]}\n'
    Path("other.yaml").write_text(matrix)
    wanted = ["other.yaml", "--bisect", "gradual==1.1..1.2", "--compare", "base..now"]
    assert main(["matrix", *wanted, "--report", "json:found.json"]) == 0
    assert "everything else as under base" in capsys.readouterr().out
    packages = [cell["packages"] for cell in report()["cells"]]
    assert [(one["gradual"], one["tinybase"]) for one in packages] == [
        ("1.1", "2.0"),
        ("1.2", "2.0"),
    ]


@pytest.mark.slow
def test_each_target_that_has_the_package_is_searched_on_its_own(
    shared: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("early", "without"):
        shutil.copytree(shared / "service", shared / name)
    check = 'from importlib.metadata import version\nassert version("gradual") < "1.1"\n'
    (shared / "early/trial.py").write_text(check + (shared / "early/trial.py").read_text())
    (shared / "without/requirements.txt").write_text("tinysdk==1.0\n")
    targets = [
        f'  - {{name: {name}, path: {name}, target: "trial:plain"}}\n'
        for name in ("early", "without")
    ]
    text = gradual.MATRIX.replace("sets:\n", f"{''.join(targets)}sets:\n")
    Path("several.yaml").write_text(text)
    wanted = ["several.yaml", "--bisect", "gradual==1.0..1.4"]
    assert main(["matrix", *wanted, "--report", "json:found.json"]) == 1
    told = capsys.readouterr()
    assert told.err == "loopcheck: without gradual, and left out: without\n"
    assert "tiny: gradual 1.4 is the first release known to be worse, 1.2 the last good" in told.out
    assert "early: gradual 1.1 is the first release that is worse; 1.0 is the last" in told.out
    assert compared(report()) == [
        ("gradual==1.2", "gradual==1.4", {"tiny": "regressed"}),
        ("gradual==1.0", "gradual==1.1", {"early": "regressed"}),
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--bisect", "gradual"], "write PACKAGE==LOW..HIGH"),
        (["--bisect", "gradual==3.0..1.0"], "3.0 is not below 1.0"),
        (["--bisect", "a==1..2", "--bisect", "b==1..2"], "of one package; give it once"),
        (
            ["--bisect", "gradul==1.0..3.0"],
            "tiny has no package gradul; did you mean 'gradual'?",
        ),
        (["--bisect", "gradual==1.0..9.0"], "gradual 9.0 is not to be had"),
        (["--bisect", "gradual==0.1..3.0"], "the newest is 3.0"),
        (
            ["--bisect", "npm:gradual@1.0.0..3.0.0"],
            "none of the targets is a Node project; for a package of the others write PACKAGE==",
        ),
        (["--bisect", RANGE, "--only", "tinny"], "--only tinny: no target of the matrix"),
        (["--bisect", RANGE, "--target", "tiny", "m.yaml"], "a matrix is either a file or"),
    ],
)
def test_what_is_refused(
    arguments: Sequence[str], message: str, shared: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["matrix", *arguments]) == 2
    told = capsys.readouterr()
    assert (told.out, told.err.count("\n")) == ("", 1)
    assert message in told.err
