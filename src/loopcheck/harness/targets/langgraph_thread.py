"""A LangGraph thread that outlives its process: checkpoints in SQLite, and its interrupts."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import aiosqlite
from langchain.agents.middleware import AgentMiddleware, HumanInTheLoopMiddleware
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.types import Command

from loopcheck.harness.targets.decided import Decided, answer_text, is_gated
from loopcheck.harness.task import Decision, Pending, Task, Tool

_APPROVALS: Final = ["approve", "edit", "reject"]
_ANSWERS: Final = ["respond", "reject"]


@asynccontextmanager
async def checkpoints(folder: Path) -> AsyncIterator[AsyncSqliteSaver]:
    """The run's checkpoints, in its folder."""
    async with aiosqlite.connect(folder / "checkpoints.sqlite") as connection:
        # What was written survives the process all the same; only a machine's death loses it.
        await connection.execute("PRAGMA synchronous = OFF")
        yield AsyncSqliteSaver(connection)


def gate(specs: Iterable[Tool]) -> list[AgentMiddleware[Any, Any]]:
    """The middleware that asks a person, where a tool wants one."""
    asking: dict[str, Any] = {
        spec.name: {"allowed_decisions": _ANSWERS if spec.kind == "ask" else _APPROVALS}
        for spec in specs
        if is_gated(spec)
    }
    return [HumanInTheLoopMiddleware(interrupt_on=asking)] if asking else []


class Thread:
    """The thread of a task's run on an agent with a checkpointer."""

    def __init__(self, agent: Any, task: Task) -> None:
        self._agent = agent
        self._task = task
        self._gated = {spec.name for spec in task.specs if is_gated(spec)}
        self._config: Any = {"configurable": {"thread_id": task.run}}

    async def state(self) -> Any:
        """Where the thread stands."""
        return await self._agent.aget_state(self._config)

    async def pending(self) -> tuple[Pending, ...]:
        """The calls that wait for a person."""
        return self._pending_in(await self.state()) if self._gated else ()

    async def go(self) -> Any:
        """Goes on from the last checkpoint, or with the user's message. Returns the state's
        values; None while decisions are missing."""
        said: Any = {"messages": self._task.messages}
        if self._task.resume is None:
            return await self._through(said)
        standing = await self.state()
        if standing.created_at is None:  # it died before anything was on record
            return await self._through(said)
        pending = self._pending_in(standing)
        if pending:
            made = Decided(self._task.folder).about(pending, self._task.resume.decisions)
            return None if made is None else await self._through(_answer(pending, made))
        return await self._through(None) if standing.next else standing.values

    async def _through(self, given: Any) -> Any:
        # Else a step begins while the checkpoint before it is still being written.
        how: Any = {"config": self._config, "durability": "sync"}
        if not self._task.stream:
            return await self._agent.ainvoke(given, **how)
        values: Any = None
        modes = ["messages", "values"]
        async for mode, event in self._agent.astream(given, stream_mode=modes, **how):
            if mode == "values":
                values = event
        return values

    def _pending_in(self, standing: Any) -> tuple[Pending, ...]:
        """The calls of an interrupt, which names no ids: they are those of the gated tools in the
        last message, in its order."""
        if not standing.interrupts:
            return ()
        asked = standing.interrupts[0].value["action_requests"]
        calls = [c for c in standing.values["messages"][-1].tool_calls if c["name"] in self._gated]
        return tuple(
            Pending(call_id=str(call["id"]), tool=request["name"], arguments=request["args"])
            for request, call in zip(asked, calls, strict=True)
        )


def _answer(pending: Sequence[Pending], decisions: Sequence[Decision]) -> Command[Any]:
    made = [_decision(call, one) for call, one in zip(pending, decisions, strict=True)]
    return Command(resume={"decisions": made})


def _decision(call: Pending, decision: Decision) -> dict[str, Any]:
    if decision.decide == "answer":
        return {"type": "respond", "message": answer_text(decision.value)}
    if decision.decide == "deny":
        reason = {"message": decision.reason} if decision.reason else {}
        return {"type": "reject", **reason}
    if decision.arguments == call.arguments:
        return {"type": "approve"}
    edited = {"name": call.tool, "args": decision.arguments}
    return {"type": "edit", "edited_action": edited}
