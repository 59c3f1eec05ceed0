"""What a project declares and has locked, from the files that say so."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopcheck.harness.matrix.errors import CannotInstall
from loopcheck.harness.matrix.plan import DependencySet
from loopcheck.harness.matrix.projects import Project, of_folder, of_ready_made
from loopcheck.harness.matrix.resolution import changes
from loopcheck.harness.matrix.uv import Uv

PYPROJECT = '[project]\nname = "p"\nversion = "1"\ndependencies = ["openai>=2"]\n'


def no_uv() -> Uv:
    raise AssertionError("uv is not needed")


def written(folder: Path, **files: str) -> Project:
    for name, text in files.items():
        (folder / name.replace("__", ".").replace("_", "-")).write_text(text)
    return of_folder(folder, no_uv)


def test_requirements_with_hashes_and_includes(tmp_path: Path) -> None:
    (tmp_path / "base.txt").write_text("httpx==0.28.1\n")
    (tmp_path / "requirements.txt").write_text(
        "# a comment\n-r base.txt\nopenai[realtime]==2.54.0 \\\n    --hash=sha256:ab  # pinned\n"
        'colorama==0.4 ; sys_platform == "win32"\n-e ./lib\n'
    )
    found = of_folder(tmp_path, no_uv)
    assert found.locked == (
        "httpx==0.28.1",
        "openai[realtime]==2.54.0",
        'colorama==0.4 ; sys_platform == "win32"',
        f"-e {tmp_path}/lib",
    )
    # It declares nothing elsewhere: what it has, it may have in any version.
    assert found.declared[:2] == ("httpx", "openai[realtime]")
    assert found.present >= {"httpx", "openai", "colorama"}


def test_the_project_declares_and_the_lock_locks(tmp_path: Path) -> None:
    found = written(tmp_path, pyproject__toml=PYPROJECT, requirements__txt="openai==2.54.0\n")
    assert found == Project(declared=("openai>=2",), locked=("openai==2.54.0",))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "poetry.lock",
            '[[package]]\nname = "openai"\nversion = "2.54.0"\ngroups = ["main"]\n'
            '[[package]]\nname = "pytest"\nversion = "9"\ngroups = ["dev"]\n'
            '[[package]]\nname = "win"\nversion = "1"\nmarkers = "os_name == \'nt\'"\n',
        ),
        (
            "pylock.toml",
            'lock-version = "1.0"\n[[packages]]\nname = "openai"\nversion = "2.54.0"\n'
            '[[packages]]\nname = "win"\nversion = "1"\nmarker = "os_name == \'nt\'"\n',
        ),
        (
            "pdm.lock",
            '[[package]]\nname = "openai"\nversion = "2.54.0"\ngroups = ["default"]\n'
            '[[package]]\nname = "win"\nversion = "1"\nmarker = "os_name == \'nt\'"\n',
        ),
    ],
)
def test_locks_of_other_tools(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    assert of_folder(tmp_path, no_uv).locked == ("openai==2.54.0", "win==1 ; os_name == 'nt'")


def test_a_lock_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "poetry.lock").write_text("[[package]\n")
    with pytest.raises(CannotInstall, match=r"poetry\.lock: cannot be read"):
        of_folder(tmp_path, no_uv)
    (tmp_path / "poetry.lock").write_text("a = 1\n")
    with pytest.raises(CannotInstall, match=r"poetry\.lock: lists no packages"):
        of_folder(tmp_path, no_uv)


def test_without_a_lock_what_is_installed_counts(tmp_path: Path) -> None:
    text = '[project]\nname = "p"\nversion = "1"\ndependencies = ["packaging"]\n'
    found = written(tmp_path, pyproject__toml=text)
    assert found.declared == ("packaging",)
    assert [line.partition("==")[0] for line in found.locked] == ["packaging"]


def test_a_ready_made_target_has_what_its_extra_needs() -> None:
    pytest.importorskip("openai")
    found = of_ready_made("openai-sdk")
    assert found.declared == ("openai",)
    assert found.locked[0].startswith("openai==")
    assert "pydantic" in found.present


@pytest.mark.parametrize(
    ("only_present", "changed"),
    [(True, ("OpenAI==3.57.0",)), (False, ("OpenAI==3.57.0", "anthropic==2.14.0"))],
)
def test_a_package_is_changed_where_it_is_present(
    only_present: bool, changed: tuple[str, ...]
) -> None:
    project = Project(declared=("openai",), locked=("openai==2.54.0",))
    asked = DependencySet(name="next", python=("OpenAI==3.57.0", "anthropic==2.14.0"))
    assert changes(asked, project, only_present=only_present) == changed
