"""Node environments, made by npm of packages that lie beside the project."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from loopcheck.harness.matrix.cell import NodeEnvironment
from loopcheck.harness.matrix.errors import CannotInstall
from loopcheck.harness.matrix.node import NodeEnvironments
from loopcheck.harness.matrix.node_lock import lay, package_of, packages, present


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a package from beside it, which it has locked."""
    for version in ("1.0.0", "2.0.0"):
        tiny = tmp_path / f"tiny-{version[0]}"
        tiny.mkdir()
        (tiny / "package.json").write_text(json.dumps({"name": "tiny", "version": version}))
    folder = tmp_path / "service"
    folder.mkdir()
    manifest = {"name": "service", "version": "1.0.0", "dependencies": {"tiny": "file:../tiny-1"}}
    (folder / "package.json").write_text(json.dumps(manifest))
    lock = {
        "name": "service",
        "version": "1.0.0",
        "lockfileVersion": 3,
        "requires": True,
        "packages": {
            "": manifest,
            "../tiny-1": {"name": "tiny", "version": "1.0.0"},
            "node_modules/tiny": {"resolved": "../tiny-1", "link": True},
        },
    }
    (folder / "package-lock.json").write_text(json.dumps(lock))
    (folder / "worker.mjs").write_text("// the target\n")
    return folder


def test_what_a_project_has(project: Path) -> None:
    lock = json.loads((project / "package-lock.json").read_text())
    assert packages(lock) == {"tiny": "1.0.0"}
    assert present(project) == {"tiny"}
    assert present(project.parent) == frozenset()


@pytest.mark.parametrize(
    ("text", "name"), [("openai@7.59.0", "openai"), ("@a/b@^1", "@a/b"), ("x@file:../y", "x")]
)
def test_the_name_in_what_is_asked_for(text: str, name: str) -> None:
    assert package_of(text) == name


def test_a_lock_that_is_laid_elsewhere_leads_to_the_same_places(
    project: Path, tmp_path: Path
) -> None:
    home = tmp_path / "a" / "b" / "c"
    home.mkdir(parents=True)
    lay(project, home)
    manifest = json.loads((home / "package.json").read_text())
    assert manifest["dependencies"] == {"tiny": "file:../../../tiny-1"}
    lock = json.loads((home / "package-lock.json").read_text())
    assert lock["packages"]["node_modules/tiny"]["resolved"] == "../../../tiny-1"
    assert set(lock["packages"]) == {"", "../../../tiny-1", "node_modules/tiny"}
    assert packages(lock) == {"tiny": "1.0.0"}


def test_a_project_without_manifest_or_lock(project: Path, tmp_path: Path) -> None:
    environments = NodeEnvironments(tmp_path / "matrix")
    (project / "package-lock.json").unlink()
    with pytest.raises(CannotInstall, match=r"has no package-lock\.json"):
        environments.resolve(NodeEnvironment(folder=str(project)))
    (project / "package.json").write_text("{")
    with pytest.raises(CannotInstall, match=r"package\.json: not JSON"):
        present(project)
    (project / "package.json").unlink()
    with pytest.raises(CannotInstall, match=r"has no package\.json"):
        environments.resolve(NodeEnvironment(folder=str(project)))


@pytest.mark.slow
def test_an_environment_is_made_once_and_follows_the_code(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which("npm") is None:
        pytest.skip("needs npm, and it is not here")
    monkeypatch.setenv("npm_config_offline", "true")
    environments = NodeEnvironments(tmp_path / "matrix")
    locked = environments.resolve(NodeEnvironment(folder=str(project)))
    assert locked.packages == {"tiny": "1.0.0"}
    made = environments.get(locked)
    assert made.seconds is not None
    assert made.binaries is None
    tiny = made.home / "node_modules" / "tiny" / "package.json"
    assert json.loads(tiny.read_text())["version"] == "1.0.0"
    (project / "worker.mjs").write_text("// the target, changed\n")
    assert environments.get(locked).seconds is None
    assert (made.home / "worker.mjs").read_text() == "// the target, changed\n"

    asked = NodeEnvironment(folder=str(project), changed=(f"tiny@file:{tmp_path}/tiny-2",))
    changed = environments.resolve(asked)
    assert changed.packages == {"tiny": "2.0.0"}
    assert changed.key != locked.key
    tiny = environments.get(changed).home / "node_modules" / "tiny" / "package.json"
    assert json.loads(tiny.read_text())["version"] == "2.0.0"
    # The project itself is left as it is.
    assert "tiny-2" not in (project / "package.json").read_text()
    assert not (project / "node_modules").exists()

    gone = NodeEnvironment(folder=str(project), changed=("nowhere-at-all@9.9.9",))
    with pytest.raises(CannotInstall):
        environments.resolve(gone)
