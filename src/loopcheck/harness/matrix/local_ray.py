"""A Ray of this machine, started for one matrix and ended with it."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Final

from loopcheck.harness.matrix import ray_head
from loopcheck.harness.matrix.errors import MatrixError
from loopcheck.harness.matrix.thin import bare_environment, site_packages

_START_SECONDS: Final = 90.0
_END_SECONDS: Final = 30.0


@contextmanager
def local_ray(cores: int, variables: Mapping[str, str]) -> Iterator[str]:
    """Its address, while the block runs; it is started with these variables. Raises MatrixError
    where it does not start."""
    # Sockets lie in it, whose paths must be short.
    folder = Path(mkdtemp(prefix="loopcheck-ray-", dir="/tmp" if os.name == "posix" else None))
    try:
        secret = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": _token()}
        with _set(secret), _head(folder, cores, variables) as address:
            yield address
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _head(folder: Path, cores: int, variables: Mapping[str, str]) -> Iterator[str]:
    python = _python(folder / "python")
    environment = {
        **os.environ,
        **variables,
        "RAY_TMPDIR": str(folder),
        "RAY_USAGE_STATS_ENABLED": "0",
    }
    environment.pop("RAY_ADDRESS", None)
    said = folder / "said.txt"
    with (
        said.open("wb") as errors,
        subprocess.Popen(
            [str(python), "-P", ray_head.__file__, str(cores)],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            start_new_session=True,
        ) as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            bound = threading.Timer(_START_SECONDS, process.kill)
            bound.start()
            address = process.stdout.readline().strip()
            bound.cancel()
            if not address:
                raise MatrixError(f"Ray does not start on this machine: {_last_line(said)}")
            yield address
        finally:
            process.stdin.close()
            _await_end(process)


def _await_end(process: subprocess.Popen[str]) -> None:
    try:
        process.wait(_END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()


def _python(home: Path) -> Path:
    """A Python that finds Ray and has nothing of its own. Ray copies the whole of a virtual
    environment that it was started from for every environment of a task, and this one is small."""
    python = bare_environment(home)
    found = [path for path in sys.path if Path(path).name in ("site-packages", "dist-packages")]
    (site_packages(home) / "beneath.pth").write_text("\n".join([*found, ""]), encoding="utf-8")
    return python


def _last_line(said: Path) -> str:
    lines = said.read_text(encoding="utf-8", errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "it gives no reason")


@cache
def _token() -> str:
    """What keeps others out. One for the whole process: Ray reads it once."""
    return secrets.token_hex(32)


@contextmanager
def _set(variables: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
