"""The plugin under the oldest pytest that it supports."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

OLDEST = "8.0.0"
LOOPS = Path(__file__).with_name("stdlib_loop.py")
TESTS = """
import loopcheck
import pytest
from loops import asynchronous, careless

PARTIAL = "truncation/trunc-length-partial-args"

@loopcheck.cases(careless, scenarios=[PARTIAL, "basics/final-answer", "limits/max-turns-exact"])
def test_careless(case: loopcheck.Case) -> None:
    case.check()

@pytest.mark.anyio
@loopcheck.cases(asynchronous, scenarios=["basics/lookup-then-reserve"])
async def test_asynchronous(case: loopcheck.Case) -> None:
    await case.acheck()

@pytest.fixture
def anyio_backend():
    return "asyncio"

def test_fake(loopcheck_provider):
    fake = loopcheck_provider.turns(loopcheck.say("Hello."))
    assert fake.base_url("chat").endswith("/v1")
"""
MISTAKE = 'import loopcheck\n\n@loopcheck.loop(dialects=["chatt"])\ndef loop(task): ...\n'


@pytest.fixture(scope="module")
def old_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python with the oldest pytest, and everything else as it is in this environment."""
    folder = tmp_path_factory.mktemp("old")
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin" / "python"
    site = next((folder / "lib").glob("python*/site-packages"))
    install = [sys.executable, "-m", "pip", "--python", str(python), "install"]
    options = ["--quiet", "--disable-pip-version-check", "--retries", "0", "--timeout", "10"]
    done = subprocess.run(
        [*install, *options, f"pytest=={OLDEST}"], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        pytest.skip(f"pytest {OLDEST} cannot be installed here: {done.stderr.strip()[-200:]}")
    outside = [p for p in sys.path if p.endswith(("site-packages", f"{os.sep}src"))]
    own_pth = [line for path in outside for line in _editable(Path(path))]
    lines = "\n".join([*outside, *own_pth])
    (site / "dependencies.pth").write_text(lines + "\n", encoding="utf-8")
    return python


def _editable(site: Path) -> list[str]:
    """Where packages installed for editing are: .pth files of another environment do not count."""
    found = [line for pth in site.glob("*.pth") for line in pth.read_text().splitlines()]
    return [line for line in found if os.path.isdir(line)]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    shutil.copy(LOOPS, tmp_path / "loops.py")
    (tmp_path / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\n", encoding="utf-8")
    (tmp_path / "test_it.py").write_text(TESTS, encoding="utf-8")
    return tmp_path


def run(python: Path, project: Path, *options: str) -> list[str]:
    # The other plugins of this environment may want a newer pytest.
    wanted = [
        "-p",
        "no:cacheprovider",
        "-p",
        "loopcheck.harness.plugin",
        "-p",
        "anyio.pytest_plugin",
    ]
    done = subprocess.run(
        [str(python), "-m", "pytest", *wanted, *options],
        cwd=project,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert f"pytest-{OLDEST}" in done.stdout, done.stdout + done.stderr
    return done.stdout.splitlines()


def test_cases_run_under_the_oldest_pytest(old_python: Path, project: Path) -> None:
    said = run(old_python, project, "-rs")
    start = next(n for n, line in enumerate(said) if "loopcheck, suite 2026.1" in line)
    assert said[start + 1 : start + 5] == [
        f"careless (pytest {OLDEST}, no-such-package not installed)",
        "  6 cases: 2 pass, 2 FAIL (must), 0 should, 0 expected, 0 by policy, 2 not declared",
        "asynchronous",
        "  1 case: 1 pass, 0 FAIL (must), 0 should, 0 expected, 0 by policy, 0 not declared",
    ]
    assert [line for line in said if line.startswith("SKIPPED")] == [
        "SKIPPED [2] test_it.py:10: not declared: needs limits"
    ]
    assert said[-1].strip("= ").startswith("2 failed, 4 passed, 2 skipped in ")


def test_a_mistake_is_told_in_a_line_under_the_oldest_pytest(
    old_python: Path, project: Path
) -> None:
    (project / "test_bad.py").write_text(MISTAKE, encoding="utf-8")
    said = run(old_python, project, "test_bad.py")
    assert (
        f"{project}/test_bad.py:3: target 'loop': unknown dialect 'chatt'; did you mean 'chat'?"
        in said
    )
    assert not [line for line in said if line.startswith("E  ")]
