"""The operating system's side of a worker: its process group, its pipes and its end."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import IO, Final

MAX_LINE: Final = 16 * 1024 * 1024
_STDERR_BYTES: Final = 64 * 1024
_JOIN_SECONDS: Final = 1.0


class WorkerProcess:
    """A process with its children, started by making this. Raises OSError where it cannot be.

    `on_line` gets the number and text of each line of its stdout in a thread of its own; of a
    line longer than MAX_LINE it gets the beginning. `on_end` is called after the last line.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        cwd: Path | None,
        env: Mapping[str, str] | None,
        on_line: Callable[[int, bytes], None],
        on_end: Callable[[], None],
    ) -> None:
        self._on_line = on_line
        self._on_end = on_end
        self._stderr = bytearray()
        started: Future[subprocess.Popen[bytes]] = Future()
        # The thread that starts it is the one that reads it to its end: to Linux's signal on a
        # parent's death the parent is the thread.
        reader = threading.Thread(
            target=self._start_and_read, args=(command, cwd, env, started), daemon=True
        )
        reader.start()
        self._process = started.result()
        listener = threading.Thread(target=self._read_stderr, daemon=True)
        listener.start()
        self._threads = (reader, listener)
        os.set_blocking(_pipe(self._process.stdin).fileno(), False)

    @property
    def is_alive(self) -> bool:
        """Whether the process itself runs; its children may outlive it."""
        return self._process.poll() is None

    @property
    def stderr(self) -> str:
        """The last 64 KiB of what it wrote there."""
        return bytes(self._stderr).decode(errors="replace")

    def send(self, data: bytes, *, deadline: float) -> None:
        """Writes to its stdin. Raises TimeoutError when it does not take it all until the
        deadline on the monotonic clock, and BrokenPipeError when it never will."""
        pipe = _pipe(self._process.stdin)
        rest = memoryview(data)
        with selectors.DefaultSelector() as selector:
            selector.register(pipe, selectors.EVENT_WRITE)
            while rest:
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    raise TimeoutError
                rest = rest[os.write(pipe.fileno(), rest) :]

    def kill(self) -> None:
        """Kills it with its children, now; it runs no more when this returns."""
        _kill_group(self._process.pid)
        self._process.wait()

    def ask_to_end(self, *, grace: float) -> None:
        """Asks it to end by SIGTERM, and kills what is left of it after `grace` seconds."""
        self._process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(grace)
        self.kill()

    def stop(self, *, grace: float) -> int | None:
        """Closes its stdin, gives it `grace` seconds to end, and kills it with its children.
        Returns its exit code, negative for a signal, or None when it had to be killed."""
        with suppress(OSError):
            _pipe(self._process.stdin).close()
        code: int | None = None
        with suppress(subprocess.TimeoutExpired):
            code = self._process.wait(grace)
        _kill_group(self._process.pid)
        self._process.wait()
        for thread in self._threads:
            thread.join(_JOIN_SECONDS)
        return code

    def _start_and_read(
        self,
        command: Sequence[str],
        cwd: Path | None,
        env: Mapping[str, str] | None,
        started: Future[subprocess.Popen[bytes]],
    ) -> None:
        try:
            process = subprocess.Popen(
                list(command),
                cwd=cwd,
                env=None if env is None else {**os.environ, **env},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except Exception as error:
            started.set_exception(error)
            return
        started.set_result(process)
        with _pipe(process.stdout) as stdout:
            for number, line in enumerate(_lines(stdout), 1):
                self._on_line(number, line)
        self._on_end()
        process.wait()  # it may close its stdout and have more to do, which is not for long then

    def _read_stderr(self) -> None:
        with _pipe(self._process.stderr) as stderr:
            while data := os.read(stderr.fileno(), _STDERR_BYTES):
                self._stderr += data
                del self._stderr[:-_STDERR_BYTES]


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None, "every stream of a worker is a pipe"
    return pipe


def _lines(stream: IO[bytes]) -> Iterator[bytes]:
    while line := stream.readline(MAX_LINE):
        yield line
        while len(line) == MAX_LINE and not line.endswith(b"\n"):
            line = stream.readline(MAX_LINE)


def _kill_group(leader: int) -> None:
    # Nothing is left of the group, or (macOS) nothing but zombies.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)
