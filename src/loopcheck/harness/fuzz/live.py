"""A case whose scenario is written while it is played.

The target runs in a thread of its own. Each request for a turn that is not written yet waits until
somebody says what the model answers, and each end of the target until somebody says what follows.
What was written in the end is a scenario that goes the same when it is run from its file.
"""

from __future__ import annotations

import asyncio
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from loopcheck.fake_providers.script import Script, Turn
from loopcheck.fake_providers.wire import HttpRequest, Reply
from loopcheck.harness.cases import CaseSpec
from loopcheck.harness.fuzz.trial import Ran, Trial
from loopcheck.harness.judge import judge
from loopcheck.harness.legs import Leg
from loopcheck.harness.points import PointTracker
from loopcheck.harness.runner import Broken, Skipped
from loopcheck.harness.scenario.compile import compile_script
from loopcheck.harness.scenario.control_model import MeanwhileModel, MessageModel
from loopcheck.harness.scenario.model import AttemptModel, Scenario, TurnModel
from loopcheck.harness.stage import OpenCase
from loopcheck.harness.strategies.needs import needs
from loopcheck.harness.task import Outcome

# How long a target may take beyond the time of its case, until it is left to itself.
_GRACE_SECONDS: Final = 10.0
# Stands for the turn that is not written yet.
_OPEN: Final = TurnModel(say="…")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Growing(Script):
    """A script that ends with a turn that somebody has yet to say."""

    asked: Callable[[int], Turn]

    def turn(self, number: int, *, tool_choice: str = "auto") -> Turn:
        if number == len(self.turns):
            return self.asked(number)
        return Script.turn(self, number, tool_choice=tool_choice)


