"""Starts the servers that are measured, and looks at their processes from outside (Linux)."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from served import PROMPT, WORD, text, writes

from loopcheck.fake_providers.script import DialectName, Mode, Segments

RAW: Final = (
    "raw: asyncio.start_server, which reads a request and looks at nothing in it, sends prepared "
    "bytes"
)
_SERVING: Final = Path(__file__).with_name("served.py")
_AIMOCK: Final = "@copilotkit/aimock@1.43.0"
_PATIENCE_SECONDS: Final = 30


@dataclass(frozen=True, slots=True)
class Contestant:
    """A running server."""

    name: str
    port: int
    pid: int

    def cpu_seconds(self) -> float:
        """The CPU time that all its threads have used."""
        tasks = Path(f"/proc/{self.pid}/task").glob("*/schedstat")
        return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9

    def resident_mib(self) -> float:
        """The memory that it holds."""
        pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


@contextmanager
def ours(
    kind: Literal["loopcheck", "forever", "transport"],
    dialect: DialectName,
    mode: Mode,
    segments: Segments = "frame",
) -> Iterator[Contestant]:
    """One of our own servers; see `served`."""
    command = [sys.executable, str(_SERVING), kind, dialect, mode, str(segments)]
    with _running(command) as process:
        yield Contestant(kind, _announced(process), process.pid)


@contextmanager
def raw(dialect: DialectName, mode: Mode, segments: Segments = "frame") -> Iterator[Contestant]:
    """A server that knows nothing and sends what the fake would write."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump([part.decode("latin-1") for part in writes(dialect, mode, segments)], file)
        file.flush()
        with _running([sys.executable, str(_SERVING), "raw", file.name]) as process:
            yield Contestant("raw", _announced(process), process.pid)


@contextmanager
def aimock(mode: Mode) -> Iterator[list[Contestant]]:
    """aimock with the same answers; nothing where there is no Node to run it."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        print("aimock: left out, since there is no Node here")
        yield []
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        install = ["npm", "install", "--silent", "--no-audit", "--no-fund", _AIMOCK]
        if subprocess.run(install, cwd=folder, check=False).returncode:
            print("aimock: left out, since npm cannot install it")
            yield []
            return
        fixture = {"match": {"userMessage": PROMPT}, "response": {"content": text(mode)}}
        (folder / "fixture.json").write_text(json.dumps({"fixtures": [fixture]}))
        cli, port = "node_modules/@copilotkit/aimock/dist/cli.js", _free_port()
        options = ["-p", str(port), "-f", "fixture.json", "-c", str(len(WORD))]
        with _running(["node", cli, *options, "--log-level", "silent"], folder) as process:
            _await(port)
            yield [Contestant("aimock", port, process.pid)]


@contextmanager
def _running(command: Sequence[str], folder: Path | None = None) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.terminate()


def _announced(process: subprocess.Popen[str]) -> int:
    line = process.stdout.readline() if process.stdout is not None else ""
    found = re.fullmatch(r"127\.0\.0\.1:(\d+)\n", line)
    if found is None:
        raise SystemExit(f"a server did not start: {line!r}")
    return int(found[1])


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def _await(port: int) -> None:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while time.monotonic() < deadline:
        with suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port)):
            return
        time.sleep(0.05)
    raise SystemExit(f"nothing answers at port {port}")
