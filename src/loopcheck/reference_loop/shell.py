"""The shell around the machine: it carries out actions, and hands back what came of them.

It decides nothing. It keeps what a checkpoint needs, and saves it when the machine gets there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeAlias, cast

from loopcheck.reference_loop import events as e
from loopcheck.reference_loop import snapshot
from loopcheck.reference_loop.adapters.interface import (
    ConversationT,
    ProviderAdapter,
    StorableAdapter,
)
from loopcheck.reference_loop.approvals import AskPeople, PersonsAnswer, Questions
from loopcheck.reference_loop.arguments import JsonObject
from loopcheck.reference_loop.cancellation import Stopped, unless
from loopcheck.reference_loop.checkpoints import CheckpointName
from loopcheck.reference_loop.clock import Clock
from loopcheck.reference_loop.executor import Executor
from loopcheck.reference_loop.keeper import Keeper
from loopcheck.reference_loop.machine import Run, step
from loopcheck.reference_loop.review import Review
from loopcheck.reference_loop.writes import Unsettled

Accept: TypeAlias = Callable[[str], Awaitable[str | None]]


@dataclass(slots=True, kw_only=True)
class Shell(Generic[ConversationT]):
    """Works on one run, which it changes from step to step."""

    adapter: ProviderAdapter[ConversationT]
    conversation: ConversationT
    run: Run
    calls: e.Calls | None
    review: Review
    executor: Executor
    questions: Questions
    keeper: Keeper
    clock: Clock
    ask: AskPeople | None
    accept: Accept | None
    stop: asyncio.Event | None
    _began: float = 0.0
    _saved: CheckpointName | None = None

    def __post_init__(self) -> None:
        self.executor.bench.save = self.save

    async def drive(self, event: e.Event) -> None:
        """Takes the event and all that follow, until nothing is left to do."""
        self._began = self.clock.running() - self.run.elapsed
        action = self._step(event)
        while action is not None:
            action = self._step(await self._perform(action))

    def create(self) -> None:
        """The first checkpoint, before the first step."""
        self.keeper.create(*self._kept())
        self._saved = "run_started"

    def answer(self, answers: Sequence[PersonsAnswer]) -> None:
        """Enters what people decided while nobody worked on the run. Raises AnswerError."""
        if answers:
            self.questions.answer(answers, self.clock.wall())
            self.save("approval_decided")

    def save(self, name: CheckpointName, *, conversation: bool = False) -> None:
        """A checkpoint; the conversation is saved only where it has changed."""
        state, whole = self._kept(conversation=conversation)
        self.keeper.save(name, state, whole or None)
        self._saved = name

    def _kept(self, *, conversation: bool = True) -> tuple[JsonObject, JsonObject]:
        calls = None if self.calls is None else self.calls.calls
        state = snapshot.dump(self.run, calls)
        if self.keeper.store is None or not conversation:
            return state, {}
        turn = None if self.calls is None else self.calls.turn
        adapter = cast("StorableAdapter[ConversationT]", self.adapter)
        return state, {"adapter": adapter.dump(self.conversation, turn)}

    def _step(self, event: e.Event) -> e.Action | None:
        run = replace(self.run, elapsed=self.clock.running() - self._began)
        self.run, action = step(run, event)
        self._checkpoint(event, action)
        return action

    def _checkpoint(self, event: e.Event, action: e.Action | None) -> None:
        if action is None:
            self._over()
        elif isinstance(event, e.Calls):
            self.calls = event
            self.save("response_received", conversation=True)
        elif isinstance(event, e.ResultsSaved):
            self.save("results_saved", conversation=True)
        elif isinstance(event, e.Decided):
            self.save("approval_decided")
        elif isinstance(action, e.AskApproval) and self.ask is not None:
            self.save("approval_requested")
        elif isinstance(action, e.JudgeAnswer) and self.accept is not None:
            self.save("response_received")

    def _over(self) -> None:
        if self.run.phase == "paused":
            self.save("paused")
            return
        # A response whose calls were not carried out is no part of the history.
        self.calls = None
        self.save("finished", conversation=True)

    async def _perform(self, action: e.Action) -> e.Event:
        match action:
            case e.RequestModel(after_seconds):
                return await self._request(after_seconds)
            case e.ExecuteTools(calls, checked):
                return await self._execute(calls, checked)
            case e.SaveResults(calls, results):
                self.conversation = self.adapter.append(self.conversation, calls, results)
                self.calls = None
                return e.ResultsSaved()
            case e.CheckCalls(calls):
                # What has begun goes on record and into the history, also where the user stops.
                checking = self._check(calls)
                return await (checking if self._has_begun() else self._unless_stopped(checking))
            case e.AskApproval(calls):
                return await self._unless_stopped(self._ask(calls))
        if self.accept is None:
            return e.Accepted()
        return await self._unless_stopped(self._judge(self.accept, action.text))

    async def _unless_stopped(self, work: Coroutine[Any, Any, e.Event]) -> e.Event:
        try:
            return await unless(self.stop, work)
        except Stopped:
            return e.Cancelled()

    async def _request(self, after_seconds: float) -> e.Event:
        seconds = self.run.limits.seconds
        left = None if seconds is None else seconds - self.run.elapsed
        if self.stop is not None and self.stop.is_set():
            return e.Cancelled()
        if left is not None and left <= 0:
            return e.TimeUp()
        if self._saved in ("run_started", "results_saved"):
            self._saved = None  # nothing has changed since: that commit began this request too
        else:
            self.save("request_started")
        scope = asyncio.timeout(left)
        try:
            async with scope:
                return await self._unless_stopped(self._reply(after_seconds))
        except TimeoutError:
            if not scope.expired():
                raise
            return e.TimeUp()

    async def _reply(self, after_seconds: float) -> e.Event:
        if after_seconds:
            await self.clock.sleep(after_seconds)
        return await self.adapter.request(self.conversation)

    def _has_begun(self) -> bool:
        records = self.keeper.records.all()
        return any(record.began_at and record.round == self.run.rounds for record in records)

    async def _check(self, calls: e.Calls) -> e.Event:
        return e.CallsChecked(calls, await self.review.check(calls, self.run.rounds))

    async def _ask(self, calls: e.Calls) -> e.Event:
        if self.ask is None:
            return e.Undecided()
        answers = await self.ask(self.questions.open(self.clock.wall()))
        if not answers:
            return e.Undecided()
        self.questions.answer(answers, self.clock.wall())
        return e.Decided(calls)

    async def _execute(self, calls: e.Calls, checked: tuple[e.CheckedCall, ...]) -> e.Event:
        try:
            results = await self.executor.answer(checked, self.run.rounds)
        except Unsettled as unsettled:
            return e.OutcomeUnknown(str(unsettled))
        return e.ToolsFinished(calls, results, checked)

    async def _judge(self, accept: Accept, text: str) -> e.Event:
        objection = await accept(text)
        return e.Accepted() if objection is None else e.Rejected(objection)
