"""A run of pydantic-ai's Agent from its prompt to its output, by what every release has."""

from __future__ import annotations

from typing import Any, Final

from pydantic_ai import Agent, UsageLimits
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    UserPromptPart,
)
from pydantic_ai.models import Model
from pydantic_ai.tools import Tool

from loopcheck.harness.targets.decided import offered
from loopcheck.harness.task import Outcome, Task, final

_ROUNDS: Final = 50


async def whole_run(model: Model, task: Task) -> Outcome:
    """The outcome of the task's agent, which nothing interrupts."""
    tools = [Tool(spec.function, takes_ctx=False) for spec in offered(task)]
    agent: Agent[None, str] = Agent(model, deps_type=type(None), tools=tools)
    given: dict[str, Any] = {
        "user_prompt": task.prompt,
        "message_history": earlier(task),
        "usage_limits": UsageLimits(request_limit=rounds(task)),
    }
    if not task.stream:
        return final((await agent.run(**given)).output)
    async with agent.run_stream(**given) as streamed:
        return final(await streamed.get_output())


def rounds(task: Task) -> int:
    """How often the model may be asked: the task's limit, else the framework's default."""
    return task.limits.rounds or _ROUNDS


def earlier(task: Task) -> list[ModelMessage]:
    """What was said before the task, which nobody has kept."""
    return [
        ModelRequest(parts=[UserPromptPart(message.text)])
        if message.role == "user"
        else ModelResponse(parts=[TextPart(message.text)])
        for message in task.earlier
    ]
