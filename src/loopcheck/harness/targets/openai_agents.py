"""The OpenAI Agents SDK's Runner over both of its OpenAI models.

Needs `loopcheck[openai-agents]`, of 0.8 or later, since which a run can be paused and resumed.
"""

from __future__ import annotations

import os

# Without this it posts traces to its vendor.
os.environ.setdefault("OPENAI_AGENTS_DISABLE_TRACING", "1")

import asyncio
import inspect
import json
from functools import partial
from typing import Any, Final

import agents
from agents import (
    Agent,
    FunctionTool,
    MaxTurnsExceeded,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    Runner,
    RunResult,
    RunResultStreaming,
    RunState,
    ToolApprovalItem,
    TResponseInputItem,
    UserError,
    function_tool,
)
from openai import AsyncOpenAI, DefaultAsyncHttpxClient

from loopcheck.harness.stop import Stop
from loopcheck.harness.target import loop
from loopcheck.harness.targets.certificates import certificates
from loopcheck.harness.targets.decided import is_gated, rulings
from loopcheck.harness.targets.file_session import FileSession
from loopcheck.harness.task import Message, Outcome, Pending, Task, Tool, ended, final, paused

# Unknown to early releases: a refusal is an answer like any other, and a denial says no reason.
_REFUSAL: Final = getattr(agents, "ModelRefusalError", None)
_TELLS_WHY: Final = "rejection_message" in inspect.signature(RunState.reject).parameters


@loop(
    name="openai-agents",
    dialects=["responses", "chat"],
    can=[
        "approval",
        "cancel",
        "earlier",
        "follow_up",
        "limits",
        "parallel",
        "server_state",
        "validates",
    ],
    ends={MaxTurnsExceeded: "limit", **({_REFUSAL: "refused"} if _REFUSAL else {})},
    packages=["openai-agents", "openai"],
)
async def openai_agents(task: Task) -> Outcome:
    kind = OpenAIChatCompletionsModel if task.dialect == "chat" else OpenAIResponsesModel
    async with AsyncOpenAI(
        base_url=task.base_url,
        api_key=task.api_key,
        http_client=DefaultAsyncHttpxClient(verify=certificates()),
    ) as client:
        agent = Agent(
            name="trial",
            tools=[_tool(spec) for spec in task.specs],
            model=kind(model=task.model, openai_client=client),
        )
        return await _run(agent, task)


def _tool(spec: Tool) -> FunctionTool:
    """The tool as the SDK makes it of a function: strict, unless it has objects of any kind, which
    strict schemas rule out."""
    made = partial(
        function_tool,
        spec.function,
        needs_approval=is_gated(spec),
        is_enabled=spec.approval != "disabled",
    )
    try:
        return made()
    except UserError:
        return made(strict_mode=False)


async def _run(agent: Agent[Any], task: Task) -> Outcome:
    session = FileSession(task.run, task.folder / "session.json")
    given: Any = task.prompt
    if task.resume is not None:
        given = await _decided(agent, task)
    elif task.state == "server":
        given = task.messages
    elif not task.follows:
        await session.add_items([_said(message) for message in task.earlier])
    how: dict[str, Any] = {"max_turns": task.limits.rounds or 10}
    how |= _stored(task) if task.state == "server" else {"session": session}
    if task.stream:
        return await _streamed(Runner.run_streamed(agent, given, **how), task)
    return _outcome(await task.stop.cancels(Runner.run(agent, given, **how)), task)


def _said(message: Message) -> TResponseInputItem:
    if message.role == "user":
        return {"role": "user", "content": message.text}
    return {"role": "assistant", "content": message.text}


def _stored(task: Task) -> dict[str, Any]:
    """What lets the service keep the conversation, and names the response that it went up to."""
    file = task.folder / "response.txt"
    latest = file.read_text(encoding="utf-8") if task.follows and file.exists() else None
    return {"auto_previous_response_id": True, "previous_response_id": latest}


async def _streamed(result: RunResultStreaming, task: Task) -> Outcome:
    stopping = asyncio.ensure_future(_cancelled(result, task.stop))
    try:
        async for _ in result.stream_events():
            pass
    finally:
        stopping.cancel()
    if task.stop.requested:
        return ended("cancelled", "cancelled_by_user")
    return _outcome(result, task)


async def _cancelled(result: RunResultStreaming, stop: Stop) -> None:
    await stop.event().wait()
    result.cancel()


def _outcome(result: RunResult | RunResultStreaming, task: Task) -> Outcome:
    """The final output, or what the run waits for, which is kept with its state."""
    file = task.folder / "state.json"
    if result.last_response_id is not None:
        (task.folder / "response.txt").write_text(result.last_response_id, encoding="utf-8")
    if not result.interruptions:
        file.unlink(missing_ok=True)
        return final(str(result.final_output))
    file.write_text(result.to_state().to_string(), encoding="utf-8")
    return paused(pending=[_pending(item) for item in result.interruptions], run=task.run)


def _pending(item: ToolApprovalItem) -> Pending:
    return Pending(
        call_id=item.call_id or "",
        tool=item.name or "",
        arguments=json.loads(item.arguments or "{}"),
    )


async def _decided(agent: Agent[Any], task: Task) -> RunState[Any]:
    """The state of the paused run with what people decided. What they approved with other
    arguments still waits: the SDK runs a call as it was asked, or not at all."""
    kept = (task.folder / "state.json").read_text(encoding="utf-8")
    state = await RunState.from_string(agent, kept)
    waiting = state.get_interruptions()
    asked = [_pending(item) for item in waiting]
    decisions = task.resume.decisions if task.resume is not None else ()
    for item, call, decision in zip(waiting, asked, rulings(asked, decisions), strict=True):
        if decision is None:
            continue
        if decision.decide == "deny":
            told = decision.reason if _TELLS_WHY else ""
            why: dict[str, Any] = {"rejection_message": told} if told else {}
            state.reject(item, **why)
        elif decision.arguments == call.arguments:
            state.approve(item)
    return state
