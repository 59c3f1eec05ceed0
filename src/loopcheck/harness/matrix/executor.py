"""Who runs the cells: processes of this machine, or whatever takes cells and gives results."""

from __future__ import annotations

import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Protocol

from pydantic import ValidationError

from loopcheck.harness.matrix.cell import Cell
from loopcheck.harness.matrix.errors import CannotInstall
from loopcheck.harness.matrix.results import CellResult, CellStatus, Trouble
from loopcheck.harness.matrix.storage import told

# A cell waits for a good part of its time: for gates, and for what SDKs wait before a retry.
CELLS_A_CORE: Final = 3
_CHILD: Final = "loopcheck.harness.matrix.child"
_GRACE_SECONDS: Final = 2.0


class Executor(Protocol):
    """Runs cells. Each is a description that can be sent; `run_cell` is what runs it."""

    def submit(self, cell: Cell) -> None:
        """Has the cell run as soon as there is room."""
        ...

    def finished(self) -> Iterator[CellResult]:
        """The result of each cell that was submitted, as it is there; whatever goes wrong with a
        cell is told by its result."""
        ...

    def close(self) -> None:
        """Ends what still runs. What was measured is kept."""
        ...


@dataclass(frozen=True, slots=True)
class Prepared:
    """A cell whose environment is there, and what it took to make it, in seconds."""

    cell: Cell
    seconds: float | None


class LocalExecutor:
    """Runs each cell in a process of its own, `jobs` at a time. `prepare` sees to its
    environment; it raises CannotInstall where there is none."""

    def __init__(self, prepare: Callable[[Cell], Prepared], *, jobs: int) -> None:
        self._prepare = prepare
        self._pool = ThreadPoolExecutor(jobs, thread_name_prefix="loopcheck-cell")
        self._done: queue.SimpleQueue[Future[CellResult]] = queue.SimpleQueue()
        self._waiting = 0
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._closed = False

    def __enter__(self) -> LocalExecutor:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def submit(self, cell: Cell) -> None:
        self._waiting += 1
        self._pool.submit(self._one, cell).add_done_callback(self._done.put)

    def finished(self) -> Iterator[CellResult]:
        while self._waiting:
            future = self._done.get()
            self._waiting -= 1
            with suppress(CancelledError):
                yield future.result()

    def close(self) -> None:
        with self._lock:
            self._closed = True
            running = list(self._running)
        for process in running:
            process.terminate()
        self._pool.shutdown(cancel_futures=True)

    def _one(self, cell: Cell) -> CellResult:
        try:
            prepared = self._prepare(cell)
            result = self._run(prepared.cell)
        except CannotInstall as error:
            trouble = Trouble(message=error.message, package=error.package)
            return without_results(cell, "cannot install", trouble)
        except OSError as error:
            return without_results(cell, "not finished", Trouble(message=told(error)))
        return result.model_copy(update={"environment_seconds": prepared.seconds})

    def _run(self, cell: Cell) -> CellResult:
        command = [sys.executable, "-m", _CHILD]
        pipe = subprocess.PIPE
        with subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
        ) as process:
            with self._lock:
                self._running.add(process)
                if self._closed:
                    process.terminate()
            try:
                out, err = process.communicate(cell.model_dump_json().encode())
            finally:
                with self._lock:
                    self._running.discard(process)
        try:
            return CellResult.model_validate_json(out)
        except ValidationError:
            return without_results(cell, "not finished", _ended(process.returncode, err))


def _ended(code: int, said: bytes) -> Trouble:
    lines = [line for line in said.decode(errors="replace").splitlines() if line.strip()]
    last = f": {lines[-1].strip()}" if lines else ""
    how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
    return Trouble(message=f"its process {how}{last}; what was measured is kept")


def without_results(cell: Cell, status: CellStatus, trouble: Trouble) -> CellResult:
    """The result of a cell that came to nothing."""
    return CellResult(
        target=cell.target,
        dependency_set=cell.dependency_set,
        key=cell.key,
        status=status,
        trouble=trouble,
        packages=cell.packages,
        environment=cell.environment,
    )
