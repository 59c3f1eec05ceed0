"""What an installed and unused plugin costs a pytest run: three small modules."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

NOTING = """
import atexit
import sys
from pathlib import Path

def note():
    Path("modules.txt").write_text("\\n".join(sorted(sys.modules)), encoding="utf-8")

# After everything that a plugin may do at the end of the session.
atexit.register(note)
"""
# What other plugins load is no news here, and takes long.
WITHOUT_OTHERS = [
    option
    for plugin in entry_points(group="pytest11")
    if plugin.name != "loopcheck"
    for option in ("-p", f"no:{plugin.name}")
]
OWN = {"loopcheck", "loopcheck.harness", "loopcheck.harness.plugin"}


def loaded(folder: Path, *options: str) -> set[str]:
    """Every module that a pytest run of one passing test has loaded when its process ends."""
    options = ("-q", "-p", "no:cacheprovider", *WITHOUT_OTHERS, *options)
    command = [sys.executable, "-m", "pytest", *options]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return set((folder / "modules.txt").read_text(encoding="utf-8").split())


def test_an_unused_plugin_adds_three_modules_to_a_run(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(NOTING, encoding="utf-8")
    (tmp_path / "test_it.py").write_text("def test_it(): pass\n", encoding="utf-8")
    assert loaded(tmp_path) - loaded(tmp_path, "-p", "no:loopcheck") == OWN
