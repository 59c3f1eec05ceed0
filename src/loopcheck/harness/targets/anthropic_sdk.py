"""The Anthropic SDK's tool runner, with its defaults. Needs `loopcheck[anthropic]`."""

from __future__ import annotations

from typing import Any

from anthropic import AsyncAnthropic, beta_async_tool

from loopcheck.harness.target import loop
from loopcheck.harness.task import Outcome, Task, ended, final

_ENDS = {
    "max_tokens": "incomplete_response",
    "model_context_window_exceeded": "incomplete_response",
}


@loop(
    name="anthropic-sdk",
    dialects=["messages"],
    can=["earlier", "parallel", "limits", "validates"],
    packages=["anthropic"],
)
async def anthropic_sdk(task: Task) -> Outcome:
    as_tool: Any = beta_async_tool
    request: dict[str, Any] = {
        "model": task.model,
        "max_tokens": 1024,
        "messages": task.messages,
        "tools": [as_tool(function) for function in task.tools],
        "stream": task.stream,
    }
    if task.limits.rounds is not None:
        request["max_iterations"] = task.limits.rounds
    async with AsyncAnthropic(base_url=task.base_url, api_key=task.api_key) as client:
        runner: Any = client.beta.messages.tool_runner(**request)
        message: Any = None
        async for step in runner:
            message = await step.get_final_message() if task.stream else step
    return _outcome(message)


def _outcome(message: Any) -> Outcome:
    """Maps the last message's stop reason, as the documentation tells callers to."""
    text = "".join(block.text for block in message.content if block.type == "text")
    reason = message.stop_reason
    if reason == "end_turn":
        return final(text)
    if reason == "refusal":
        return ended("refused", "refused", text=text)
    if reason == "tool_use":
        return ended("limit", "max_rounds", text=text)
    return ended("failed", _ENDS.get(reason, f"stop_reason {reason}"), text=text)
