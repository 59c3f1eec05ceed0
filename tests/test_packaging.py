"""One import package, links for the rooms, and a wheel that works in a hostile folder."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("harness", "fake_providers", "scenarios", "reference_loop", "reports")
needs_checkout = pytest.mark.skipif(
    not (ROOT / "pyproject.toml").is_file(), reason="the tests run outside a checkout"
)


def run(*command: str | Path, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": "", **env},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "build", "--no-isolation", "--wheel", "-o", folder, ROOT, cwd=folder)
    return next(folder.glob("*.whl"))


@needs_checkout
@pytest.mark.parametrize("room", ROOMS)
def test_each_room_is_a_link_at_the_top(room: str) -> None:
    link = ROOT / room
    assert link.is_symlink()
    assert os.readlink(link) == f"src/loopcheck/{room}"
    assert link.is_dir()


@needs_checkout
def test_the_wheel_holds_each_file_of_the_package_once(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert len(names) == len(set(names))
    shipped = {name for name in names if ".dist-info/" not in name}
    source = ROOT / "src"
    wanted = {
        path.relative_to(source).as_posix()
        for path in source.rglob("*")
        if path.is_file() and not any(p == "__pycache__" or p[0] == "." for p in path.parts[1:])
    }
    assert shipped == wanted


HOSTILE = 'raise ImportError("a project of this name stands here")\n'
TEST_FILE = """
import loopcheck

@loopcheck.loop(dialects=["chat"], modes=["whole"])
def nothing(task: loopcheck.Task) -> loopcheck.Outcome:
    import json, urllib.request
    body = {"model": task.model, "messages": [{"role": "user", "content": task.prompt}]}
    request = urllib.request.Request(
        task.base_url + "/chat/completions",
        json.dumps(body).encode(),
        {"authorization": f"Bearer {task.api_key}", "content-type": "application/json"},
    )
    with urllib.request.urlopen(request) as answer:
        said = json.load(answer)["choices"][0]["message"]["content"]
    return loopcheck.final(said)

def test_provider(loopcheck_provider):
    fake = loopcheck_provider.turns(loopcheck.say("Hello."))
    task = loopcheck.Task(
        case="x", dialect="chat", stream=False, base_url=fake.base_url("chat"),
        api_key="k", model="m", prompt="Hi.",
    )
    assert nothing(task).text == "Hello."
"""


@needs_checkout
def test_the_wheel_works_in_a_folder_with_packages_of_the_same_names(
    wheel: Path, tmp_path: Path
) -> None:
    """Dependencies come from this environment, loopcheck itself from the wheel alone."""
    environment = tmp_path / "environment"
    venv.create(environment, with_pip=False, symlinks=True)
    python = environment / "bin" / "python"
    site = next((environment / "lib").glob("python*/site-packages"))
    zipfile.ZipFile(wheel).extractall(site)
    outside = [p for p in sys.path if p.endswith("site-packages")]
    (site / "dependencies.pth").write_text("\n".join(outside) + "\n", encoding="utf-8")
    project = tmp_path / "project"
    for room in ROOMS:
        (project / room).mkdir(parents=True)
        (project / room / "__init__.py").write_text(HOSTILE, encoding="utf-8")
    (project / "test_it.py").write_text(TEST_FILE, encoding="utf-8")
    where = run(python, "-c", "import loopcheck; print(loopcheck.__file__)", cwd=project)
    assert where.stdout.startswith(str(site))
    tested = run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", cwd=project)
    assert "1 passed" in tested.stdout
    listed = run(python, "-m", "loopcheck", "list", cwd=project)
    assert "truncation/trunc-length-partial-args" in listed.stdout
