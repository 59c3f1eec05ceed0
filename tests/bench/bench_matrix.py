"""How well a matrix uses the cores: six cells on two, with their environments made before.

    python tests/bench/bench_matrix.py [--jobs N] [--scenario PATTERN] [--rounds N]

Two targets over the real SDKs, as they are installed here, under three sets that differ in a
package without content: no registry is asked. The wall time of the whole command is to be at most
1.2 times the CPU of the cells, divided by the cores. What other programs had of the cores
meanwhile is shown, too: measure on a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import json
import os
import runpy
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

WHEELHOUSE: Final = Path(__file__).parents[1] / "harness" / "matrix" / "wheelhouse.py"
MOST: Final = 1.2
CORES: Final = 2
TARGETS: Final = ("openai-sdk", "anthropic-sdk")


def command(folder: Path, scenario: str, jobs: int | None) -> list[str]:
    """The matrix that is measured."""
    sets = [f"--set={name}=tinybase=={name[1:]}.0" for name in ("v1", "v2", "v3")]
    targets = [f"--target={name}" for name in TARGETS]
    own = ["--scenario", scenario, "--report", f"json:{folder / 'matrix.json'}"]
    own += ["--jobs", str(jobs)] if jobs is not None else []
    return [sys.executable, "-m", "loopcheck", "matrix", *targets, *sets, *own]


def busy_seconds() -> float:
    """What all cores have done since the start of the machine; 0 where nothing tells."""
    try:
        line = Path("/proc/stat").read_text(encoding="utf-8").split("\n", 1)[0]
    except OSError:
        return 0.0
    numbers = [int(field) / os.sysconf("SC_CLK_TCK") for field in line.split()[1:]]
    return sum(numbers) - numbers[3] - numbers[4]


def own_seconds() -> float:
    """What the processes that were run from here have done."""
    times = os.times()
    return times.children_user + times.children_system


def measure(folder: Path, arguments: argparse.Namespace, environment: dict[str, str]) -> float:
    """One run of all cells; returns wall time over CPU by the cores."""
    shutil.rmtree(folder / ".loopcheck" / "matrix" / "cells", ignore_errors=True)
    words = command(folder, arguments.scenario, arguments.jobs)
    busy, own = busy_seconds(), own_seconds()
    started = time.perf_counter()
    subprocess.run(
        [*_pinned(), *words], cwd=folder, env=environment, check=False, stdout=subprocess.DEVNULL
    )
    wall = time.perf_counter() - started
    found = json.loads((folder / "matrix.json").read_text(encoding="utf-8"))
    cells = found["cells"]
    assert len(cells) == 6, cells
    assert all(cell["status"] == "ran" for cell in cells), cells
    cpu = sum(float(cell["cpu_seconds"]) for cell in cells)
    own = own_seconds() - own
    others = max(0.0, busy_seconds() - busy - own)
    idle = max(0.0, wall * CORES - own - others)
    ratio = wall / (cpu / CORES)
    alone = sum(cell["seconds"] for cell in cells)
    print(
        f"{len(cells)} cells, {found['footer']['cases']} cases: wall {wall:.1f} s, CPU of the "
        f"cells {cpu:.1f} s, each alone {alone:.1f} s; the cores idled {idle:.1f} s, "
        f"other programs had {others:.1f} s; wall / (CPU / {CORES}) = {ratio:.2f}, of {MOST} "
        f"({(wall * CORES - others) / cpu:.2f} without what the others had)"
    )
    return ratio


def _pinned() -> list[str]:
    """On a larger machine, the two cores that are spoken of."""
    taskset = shutil.which("taskset")
    return [taskset, "-c", "0,1"] if taskset and (os.cpu_count() or 1) > CORES else []


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--scenario", default="builtin:core")
    parser.add_argument("--rounds", type=int, default=2)
    arguments = parser.parse_args()
    write = runpy.run_path(str(WHEELHOUSE))["write"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheels = write(folder / "wheels", also=("openai", "anthropic"))
        environment = {**os.environ, "UV_FIND_LINKS": str(wheels), "UV_OFFLINE": "1"}
        (folder / "loopcheck.toml").write_text('suite = "2026.1"\n', encoding="utf-8")
        subprocess.run(
            command(folder, "once/write-response-lost", None),
            cwd=folder,
            env=environment,
            check=False,
            stdout=subprocess.DEVNULL,
        )
        best = min(measure(folder, arguments, environment) for _ in range(arguments.rounds))
    print(f"best of {arguments.rounds}: {best:.2f}")
    return int(best > MOST)


if __name__ == "__main__":
    sys.exit(main())
