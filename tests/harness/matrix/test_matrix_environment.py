"""Environments and the wheel of loopcheck, made by uv without a registry."""

from __future__ import annotations

import subprocess
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from loopcheck.harness.matrix import own_wheel, uv
from loopcheck.harness.matrix.environment import Environments
from loopcheck.harness.matrix.errors import CannotInstall
from loopcheck.harness.matrix.projects import Project
from loopcheck.harness.matrix.resolution import Resolved, Resolver
from loopcheck.harness.matrix.storage import told

PROJECT = Project(declared=("tinysdk",), locked=("tinysdk==1.0", "tinybase==2.0"))


def test_the_wheel_holds_every_file_once_and_is_the_same_each_time(tmp_path: Path) -> None:
    first = own_wheel.write(tmp_path / "a")
    names = zipfile.ZipFile(first).namelist()
    assert len(names) == len(set(names))
    assert "loopcheck/harness/matrix/own_wheel.py" in names
    assert "loopcheck/scenarios/core.txt" in names
    assert not [name for name in names if "__pycache__" in name]
    assert first.read_bytes() == own_wheel.write(tmp_path / "b").read_bytes()
    assert first == own_wheel.write(tmp_path / "a")


def test_what_is_not_changed_stays_as_it_is_locked(tmp_path: Path, offline: Path) -> None:
    resolver = Resolver(lambda: uv.find(tmp_path), tmp_path / "resolved")
    locked = resolver.resolve(PROJECT, (), None)
    assert locked.packages["tinysdk"] == "1.0"
    assert locked.packages["tinybase"] == "2.0"
    assert "pydantic" in locked.packages
    changed = resolver.resolve(PROJECT, ("tinysdk==2.0",), None)
    assert changed.packages["tinysdk"] == "2.0"
    # It is needed by nothing any more.
    assert "tinybase" not in changed.packages
    kept = resolver.resolve(
        replace(PROJECT, declared=("tinysdk", "tinybase")), ("tinysdk>1,<3",), None
    )
    assert (kept.packages["tinysdk"], kept.packages["tinybase"]) == ("2.0", "2.0")
    assert len({locked.key, changed.key, kept.key}) == 3


def test_what_was_resolved_is_kept_until_it_is_to_be_anew(tmp_path: Path, offline: Path) -> None:
    def no_uv() -> uv.Uv:
        raise AssertionError("it was resolved before")

    found = Resolver(lambda: uv.find(tmp_path), tmp_path).resolve(PROJECT, ("tinysdk",), None)
    assert Resolver(no_uv, tmp_path).resolve(PROJECT, ("tinysdk",), None) == found
    with pytest.raises(AssertionError, match="resolved before"):
        Resolver(no_uv, tmp_path, anew=True).resolve(PROJECT, ("tinysdk",), None)


def test_packages_that_do_not_go_together(tmp_path: Path, offline: Path) -> None:
    resolver = Resolver(lambda: uv.find(tmp_path), tmp_path)
    with pytest.raises(CannotInstall) as caught:
        resolver.resolve(PROJECT, ("tinysdk==5.0",), None)
    assert caught.value.package == "tinysdk"
    assert "requires tinybase>=9" in caught.value.message
    with pytest.raises(CannotInstall, match=r"there is no version of tinysdk==9\.0"):
        resolver.resolve(PROJECT, ("tinysdk==9.0",), None)


@pytest.mark.slow
def test_an_environment_is_made_once_and_hosts_this_loopcheck(
    tmp_path: Path, offline: Path
) -> None:
    environments = Environments(lambda: uv.find(tmp_path), tmp_path / "matrix" / "envs")
    resolved = Resolver(environments.uv, tmp_path / "r").resolve(PROJECT, ("tinysdk==2.0",), None)
    made = environments.get(resolved)
    assert made.seconds is not None
    assert environments.get(resolved).seconds is None
    code = (
        "import loopcheck, tinysdk, importlib.metadata as m; import loopcheck.harness.worker.host;"
        "print(m.version('tinysdk'), m.version('loopcheck'), loopcheck.__file__)"
    )
    command = [str(made.python), "-P", "-c", code]
    said = subprocess.run(command, capture_output=True, text=True, check=True, env={}).stdout
    version, _, file = said.split()
    assert version == "2.0"
    assert Path(file).is_relative_to(made.python.parents[1])
    # One that was left half made is made anew.
    (made.python.parents[1] / "loopcheck.json").unlink()
    assert environments.get(resolved).seconds is not None


def test_a_python_that_is_not_there(tmp_path: Path, offline: Path) -> None:
    environments = Environments(lambda: uv.find(tmp_path), tmp_path / "envs")
    with pytest.raises(CannotInstall, match=r"9\.9"):
        environments.get(Resolved(lines=(), python="9.9"))
    assert list((tmp_path / "envs").glob("[!.]*")) == []


def test_a_disk_that_is_full_is_told_as_such(tmp_path: Path) -> None:
    program = tmp_path / "uv"
    program.write_text(
        "#!/bin/sh\necho 'error: No space left on device (os error 28)' >&2\nexit 2\n"
    )
    program.chmod(0o755)
    environments = Environments(lambda: uv.Uv(str(program), {}), tmp_path / "envs")
    with pytest.raises(OSError, match="No space left on device") as caught:
        environments.get(Resolved(lines=()))
    assert "the disk is full; what was measured before is kept" in told(caught.value)
