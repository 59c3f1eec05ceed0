"""Cells as tasks of a real Ray, which is started on this machine."""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import matrix_project
import pytest
from matrix_cells import CASES, LOOPS, cell

from loopcheck.harness.cli import main
from loopcheck.harness.matrix import local_ray, ray_cluster, ray_head, uv
from loopcheck.harness.matrix.cell import Cell, NodeEnvironment
from loopcheck.harness.matrix.errors import MatrixError
from loopcheck.harness.matrix.kept import Kept
from loopcheck.harness.matrix.projects import Project
from loopcheck.harness.matrix.resolution import Resolver
from loopcheck.harness.matrix.results import CellResult

MATRIX = """\
format: 1
scenarios: [cut.yaml]
targets:
  - {name: tiny, path: service, target: "trial:plain"}
sets:
  now: locked
  import: {python: ["tinysdk==4.0"]}
"""
# In its fourth call, the second case behind those of smoke, it ends the process that runs
# the cell, as long as the file is there.
FRAGILE = """\
import os
import loopcheck
from pathlib import Path
from stdlib_loop import honest

CALLS = Path({calls!r})


@loopcheck.loop(dialects=["chat"])
def plain(task):
    if CALLS.exists():
        CALLS.write_text(CALLS.read_text() + ".")
        if len(CALLS.read_text()) == 4:
            os.kill(os.getppid(), 9)
    return honest(task)


@loopcheck.loop(dialects=["chat"])
def nosy(task):
    import ray
"""


