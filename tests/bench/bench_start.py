"""What an installed but unused plugin costs a pytest start.

    python tests/bench/bench_start.py [ROUNDS]

The modules are the difference in `sys.modules` between two real pytest starts, with the plugin and
with it blocked. Their time is the self time that `-X importtime` shows for them after pytest is
loaded; pytest itself imports plugins in a way that `importtime` does not see.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

CONFTEST = """
import sys
from pathlib import Path

def pytest_unconfigure(config):
    Path("modules.txt").write_text("\\n".join(sorted(sys.modules)))
"""
IMPORT = "import pytest, loopcheck.harness.plugin"


def loaded(*options: str) -> set[str]:
    """Every module that a pytest run without tests has loaded when it ends."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "conftest.py").write_text(CONFTEST, encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options]
        subprocess.run(command, cwd=folder, capture_output=True, check=False)
        return set((folder / "modules.txt").read_text(encoding="utf-8").split())


def added() -> set[str]:
    """The modules that the plugin adds to a pytest start."""
    return loaded() - loaded("-p", "no:loopcheck")


def self_ms(names: set[str]) -> float:
    """The self time of these modules in one start, in milliseconds."""
    command = [sys.executable, "-X", "importtime", "-c", IMPORT]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    total_us = 0
    for line in done.stderr.splitlines():
        own, _, name = line.removeprefix("import time:").partition("|")
        if name.rpartition("|")[2].strip() in names:
            total_us += int(own)
    return total_us / 1000


def main(rounds: int) -> None:
    names = added()
    times_ms = [self_ms(names) for _ in range(rounds)]
    print(f"modules that the plugin adds to a pytest start: {', '.join(sorted(names))}")
    print(
        f"their import time over {rounds} rounds: median {statistics.median(times_ms):.2f} ms, "
        f"from {min(times_ms):.2f} to {max(times_ms):.2f} ms"
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 9)
