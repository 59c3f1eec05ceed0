"""What the cases of one test session share: a stage, a driver per target, the known failures."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from loopcheck.harness.cases import CaseSpec
from loopcheck.harness.expected import Expected, apply, find
from loopcheck.harness.inprocess import InProcess
from loopcheck.harness.results import CaseResult
from loopcheck.harness.runner import RunOptions, play
from loopcheck.harness.smoke import SMOKE, complaint
from loopcheck.harness.stage import Stage
from loopcheck.harness.target import Target


class Session:
    """Opened when the first case runs, closed when the test session ends."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.journal_folder: Path | None = root / ".loopcheck" / "last"
        self._stage: Stage | None = None
        self._drivers: dict[int, InProcess] = {}
        self._smoked: dict[tuple[str, str, str], str | None] = {}
        self._expected: Expected | None = None

    @property
    def stage(self) -> Stage:
        if self._stage is None:
            self._stage = Stage().__enter__()
        return self._stage

    def driver(self, target: Target) -> InProcess:
        return self._drivers.setdefault(id(target), InProcess(target))

    def smoke(self, target: Target, spec: CaseSpec) -> str | None:
        """What is wrong with the target in this dialect and mode; asked once for each."""
        key = (target.name, spec.dialect, spec.mode)
        if key not in self._smoked:
            smoke = CaseSpec(SMOKE, spec.dialect, spec.mode)
            entries, _ = play(self.driver(target), target.card(), smoke, self.stage, RunOptions())
            self._smoked[key] = complaint(entries, smoke)
        return self._smoked[key]

    def expect(self, result: CaseResult, target: Target) -> CaseResult:
        """The result in the light of the project's list of known failures."""
        if self._expected is None:
            self._expected = find(self.root)
        return apply(result, self._expected, target.card(), today=date.today())

    def close(self) -> None:
        for driver in self._drivers.values():
            driver.close()
        self._drivers.clear()
        if self._stage is not None:
            self._stage.__exit__(None, None, None)
            self._stage = None


_current: list[Session] = []


def session() -> Session:
    """The session of this process, opened in the current folder unless a plugin opened one."""
    if not _current:
        _current.append(Session(Path.cwd()))
    return _current[0]


def begin(root: Path) -> None:
    """Opens a session for the project at `root`."""
    end()
    _current.append(Session(root))


def end() -> None:
    """Closes the session, if there is one."""
    while _current:
        _current.pop().close()