class LiveCase:
    """A target at work on a scenario that is still being written.

    `asked` is the number of the turn that a request waits for, None where none waits. `ended` has
    the outcomes of the target's latest part, None while it is at work. `open` is what has been
    said of the turn that is asked for, where its attempts so far have failed.
    """

    def __init__(self, trial: Trial, spec: CaseSpec) -> None:
        self._trial = trial
        self._changed = threading.Condition()
        self._spec = spec
        self._case: OpenCase | None = None
        self._closing = False
        self._goes_on = False
        self._count = 0
        self._answer: TurnModel | None = None
        self._thread = threading.Thread(target=self._play, name="loopcheck-live", daemon=True)
        self.asked: int | None = None
        self.ended: tuple[Outcome, ...] | None = None
        self.open: TurnModel | None = None
        self.is_over = False
        self.is_skipped = False
        self.error: Exception | None = None

    @property
    def scenario(self) -> Scenario:
        """What has been written so far."""
        return self._spec.scenario

    def start(self) -> None:
        """Sets the target to work, and waits until something is to be decided."""
        self._thread.start()
        self._wait()

    def answers(self, turn: TurnModel) -> None:
        """The model, or the service, answers what is asked for with the last attempt of this
        turn."""
        with self._changed:
            self._answer, self.asked = turn, None
            self._changed.notify_all()
        self._wait()

    def happens(self, rule: MeanwhileModel) -> None:
        """From now on this rule holds; what is due by it is done at once."""
        self._grow({"meanwhile": (*self.scenario.meanwhile, rule)})

    def follows(self, message: MessageModel) -> None:
        """The user says more, or begins another run."""
        self.open = None
        self._grow({"entries": (*self.scenario.entries, message)})
        self.go_on()

    def go_on(self) -> None:
        """Whatever follows from what has happened is begun."""
        with self._changed:
            self._goes_on, self.ended = True, None
            self._changed.notify_all()
        self._wait()

    def latest(self, point: str) -> str:
        """The name of this point for the last time that it passed, `book.waiting.2` for the second;
        the plain one where it has not."""
        assert self._case is not None
        times = 1
        while self._case.conductor.has_passed(f"{point}.{times + 1}"):
            times += 1
        return point if times == 1 else f"{point}.{times}"

    def next_time(self, point: str) -> str:
        """The name of this point for the next time that it passes."""
        assert self._case is not None
        if not self._case.conductor.has_passed(point):
            return point
        times = self.latest(point).removeprefix(point)
        return f"{point}.{int(times[1:] or 1) + 1}"

    def waiting(self) -> list[str]:
        """The points at which calls began to wait that wait for a person now, one for each."""
        if self._case is None or not any(one.state == "paused" for one in self.ended or ()):
            return []
        tracker = PointTracker()
        latest: list[str] = []
        for entry in self._case.journal.entries():
            points = tracker.feed(entry)
            if entry["kind"] == "outcome":
                latest = [point for point in points if point.split(".")[1] == "waiting"]
        return latest

    def has_news(self) -> bool:
        """Whether anything was journalled since this was last asked."""
        count = 0 if self._case is None else len(self._case.journal)
        was, self._count = self._count, count
        return count > was

    def judged(self) -> Ran:
        """The journal so far, judged."""
        assert self._case is not None
        entries, card = self._case.journal.entries(), self._trial.card
        spec = replace(self._spec, scenario=_shown(self.scenario))
        return Ran(spec, judge(entries, spec, frozenset(card.can), card.limit_unit), entries)

    def close(self) -> Ran | None:
        """Lets the target come to its end, and judges what came of it all; None where it declined
        the case."""
        with self._changed:
            if self.asked is not None and self.scenario.messages:
                # Beyond the script turns have other numbers than within a later part of it.
                self._write(TurnModel(say="Finished."))
            self._closing = True
            self._changed.notify_all()
        self._thread.join(self._trial.options.case_seconds + _GRACE_SECONDS)
        if self.error is not None:
            raise self.error
        return None if self.is_skipped else self.judged()

    def _wait(self) -> None:
        """Returns when something is to be decided, or the case is over."""
        with self._changed:
            self._changed.wait_for(
                lambda: self.asked is not None or self.ended is not None or self.is_over,
                self._trial.options.case_seconds + _GRACE_SECONDS,
            )

    def _play(self) -> None:
        try:
            with (
                tempfile.TemporaryDirectory(prefix="loopcheck-") as folder,
                self._trial.stage.open(
                    self._spec,
                    target=self._trial.card.name,
                    seed=self._trial.options.seed,
                    seconds=self._trial.options.case_seconds,
                    grows=True,
                ) as case,
            ):
                self._case = case
                self._follow()
                lock = asyncio.Lock()
                case.handle = lambda request: self._handled(case, request, lock)
                self._legs(case, Path(folder))
        except Exception as error:
            self.error = error
        finally:
            with self._changed:
                self.is_over = True
                self._changed.notify_all()

    async def _handled(self, case: OpenCase, request: HttpRequest, lock: asyncio.Lock) -> Reply:
        """Answers a request in a thread, where it may wait; one at a time."""
        async with lock:
            try:
                return await asyncio.to_thread(case.provider.handle, request)
            except Exception as error:
                case.record_broken("harness", f"{type(error).__name__}: {error}")
                raise

    def _legs(self, case: OpenCase, folder: Path) -> None:
        leg: Leg | None = case.conductor.first
        seconds = self._trial.options.case_seconds
        try:
            while leg is not None:
                outcomes = self._trial.driver.drive(case, leg, folder, seconds)
                case.record_end(outcomes)
                leg = self._next(case, outcomes)
                if case.conductor.takes_time():
                    self._trial.driver.linger(case)
                if leg is not None:
                    case.record_leg(leg)
        except Broken as broken:
            case.record_broken(broken.kind, broken.what)
        except Skipped:
            self.is_skipped = True

    def _next(self, case: OpenCase, outcomes: tuple[Outcome, ...]) -> Leg | None:
        """What follows: at once where that was settled before, else as somebody decides."""
        if not case.conductor.resumes(outcomes):
            with self._changed:
                self.ended, self._goes_on = outcomes, False
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._goes_on or self._closing)
                if not self._goes_on:
                    return None
        leg = case.conductor.next(outcomes)
        self._follow()
        return leg

    def _asked(self, number: int) -> Turn:
        """The turn with this number, when somebody has said it; in the server's thread."""
        with self._changed:
            self.asked = number
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._answer is not None or self._closing)
            self.asked, turn, self._answer = None, self._answer, None
            if turn is None:
                return self._script(self.scenario).turn(number)
            self._write(turn)
        return self._script(self.scenario).turn(number)

    def _write(self, turn: TurnModel) -> None:
        """Writes the turn that is asked for, in place of what was said of it before."""
        entries = self.scenario.entries
        before = entries if self.open is None else entries[:-1]
        last = turn.attempts[-1]
        failed = isinstance(last, AttemptModel) and last.fault is not None
        self.open = turn if failed else None
        self._grow({"entries": (*before, turn)})
        self._follow()

    def _grow(self, update: dict[str, object]) -> None:
        scenario = self.scenario.model_copy(update=update)
        self._spec = replace(self._spec, scenario=scenario)
        if self._case is not None:
            self._case.conductor.grow(scenario)

    def _follow(self) -> None:
        """Has the provider go on by what is written, with room for one more turn."""
        assert self._case is not None
        entries = self.scenario.entries
        room = () if self.open is not None else (_OPEN,)
        script = self._script(self.scenario.model_copy(update={"entries": (*entries, *room)}))
        self._case.provider.follow(
            _Growing(
                turns=script.turns,
                otherwise=script.otherwise,
                prompt=script.prompt,
                tools=script.tools,
                later=script.later,
                earlier=script.earlier,
                asked=self._asked,
            )
        )

    def _script(self, scenario: Scenario) -> Script:
        return compile_script(scenario, self._spec.dialect, self._spec.mode)


def _shown(scenario: Scenario) -> Scenario:
    """The scenario without tools that are not called, and with what it needs."""
    called = {call.tool for turn in scenario.turns for call in turn.every_call}
    tools = {name: tool for name, tool in scenario.tools.items() if name in called}
    offered = any(tool.kind != "hosted" and tool.approval != "disabled" for tool in tools.values())
    shown = scenario.model_copy(update={"tools": tools if offered else scenario.tools})
    written = shown.model_dump(by_alias=True, exclude_defaults=True)
    return shown.model_copy(update={"needs": tuple(needs(written))})