def needs_ray() -> None:
    """Skips where it is not installed; imports nothing, for Ray heeds what is set before that."""
    if find_spec("ray") is None:
        pytest.skip("needs Ray: pip install 'loopcheck[ray]'")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A Ray of this machine with two cores; skips where none can be started."""
    needs_ray()
    with ExitStack() as stack:
        try:
            found = stack.enter_context(local_ray.local_ray(2, {}))
        except MatrixError as error:
            pytest.skip(str(error))
        yield found


class Beside:
    """Takes cells that Ray does not."""

    def __init__(self) -> None:
        self.cells: list[Cell] = []
        self.is_closed = False

    def submit(self, cell: Cell) -> None:
        self.cells.append(cell)

    def finished(self) -> Iterator[CellResult]:
        yield from ()

    def close(self) -> None:
        self.is_closed = True


def renamed(asked: Cell, name: str, **update: object) -> Cell:
    folder = str(Path(asked.folder).parent / name)
    return asked.model_copy(update={"key": name, "folder": folder, **update})


@pytest.mark.slow
def test_a_matrix_is_run_and_kept_as_on_this_machine(
    address: str,
    tmp_path: Path,
    offline: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    @contextmanager
    def started(cores: int, variables: object) -> Iterator[str]:
        yield address

    monkeypatch.setattr(ray_cluster, "local_ray", started)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.chdir(matrix_project.write(tmp_path, MATRIX))
    command = ["matrix", "--on", "ray", "--report", "json:m.json"]
    assert main(command) == 1
    assert "= 2 cells, 2 at a time\n" in capsys.readouterr().out
    found = json.loads(Path("m.json").read_text())
    cells = {one["dependency_set"]: one for one in found["cells"]}
    assert cells["now"]["status"] == "ran"
    assert cells["now"]["verdicts"] == {"pass": 2}
    assert cells["now"]["packages"]["tinysdk"] == "1.0"
    assert cells["import"]["status"] == "breaks at import"
    trouble = cells["import"]["trouble"]
    assert (trouble["package"], trouble["place"]) == ("tinysdk", f"{tmp_path}/service/trial.py:2")
    # No path of where it was run gets into what is told.
    environment = cells["import"]["environment"]
    assert f"envs/{environment}/lib" in trouble["message"]
    assert found["header"]["command"].endswith("matrix --on ray")

    kept = [Kept(one) for one in Path(".loopcheck/matrix/cells").iterdir() if one.is_dir()]
    whole = next(one for one in kept if (one.folder / "cell.json").exists())
    result = whole.result()
    assert result is not None
    assert result.report is not None
    journals = [Path(case.journal or "") for case in result.report.targets[0].cases]
    assert [journal.name for journal in journals] == [
        "cut.chat-whole.jsonl",
        "cut.chat-stream.jsonl",
    ]
    assert all(journal.parent == tmp_path / whole.journals / "tiny" for journal in journals)
    assert all(journal.is_file() for journal in journals)

    assert main(command) == 1
    assert json.loads(Path("m.json").read_text())["footer"]["resumed"] == 1


@pytest.mark.slow
def test_whatever_ends_a_task_nothing_measured_is_lost(
    address: str, tmp_path: Path, offline: Path
) -> None:
    from loopcheck.harness.matrix.on_ray import RayExecutor

    calls = tmp_path / "calls"
    calls.write_text("")
    (tmp_path / "trial").mkdir()
    (tmp_path / "trial" / "fragile.py").write_text(FRAGILE.format(calls=str(calls)))
    (tmp_path / "trial" / "stdlib_loop.py").write_text((LOOPS / "stdlib_loop.py").read_text())
    project = Project(declared=("tinysdk",), locked=("tinysdk==1.0",))
    resolved = Resolver(lambda: uv.find(tmp_path), tmp_path / "r").resolve(project, (), None)
    fragile = renamed(
        cell(tmp_path, python="fragile:plain"),
        "k1",
        cwd=str(tmp_path / "trial"),
        requirements=resolved.lines,
        packages=resolved.packages,
    )
    nosy = renamed(fragile, "k2", python="fragile:nosy")
    missing = renamed(fragile, "k3", requirements=("tinysdk==9.0",))
    nowhere = renamed(fragile, "k4", scenarios=("nowhere/*",))
    node = renamed(fragile, "k5", node=NodeEnvironment(folder=str(tmp_path)))
    other = renamed(fragile, "k6", python_version="2.7")
    beside = Beside()

    def run(cells: Sequence[Cell]) -> dict[str, CellResult]:
        found = uv.find(tmp_path)
        with (
            ray_cluster.connected(address, found, tmp_path, cores=2) as runtime,
            RayExecutor(runtime, jobs=2, beside=beside) as executor,
        ):
            for one in cells:
                executor.submit(one)
            return {result.key: result for result in executor.finished()}

    found = run([fragile, nosy, missing, nowhere, node, other])
    assert beside.is_closed
    assert [one.key for one in beside.cells] == ["k5", "k6"]
    assert {key: result.status for key, result in found.items()} == {
        "k1": "not finished",
        "k2": "breaks at the first call",
        "k3": "cannot install",
        "k4": "not finished",
    }
    troubles = {key: result.trouble for key, result in found.items()}
    assert troubles["k1"] is not None
    assert troubles["k1"].message.endswith("what was measured is kept")
    assert "was ended by WorkerCrashedError" in troubles["k1"].message
    assert troubles["k2"] is not None
    assert "No module named 'ray'" in troubles["k2"].message
    assert troubles["k3"] is not None
    assert troubles["k3"].package == "tinysdk"
    assert "there is no version of tinysdk==9.0" in troubles["k3"].message
    assert troubles["k4"] is not None
    assert "no case or file is named 'nowhere/*'" in troubles["k4"].message
    assert [case.case for case in Kept(Path(fragile.folder)).cases()[0]] == [CASES[0]]

    calls.unlink()
    again = run([fragile])["k1"]
    assert (again.status, again.resumed) == ("ran", 1)
    assert again.report is not None
    assert [case.case for case in again.report.targets[0].cases] == list(CASES)
    assert Kept(Path(fragile.folder)).result() is not None


def test_without_ray_it_is_said_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.chdir(matrix_project.write(tmp_path))
    assert main(["matrix", "--on", "ray"]) == 2
    assert "--on ray needs Ray, which is not here; pip install 'loopcheck[ray]'" in (
        capsys.readouterr().err
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--ray-address", "here:6379"], "--ray-address names a Ray cluster; add --on ray"),
        (["--on", "ray", "--ray-address", "ray://here:10001"], "give HOST:PORT of the cluster"),
        (["--on", "ray", "--ray-address", "here"], "--ray-address here: write HOST:PORT, or auto"),
        (["--on", "ray", "--ray-address", "127.0.0.1:1"], "no Ray cluster answers at 127.0.0.1:1"),
        (["--on", "spark"], "invalid choice: 'spark'"),
    ],
)
def test_what_is_refused(
    tmp_path: Path,
    arguments: Sequence[str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    needs_ray()
    monkeypatch.chdir(matrix_project.write(tmp_path))
    assert main(["matrix", *arguments]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "cause", "told"),
    [
        ("Failed to connect", "AuthenticationError: no token", "it asks for a token; set RAY_AUTH"),
        ("Version mismatch:\nRay: 2.60.0", "", "Version mismatch:"),
        ("", "", "ConnectionError"),
    ],
)
def test_a_cluster_that_refuses_says_why(
    error: str, cause: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def init(**_: object) -> None:
        raise ConnectionError(error) from RuntimeError(cause)

    # The real one would heed no variable any more that the tests above set later.
    fake, exceptions = ModuleType("ray"), ModuleType("ray.exceptions")
    fake.__spec__ = ModuleSpec("ray", None)
    fake.__dict__["init"] = init
    exceptions.__dict__["RayError"] = RuntimeError
    monkeypatch.setitem(sys.modules, "ray", fake)
    monkeypatch.setitem(sys.modules, "ray.exceptions", exceptions)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        refused = pytest.raises(MatrixError, match=f"Ray at {address}: {told}")
        found = uv.Uv("uv", {})
        with refused, ray_cluster.connected(address, found, tmp_path, cores=1):
            raise AssertionError("it is not connected")


def test_a_ray_that_does_not_start_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = tmp_path / "head.py"
    head.write_text("raise SystemExit('there is no room')\n")
    monkeypatch.setattr(ray_head, "__file__", str(head))
    with (
        pytest.raises(MatrixError, match="Ray does not start on this machine: there is no room"),
        local_ray.local_ray(1, {}),
    ):
        raise AssertionError("it has not started")


def test_an_environment_has_the_packages_the_wheel_and_the_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_DEFAULT_INDEX", "https://packages.example/simple")
    (tmp_path / "uv.toml").write_text("no-index = false\n")
    found = uv.Uv("uv", {"UV_FIND_LINKS": "/wheels", "SSL_CERT_FILE": "/here/only.pem"})
    sent = tmp_path / "sent"
    sent.mkdir()
    runtime = ray_cluster.runtime(sent, found, tmp_path)
    asked = cell(tmp_path).model_copy(update={"requirements": ("tinysdk==1.0",)})
    environment = runtime.environment(asked)
    place = "${RAY_RUNTIME_ENV_CREATE_WORKING_DIR}"
    [wheel] = [path.name for path in sent.glob("*.whl")]
    assert environment["uv"] == {
        "packages": ["tinysdk==1.0", f"loopcheck @ file://{place}/{wheel}"],
        "uv_pip_install_options": ["--no-deps", "--config-file", f"{place}/uv.toml"],
    }
    variables = environment["env_vars"]
    assert isinstance(variables, dict)
    assert variables["UV_FIND_LINKS"] == "/wheels"
    assert variables["UV_DEFAULT_INDEX"] == "https://packages.example/simple"
    assert "SSL_CERT_FILE" not in variables
    assert (sent / "uv.toml").read_text() == "no-index = false\n"
