"""The loop, as its user sees it: a task in, an outcome out, and a way to go on later."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Generic, cast

from loopcheck.reference_loop import events as e
from loopcheck.reference_loop import snapshot
from loopcheck.reference_loop.adapters import fields
from loopcheck.reference_loop.adapters.interface import (
    ConversationT,
    FollowableAdapter,
    ProviderAdapter,
    Said,
    StorableAdapter,
    TaskInfo,
    ToolOffer,
    TurnStorableAdapter,
)
from loopcheck.reference_loop.approvals import AskPeople, PersonsAnswer, Questions
from loopcheck.reference_loop.clock import Clock
from loopcheck.reference_loop.execution import Bench
from loopcheck.reference_loop.executor import Executor
from loopcheck.reference_loop.keeper import Keeper
from loopcheck.reference_loop.limits import Limits, Price, Retries, ToolLimits
from loopcheck.reference_loop.machine import OUTCOMES, Run, State
from loopcheck.reference_loop.outcome import LoopOutcome
from loopcheck.reference_loop.policy import Policy
from loopcheck.reference_loop.records import Records
from loopcheck.reference_loop.review import Review
from loopcheck.reference_loop.shell import Accept, Shell
from loopcheck.reference_loop.store.interface import Lease, Store, StoredRun, StoreError
from loopcheck.reference_loop.store.owners import new_owner
from loopcheck.reference_loop.telemetry.events import ModelName
from loopcheck.reference_loop.telemetry.told import Observers, watch
from loopcheck.reference_loop.tools import LoopTool, catalogue


class ReferenceLoop(Generic[ConversationT]):
    """Lets a model work on a task with tools until it answers or the run has to end.

    `price` is what a response costs, `ask` has people answer questions while the run waits
    (without it, such a run pauses), `accept` gives the objection to a final answer, or None.
    With a `store`, a run survives its process; the adapter must be storable then. `observe` is
    told what happens, see `telemetry`.

    Raises ToolDefinitionError at once when the tools cannot be offered. One loop may run many
    tasks, also at the same time; each has its own conversation, limits and operations.
    """

    def __init__(
        self,
        adapter: ProviderAdapter[ConversationT],
        tools: Iterable[LoopTool] = (),
        limits: Limits | None = None,
        *,
        retries: Retries | None = None,
        tool_limits: ToolLimits | None = None,
        policy: Policy | None = None,
        price: Price | None = None,
        ask: AskPeople | None = None,
        accept: Accept | None = None,
        store: Store | None = None,
        tool_choice: str = "auto",
        clock: Clock | None = None,
        observe: Observers = (),
    ) -> None:
        if store is not None and not isinstance(adapter, StorableAdapter):
            raise TypeError(
                f"{type(adapter).__name__} has no dump() and load(), so its runs cannot be stored"
            )
        self._adapter = adapter
        self._model = ModelName(
            provider=fields.text(adapter, "provider"), model=fields.text(adapter, "model")
        )
        self._tools = catalogue(tools)
        self._settings = Run(limits=limits or Limits(), retries=retries or Retries(), price=price)
        self._tool_limits = tool_limits or ToolLimits()
        self._policy = policy or Policy()
        # A model that may call nothing was offered nothing, although it sees the tools.
        withheld = replace(self._policy, offered=())
        self._reviewing = withheld if tool_choice == "none" else self._policy
        self._ask = ask
        self._accept = accept
        self._store = store
        self._tool_choice = tool_choice
        self._clock = clock or Clock()
        self._observe = observe

    async def run(
        self,
        prompt: str,
        *,
        run_id: str | None = None,
        after: object = None,
        earlier: Sequence[Said] = (),
        stop: asyncio.Event | None = None,
    ) -> LoopOutcome:
        """Works on one task; `after` is the conversation of an outcome, or of a stored run that is
        over, and the prompt goes on with it. A conversation of which there is no more than its
        texts is `earlier`.

        Once `stop` is set nothing new begins: waiting is given up, reads are cancelled, and a
        write that runs is finished. The id, if it is not given, is in the outcome.
        """
        keeper = self._keeper(run_id or uuid.uuid4().hex, Records())
        shell = self._shell(keeper, self._start(prompt, after, earlier), self._settings, None, stop)
        with shell.watched(prompt):
            shell.create()
            return await self._drive(shell, e.Started())

    async def resume(
        self,
        run_id: str,
        *,
        decisions: Sequence[PersonsAnswer] = (),
        stop: asyncio.Event | None = None,
    ) -> LoopOutcome:
        """Goes on with a stored run, wherever it stopped; the outcome of one that is over.

        Raises AnswerError, with nothing changed, when a decision fits no open question, and
        RunTakenError when another process works on the run.
        """
        if self._store is None:
            raise StoreError("a loop without a store has no runs to resume")
        keeper = self._keeper(run_id, Records())
        stored = self._store.acquire(keeper.lease)
        try:
            run, calls = snapshot.load(stored.state, self._settings)
            adapter = cast("StorableAdapter[ConversationT]", self._adapter)
            conversation, turn = _loaded(adapter, stored)
            keeper.records.load(stored.records)
            opened = None if calls is None else e.Calls(calls, turn)
            shell = self._shell(keeper, conversation, run, opened, stop)
            shell.answer(decisions)
        except BaseException:
            self._store.release(keeper.lease)
            raise
        if run.phase in OUTCOMES and run.phase != "paused":
            self._store.release(keeper.lease)
            return self._outcome(shell)
        with shell.watched():
            event = e.Started() if run.phase == "ready" else e.Resumed(opened)
            return await self._drive(shell, event)

    def conversation(self, run_id: str) -> ConversationT:
        """The conversation of a stored run, to go on with when the run is over. Raises
        RunTakenError when another process works on the run."""
        if self._store is None:
            raise StoreError("a loop without a store has no runs to read")
        lease = self._keeper(run_id, Records()).lease
        stored = self._store.acquire(lease)
        try:
            adapter = cast("StorableAdapter[ConversationT]", self._adapter)
            return _loaded(adapter, stored)[0]
        finally:
            self._store.release(lease)

    async def _drive(self, shell: Shell[ConversationT], event: e.Event) -> LoopOutcome:
        async with shell.keeper.held():
            await shell.drive(event)
        return self._outcome(shell)

    def _outcome(self, shell: Shell[ConversationT]) -> LoopOutcome:
        run = shell.run
        is_open = run.phase == "paused"
        return LoopOutcome(
            # Without anything left to do, the phase is an outcome.
            cast("State", run.phase),
            run.reason,
            run.text,
            run_id=shell.keeper.lease.run_id,
            rounds=run.rounds,
            tokens=run.tokens,
            cost=run.cost,
            elapsed=run.elapsed,
            calls=shell.keeper.records.all(),
            questions=shell.questions.open(self._clock.wall()) if is_open else (),
            conversation=shell.conversation,
        )

    def _keeper(self, run_id: str, records: Records) -> Keeper:
        return Keeper(self._store, Lease(run_id, new_owner()), records)

    def _shell(
        self,
        keeper: Keeper,
        conversation: ConversationT,
        run: Run,
        calls: e.Calls | None,
        stop: asyncio.Event | None,
    ) -> Shell[ConversationT]:
        records, clock = keeper.records, self._clock
        questions = Questions(keeper.lease.run_id, records, self._policy.approval_seconds)
        bench = Bench(records, self._tool_limits, clock, stop)
        return Shell(
            adapter=self._adapter,
            conversation=conversation,
            run=run,
            calls=calls,
            review=Review(self._tools, self._reviewing, records, questions, clock),
            executor=Executor(self._tools, bench),
            questions=questions,
            keeper=keeper,
            clock=clock,
            ask=self._ask,
            accept=self._accept,
            stop=stop,
            watch=watch(
                self._observe,
                model=self._model,
                tools=self._tools,
                questions=questions,
                clock=clock,
            ),
        )

    def _start(self, prompt: str, after: object, earlier: Sequence[Said]) -> ConversationT:
        offers = tuple(
            ToolOffer(name=tool.name, description=tool.description, parameters=tool.parameters)
            for tool in self._tools.values()
            if self._policy.offers(tool)
        )
        task = TaskInfo(
            prompt=prompt, tools=offers, tool_choice=self._tool_choice, earlier=tuple(earlier)
        )
        if after is None:
            return self._adapter.start(task)
        if not isinstance(self._adapter, FollowableAdapter):
            name = type(self._adapter).__name__
            raise TypeError(f"{name} has no follow(), so its conversations cannot go on")
        adapter = cast("FollowableAdapter[ConversationT]", self._adapter)
        return adapter.follow(cast("ConversationT", after), task)


def _loaded(
    adapter: StorableAdapter[ConversationT], stored: StoredRun
) -> tuple[ConversationT, object]:
    alone = stored.state.get("turn")
    try:
        conversation, turn = adapter.load(stored.conversation["adapter"])
        if alone is not None and isinstance(adapter, TurnStorableAdapter):
            turn = adapter.load_turn(alone)
        return conversation, turn
    except (KeyError, TypeError, ValueError) as error:
        message = f"{type(adapter).__name__} cannot read the stored conversation: {error!r}"
        raise StoreError(message) from error
