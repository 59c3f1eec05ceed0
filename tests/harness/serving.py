"""Runs `loopcheck serve` as its users do: in a process of its own, until it is interrupted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

COMMAND = (sys.executable, "-m", "loopcheck", "serve")


@contextmanager
def serving(*options: str, folder: Path) -> Iterator[str]:
    """The URL that it prints. It must end cleanly when it is interrupted."""
    process = subprocess.Popen(
        [*COMMAND, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONWARNINGS": "error"},
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    try:
        assert line.startswith("loopcheck serve: http://127.0.0.1:"), process.communicate()
        yield line.split()[2]
    finally:
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=10)
    assert (process.returncode, out, err) == (0, "", "")
