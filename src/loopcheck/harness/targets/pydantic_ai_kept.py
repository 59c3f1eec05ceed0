"""A run of pydantic-ai's Agent that is kept: people decide on its calls, it can be cancelled, and
its conversation goes on in a later task. Needs pydantic-ai 2.55 or later.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, TypeAlias

from pydantic_ai import (
    Agent,
    AgentRunResult,
    CancellationToken,
    DeferredToolRequests,
    DeferredToolResults,
    ToolApproved,
    ToolDenied,
    UsageLimits,
)
from pydantic_ai.conversation import Conversation, ConversationTypeAdapter
from pydantic_ai.exceptions import RunCancelled, ToolFailed
from pydantic_ai.messages import ToolCallPart, repair_messages
from pydantic_ai.models import Model
from pydantic_ai.result import StreamedRunResult
from pydantic_ai.tools import Tool, ToolDefinition
from pydantic_ai.toolsets import ExternalToolset

from loopcheck.harness.targets.decided import Decided, is_gated, offered
from loopcheck.harness.targets.pydantic_ai_run import earlier, rounds
from loopcheck.harness.task import Decision, Outcome, Pending, Task, ended, final, paused
from loopcheck.harness.task import Tool as Spec

_Run: TypeAlias = AgentRunResult[Any] | StreamedRunResult[None, Any] | RunCancelled
_CANCELLED: Final = ended("cancelled", "cancelled_by_user")


def _agent(model: Model, task: Task) -> Agent[None, Any]:
    specs = offered(task)
    tools = [
        Tool(spec.function, takes_ctx=False, requires_approval=spec.approval == "ask")
        for spec in specs
        if spec.kind != "ask"
    ]
    if not any(map(is_gated, specs)):
        return Agent(model, deps_type=type(None), tools=tools)
    answered = [_answered(spec) for spec in specs if spec.kind == "ask"]
    return Agent(
        model,
        deps_type=type(None),
        output_type=[str, DeferredToolRequests],
        tools=tools,
        toolsets=[ExternalToolset(answered)],
    )


def _answered(spec: Spec) -> ToolDefinition:
    """A tool whose result comes from outside: from the person who is asked."""
    schema = dict(spec.parameters)
    return ToolDefinition(
        name=spec.name, description=spec.description, parameters_json_schema=schema
    )


async def kept_run(model: Model, task: Task) -> Outcome:
    """The outcome of the task's agent, or what it waits for."""
    agent = _agent(model, task)
    file = task.folder / "conversation.json"
    if task.resume is None:
        before = _closed(_kept(file)) if task.follows else _earlier(task)
        return await _ended(agent, task, user_prompt=task.prompt, conversation=before)
    conversation = _kept(file)
    requests = conversation.deferred_tool_requests or DeferredToolRequests()
    waiting = _pending(requests)
    made = Decided(task.folder).about(waiting, task.resume.decisions)
    if task.stop.requested:
        return _CANCELLED
    if made is None:
        return paused(pending=waiting, run=task.run)
    results = _results(requests, made)
    return await _ended(agent, task, conversation=conversation, deferred_tool_results=results)


def _earlier(task: Task) -> Conversation | None:
    said = earlier(task)
    return Conversation(messages=said) if said else None


async def _ended(agent: Agent[None, Any], task: Task, **given: Any) -> Outcome:
    """Runs the agent, and keeps the conversation however that ends."""
    file = task.folder / "conversation.json"
    token = CancellationToken()
    task.stop.on_request(token.cancel)
    limits = UsageLimits(request_limit=rounds(task))
    given |= {"usage_limits": limits, "cancellation_token": token}
    try:
        result, output = await _result(agent, given, stream=task.stream)
    except RunCancelled as cancelled:
        _keep(file, cancelled, None)
        return _CANCELLED
    if isinstance(output, DeferredToolRequests):
        _keep(file, result, output)
        return paused(pending=_pending(output), run=task.run)
    _keep(file, result, None)
    return final(output)


async def _result(
    agent: Agent[None, Any], given: dict[str, Any], *, stream: bool
) -> tuple[_Run, Any]:
    """What holds the run's messages, and its output."""
    if not stream:
        result = await agent.run(**given)
        return result, result.output
    async with agent.run_stream(**given) as streamed:
        return streamed, await streamed.get_output()


def _keep(file: Path, run: _Run, requests: DeferredToolRequests | None) -> None:
    """Keeps the conversation for the next run of it."""
    conversation = Conversation(
        messages=run.all_messages(),
        usage=run.usage,
        conversation_id=run.conversation_id or "",
        deferred_tool_requests=requests,
    )
    file.write_bytes(ConversationTypeAdapter.dump_json(conversation))


def _kept(file: Path) -> Conversation:
    return ConversationTypeAdapter.validate_json(file.read_bytes())


def _closed(conversation: Conversation) -> Conversation:
    """The conversation as the user's next message may follow it: what was left without a result
    when it was cancelled or paused gets one that says so."""
    messages = repair_messages(conversation.messages)
    return replace(conversation, messages=messages, deferred_tool_requests=None)


def _pending(requests: DeferredToolRequests) -> tuple[Pending, ...]:
    """The calls that wait: those for an approval, then those for an answer."""
    return tuple(
        Pending(call_id=call.tool_call_id, tool=call.tool_name, arguments=call.args_as_dict())
        for call in (*requests.approvals, *requests.calls)
    )


def _results(requests: DeferredToolRequests, decisions: Sequence[Decision]) -> DeferredToolResults:
    calls = (*requests.approvals, *requests.calls)
    approvals: dict[str, bool | ToolApproved | ToolDenied] = {}
    answers: dict[str, Any] = {}
    for call, decision in zip(calls, decisions, strict=True):
        if decision.decide == "answer":
            answers[call.tool_call_id] = decision.value
        elif call in requests.calls:
            answers[call.tool_call_id] = ToolFailed(decision.reason or "Nobody answers this.")
        else:
            approvals[call.tool_call_id] = _approval(call, decision)
    return requests.build_results(approvals=approvals, calls=answers)


def _approval(call: ToolCallPart, decision: Decision) -> ToolApproved | ToolDenied:
    if decision.decide == "deny":
        return ToolDenied(decision.reason) if decision.reason else ToolDenied()
    if decision.arguments == call.args_as_dict():
        return ToolApproved()
    return ToolApproved(override_args=dict(decision.arguments))
