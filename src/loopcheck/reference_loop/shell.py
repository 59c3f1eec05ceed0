"""The shell around the machine: it carries out actions, and hands back what came of them.

It decides nothing. It keeps what a checkpoint needs, and saves it when the machine gets there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any, Final, Generic, TypeAlias, cast

from loopcheck.reference_loop import events as e
from loopcheck.reference_loop import snapshot
from loopcheck.reference_loop.adapters.interface import (
    ConversationT,
    ProviderAdapter,
    StorableAdapter,
    TurnStorableAdapter,
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
from loopcheck.reference_loop.store.interface import StoreError
from loopcheck.reference_loop.telemetry.watch import NOBODY, Watch
from loopcheck.reference_loop.writes import Unsettled

# What the process before this one saved of a round: a response, and what it waited for.
_BEFORE: Final = 2

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
    watch: Watch = NOBODY
    _began: float = 0.0
    _executing: tuple[Run, e.Calls | None] = field(init=False)
    _answer: object = None
    _saved: CheckpointName | None = None

    def __post_init__(self) -> None:
        self._executing = self.run, self.calls
        self.executor.bench.save = self.save
        self.executor.bench.watch = self.watch
        if self.calls is not None:
            self.executor.bench.commits = _BEFORE

    def watched(self, prompt: str | None = None) -> AbstractContextManager[None]:
        """Observers are told that the run is worked on meanwhile; from its prompt, if new."""
        return self.watch.run(lambda: self.run, prompt)

    async def drive(self, event: e.Event) -> None:
        """Takes the event and all that follow, until nothing is left to do."""
        self._began = self.clock.running() - self.run.elapsed
        action = self._step(event)
        while action is not None:
            action = self._step(await self._perform(action))

    def create(self) -> None:
        """The first checkpoint, before the first step."""
        self._commit("run_started", lambda: self.keeper.create(*self._kept()))

    def answer(self, answers: Sequence[PersonsAnswer]) -> None:
        """Enters what people decided while nobody worked on the run. Raises AnswerError."""
        if answers:
            answered = self.questions.answer(answers, self.clock.wall())
            self.save("approval_decided")
            self.watch.answered(answered)

    def save(self, name: CheckpointName, *, conversation: bool = False) -> None:
        """A checkpoint; the conversation is saved only where it has changed."""

        def commit() -> None:
            state, whole = self._kept(conversation=conversation)
            self.keeper.save(name, state, whole or None)

        self._commit(name, commit)

    def _commit(self, name: CheckpointName, commit: Callable[[], None]) -> None:
        if self.keeper.store is not None:
            self.watch.commit(name, commit)
        self._saved = name
        bench = self.executor.bench
        bench.commits = 0 if name in ("run_started", "results_saved") else bench.commits + 1

    def _kept(self, *, conversation: bool = True) -> tuple[JsonObject, JsonObject]:
        calls, turn = (None, None) if self.calls is None else (self.calls.calls, self.calls.turn)
        state = snapshot.dump(self.run, calls)
        adapter = cast("StorableAdapter[ConversationT]", self.adapter)
        if isinstance(adapter, TurnStorableAdapter):
            # Without the response, the conversation is the one that was saved before.
            state["turn"] = None if turn is None else adapter.dump_turn(turn)
            conversation, turn = conversation and calls is None, None
        return state, {"adapter": adapter.dump(self.conversation, turn)} if conversation else {}

    def _step(self, event: e.Event) -> e.Action | None:
        if isinstance(event, e.Final):
            self._answer = event.turn
        run = replace(self.run, elapsed=self.clock.running() - self._began)
        self.run, action = step(run, event)
        self.watch.stepped(self.run, event, action)
        self._checkpoint(event, action)
        return action

    def _checkpoint(self, event: e.Event, action: e.Action | None) -> None:
        if action is None:
            self._over()
        elif isinstance(event, e.Calls):
            self.calls = event
            self.save("response_received", conversation=True)
        elif isinstance(event, e.ResultsSaved):
            with self._or_effects_alone():
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
        if self.run.phase == "completed" and self._answer is not None:
            answer = e.Calls((), self._answer)
            self.conversation = self.adapter.append(self.conversation, answer, ())
        self.save("finished", conversation=True)

    @contextmanager
    def _or_effects_alone(self) -> Iterator[None]:
        """Where results cannot be saved, what was done is saved all the same; calls stay open."""
        try:
            yield
        except Exception:
            self.run, self.calls = self._executing
            with suppress(StoreError):
                self.save("effect_committed")
            raise

    async def _perform(self, action: e.Action) -> e.Event:
        match action:
            case e.RequestModel(after_seconds):
                return await self._request(after_seconds)
            case e.ExecuteTools(calls, checked):
                return await self._execute(calls, checked)
            case e.SaveResults(calls, results):
                with self._or_effects_alone():
                    self.conversation = self.adapter.append(self.conversation, calls, results)
                self.calls = None
                return e.ResultsSaved()
            case e.CheckCalls(calls):
                # What has begun goes on record and into the history, also where the user stops.
                checking = self._check(calls)
                begun = self._has_begun(calls)
                return await (checking if begun else self._unless_stopped(checking))
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
        return await self.watch.request(self.run, lambda: self.adapter.request(self.conversation))

    def _has_begun(self, calls: e.Calls) -> bool:
        places = ((self.run.rounds, position) for position in range(len(calls.calls)))
        records = map(self.keeper.records.at, places)
        return any(record is not None and record.began_at for record in records)

    async def _check(self, calls: e.Calls) -> e.Event:
        return e.CallsChecked(calls, await self.review.check(calls, self.run.rounds))

    async def _ask(self, calls: e.Calls) -> e.Event:
        if self.ask is None:
            return e.Undecided()
        answers = await self.ask(self.questions.open(self.clock.wall()))
        if not answers:
            return e.Undecided()
        self.watch.answered(self.questions.answer(answers, self.clock.wall()))
        return e.Decided(calls)

    async def _execute(self, calls: e.Calls, checked: tuple[e.CheckedCall, ...]) -> e.Event:
        self._executing = self.run, calls
        try:
            results = await self.executor.answer(checked, self.run.rounds)
        except Unsettled as unsettled:
            return e.OutcomeUnknown(str(unsettled))
        return e.ToolsFinished(calls, results, checked)

    async def _judge(self, accept: Accept, text: str) -> e.Event:
        objection = await accept(text)
        return e.Accepted() if objection is None else e.Rejected(objection)
