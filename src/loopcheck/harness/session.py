"""What the cases of one test session share: a stage, a driver per target, the known failures."""

from __future__ import annotations

import atexit
from datetime import date
from pathlib import Path

from loopcheck.harness.cases import CaseSpec
from loopcheck.harness.expected import Expected, apply, find
from loopcheck.harness.inprocess import InProcess
from loopcheck.harness.results import CaseResult, TargetCard
from loopcheck.harness.runner import RunOptions, aplay, play
from loopcheck.harness.smoke import SMOKE, complaint
from loopcheck.harness.stage import Stage
from loopcheck.harness.target import Target


class _Trial:
    """A target and what is known of it in this session."""

    def __init__(self, target: Target) -> None:
        self.driver = InProcess(target)
        self.card = target.card()
        self.smoked: dict[tuple[str, str], str | None] = {}


class Session:
    """Opened when the first case runs, closed when the test session ends."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.journal_folder: Path | None = root / ".loopcheck" / "last"
        self._stage: Stage | None = None
        self._trials: dict[int, _Trial] = {}
        self._expected: Expected | None = None

    @property
    def stage(self) -> Stage:
        if self._stage is None:
            self._stage = Stage().__enter__()
        return self._stage

    def driver(self, target: Target) -> InProcess:
        return self._trial(target).driver

    def card(self, target: Target) -> TargetCard:
        return self._trial(target).card

    def smoke(self, target: Target, spec: CaseSpec, options: RunOptions) -> str | None:
        """What is wrong with the target in this dialect and mode; asked once for each."""
        trial, smoke = self._trial(target), CaseSpec(SMOKE, spec.dialect, spec.mode)
        key = (spec.dialect, spec.mode)
        if key not in trial.smoked:
            entries, _ = play(trial.driver, trial.card, smoke, self.stage, options)
            trial.smoked[key] = complaint(entries, smoke)
        return trial.smoked[key]

    async def asmoke(self, target: Target, spec: CaseSpec, options: RunOptions) -> str | None:
        """The same within a running event loop."""
        trial, smoke = self._trial(target), CaseSpec(SMOKE, spec.dialect, spec.mode)
        key = (spec.dialect, spec.mode)
        if key not in trial.smoked:
            entries, _ = await aplay(trial.driver, trial.card, smoke, self.stage, options)
            trial.smoked[key] = complaint(entries, smoke)
        return trial.smoked[key]

    def expect(self, result: CaseResult, target: Target) -> CaseResult:
        """The result in the light of the project's list of known failures."""
        if self._expected is None:
            self._expected = find(self.root)
        return apply(result, self._expected, self.card(target), today=date.today())

    def close(self) -> None:
        """Ends what was started. May be called again."""
        if self in _open:
            _open.remove(self)
        for trial in self._trials.values():
            trial.driver.close()
        self._trials.clear()
        if self._stage is not None:
            self._stage.__exit__(None, None, None)
            self._stage = None

    def _trial(self, target: Target) -> _Trial:
        if id(target) not in self._trials:
            self._trials[id(target)] = _Trial(target)
        return self._trials[id(target)]


_open: list[Session] = []


def begin(root: Path) -> Session:
    """Opens a session for the project at `root`; it holds until it is closed."""
    _open.append(Session(root))
    return _open[-1]


def session() -> Session:
    """The session that holds, opened in the current folder where the plugin opened none."""
    if not _open:
        atexit.register(begin(Path.cwd()).close)
    return _open[-1]
