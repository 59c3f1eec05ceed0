"""Cells as tasks of a Ray cluster, each in an environment that Ray makes of its packages by uv."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from sys import version_info
from types import TracebackType
from typing import Final

import ray
from ray.exceptions import RayError, RayTaskError, RuntimeEnvSetupError

from loopcheck.harness.matrix import parcel
from loopcheck.harness.matrix.cell import Cell
from loopcheck.harness.matrix.executor import CELLS_A_CORE, Executor, without_results
from loopcheck.harness.matrix.kept import Kept
from loopcheck.harness.matrix.ray_cluster import Runtime
from loopcheck.harness.matrix.ray_task import Message, run_here
from loopcheck.harness.matrix.results import CellResult, Trouble
from loopcheck.harness.matrix.storage import ignored, told
from loopcheck.harness.matrix.uv import complaint
from loopcheck.harness.results import CaseResult
from loopcheck.harness.scenario.errors import ScenarioError

_IS_KEPT: Final = "what was measured is kept"


@dataclass(slots=True)
class _Task:
    cell: Cell
    kept: Kept
    asked: float = field(default_factory=time.perf_counter)
    begun: float | None = None

    def take(self, message: Message) -> CellResult | None:
        """Keeps what the task says; its result, where that is it. Raises OSError."""
        if self.begun is None:
            self.begun = time.perf_counter()
        if message.case is not None:
            self._take(message.case, message)
        result = message.result
        if result is not None and result.status == "ran":
            self.kept.finish(result)
        if result is None:
            return None
        return result.model_copy(update={"environment_seconds": self.begun - self.asked})

    def _take(self, case: CaseResult, message: Message) -> None:
        if case.journal is not None and message.journal is not None:
            journal = Path(case.journal)
            ignored(self.kept.journals)
            journal.parent.mkdir(exist_ok=True)
            journal.write_text(message.journal, encoding="utf-8")
        self.kept.add(case, message.wire)


class RayExecutor:
    """Runs each cell as a task of the cluster that this process is connected to, at most `jobs` at
    a time. What a cell measures is kept here as soon as it is measured. `beside` runs what Ray
    cannot: cells of npm, and of another Python than this one."""

    def __init__(self, runtime: Runtime, *, jobs: int, beside: Executor) -> None:
        self._runtime = runtime
        self._jobs = jobs
        self._beside = beside
        self._function = ray.remote(run_here)
        self._waiting: deque[Cell] = deque()
        self._running: dict[ray.ObjectRefGenerator, _Task] = {}
        self._failed: deque[CellResult] = deque()
        self._projects: dict[Path, ray.ObjectRef[parcel.Parcel]] = {}

    def __enter__(self) -> RayExecutor:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def submit(self, cell: Cell) -> None:
        if cell.node is not None or not _is_this_python(cell.python_version):
            self._beside.submit(cell)
            return
        self._waiting.append(cell)
        self._fill()

    def finished(self) -> Iterator[CellResult]:
        while self._running or self._failed:
            while self._failed:
                yield self._failed.popleft()
            if self._running:
                ready, _ = ray.wait(list(self._running), num_returns=1)
                yield from self._heard(ready[0])
            self._fill()
        yield from self._beside.finished()

    def close(self) -> None:
        self._waiting.clear()
        for stream in self._running:
            ray.cancel(stream, force=True)
        self._running.clear()
        self._beside.close()

    def _fill(self) -> None:
        while self._waiting and len(self._running) < self._jobs:
            cell = self._waiting.popleft()
            try:
                self._start(cell)
            except (OSError, ScenarioError) as error:
                message = told(error) if isinstance(error, OSError) else str(error)
                trouble = Trouble(message=message)
                self._failed.append(without_results(cell, "not finished", trouble))

    def _start(self, cell: Cell) -> None:
        kept = Kept(Path(cell.folder))
        kept.begin()
        scenarios = parcel.of_scenarios(cell)
        projects = [self._project(folder) for folder in parcel.code(cell)]
        task = self._function.options(
            num_returns="streaming",
            num_cpus=1 / CELLS_A_CORE,
            max_retries=0,
            name=f"{cell.target} under {cell.dependency_set}",
            runtime_env=self._runtime.environment(cell),
        )
        stream = task.remote(cell.model_dump_json(), kept.lines, scenarios, *projects)
        self._running[stream] = _Task(cell, kept)

    def _project(self, folder: Path) -> ray.ObjectRef[parcel.Parcel]:
        if folder not in self._projects:
            self._projects[folder] = ray.put(parcel.of_project(folder))
        return self._projects[folder]

    def _heard(self, stream: ray.ObjectRefGenerator) -> Iterator[CellResult]:
        """The result, where that is what the task says now."""
        task = self._running[stream]
        result = _message(stream, task)
        if result is not None:
            del self._running[stream]
            yield result


def _message(stream: ray.ObjectRefGenerator, task: _Task) -> CellResult | None:
    """Keeps what the task says; its result, where it has come to its end."""
    try:
        said: object = ray.get(next(stream))
        return task.take(Message.model_validate_json(str(said)))
    except StopIteration:
        trouble = Trouble(message=f"its task ended without a result; {_IS_KEPT}")
    except RuntimeEnvSetupError as error:
        found = complaint(_said(str(error)))
        trouble = Trouble(message=found.message, package=found.package)
        return without_results(task.cell, "cannot install", trouble)
    except RayError as error:
        trouble = Trouble(message=f"its task {_ended(error)}; {_IS_KEPT}")
    except OSError as error:
        ray.cancel(stream, force=True)
        trouble = Trouble(message=told(error))
    return without_results(task.cell, "not finished", trouble)


def _said(text: str) -> str:
    """What uv said, out of all that Ray tells of it."""
    _, found, said = text.partition(" lines of stdout:")
    said = said if found else text
    start = max(said.find("error:"), said.find("\u00d7"), 0)
    return said[start:]


def _ended(error: RayError) -> str:
    if isinstance(error, RayTaskError):
        cause = error.cause
        return f"failed: {type(cause).__name__}: {cause}"
    lines = str(error).strip().splitlines()
    return f"was ended by {type(error).__name__}: {lines[0] if lines else 'no reason is given'}"


def _is_this_python(version: str | None) -> bool:
    """Whether this Python, which a cluster has to have too, is of this version."""
    if version is None:
        return True
    asked = tuple(int(part) for part in version.split("."))
    return version_info[: len(asked)] == asked
