"""The shell around the machine: it carries out actions, and hands back what came of them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Generic, cast

from loopcheck.reference_loop import events as e
from loopcheck.reference_loop.adapters.interface import (
    ConversationT,
    ProviderAdapter,
    TaskInfo,
    ToolOffer,
)
from loopcheck.reference_loop.executor import Executor
from loopcheck.reference_loop.limits import Limits, Retries
from loopcheck.reference_loop.machine import Run, State, step
from loopcheck.reference_loop.tools import LoopTool, catalogue


@dataclass(frozen=True, slots=True)
class LoopOutcome:
    """How a run ended. `text` is the answer, the refusal, or what the provider's failure was."""

    state: State
    reason: str
    text: str


class ReferenceLoop(Generic[ConversationT]):
    """Lets a model work on a task with tools until it answers or the run has to end.

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
        tool_choice: str = "auto",
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._adapter = adapter
        self._tools = tuple(catalogue(tools).values())
        self._limits = limits or Limits()
        self._retries = retries or Retries()
        self._tool_choice = tool_choice
        self._sleep = sleep

    async def run(self, prompt: str, *, stop: asyncio.Event | None = None) -> LoopOutcome:
        """Works on one task. Once `stop` is set nothing new begins; what runs is finished."""
        shell = _Shell(self._adapter, self._start(prompt), Executor(self._tools), self._sleep)
        clock = asyncio.get_running_loop()
        seconds = self._limits.seconds
        deadline = None if seconds is None else clock.time() + seconds
        run, action = step(Run(limits=self._limits, retries=self._retries), e.Started())
        while action is not None:
            if stop is not None and stop.is_set() and not isinstance(action, e.SaveResults):
                event: e.Event = e.Cancelled()
            else:
                event = await shell.perform(action, deadline)
            run, action = step(run, event)
        # Without anything left to do, the phase is an outcome.
        return LoopOutcome(cast("State", run.phase), run.reason, run.text)

    def _start(self, prompt: str) -> ConversationT:
        offers = tuple(
            ToolOffer(name=tool.name, description=tool.description, parameters=tool.parameters)
            for tool in self._tools
        )
        return self._adapter.start(
            TaskInfo(prompt=prompt, tools=offers, tool_choice=self._tool_choice)
        )


@dataclass(slots=True)
class _Shell(Generic[ConversationT]):
    adapter: ProviderAdapter[ConversationT]
    conversation: ConversationT
    executor: Executor
    sleep: Callable[[float], Awaitable[None]]

    async def perform(self, action: e.Action, deadline: float | None) -> e.Event:
        match action:
            case e.RequestModel(after_seconds):
                return await self._request(after_seconds, deadline)
            case e.ExecuteTools(calls):
                return e.ToolsFinished(calls, await self.executor.answer(calls.calls))
        self.conversation = self.adapter.append(self.conversation, action.calls, action.results)
        return e.ResultsSaved()

    async def _request(self, after_seconds: float, deadline: float | None) -> e.Event:
        scope = asyncio.timeout_at(deadline)
        try:
            async with scope:
                if after_seconds:
                    await self.sleep(after_seconds)
                return await self.adapter.request(self.conversation)
        except TimeoutError:
            if not scope.expired():
                raise
            return e.TimeUp()
