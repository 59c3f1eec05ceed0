"""The OpenAI Agents SDK's Runner over both of its OpenAI models.

Needs `loopcheck[openai-agents]`.
"""

from __future__ import annotations

import os

# Without this it posts traces to its vendor.
os.environ.setdefault("OPENAI_AGENTS_DISABLE_TRACING", "1")

from agents import (
    Agent,
    MaxTurnsExceeded,
    ModelRefusalError,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    Runner,
    function_tool,
)
from openai import AsyncOpenAI

from loopcheck.harness.target import loop
from loopcheck.harness.task import Outcome, Task, final


@loop(
    name="openai-agents",
    dialects=["responses", "chat"],
    can=["parallel", "limits", "validates"],
    ends={MaxTurnsExceeded: "limit", ModelRefusalError: "refused"},
    packages=["openai-agents", "openai"],
)
async def openai_agents(task: Task) -> Outcome:
    kind = OpenAIChatCompletionsModel if task.dialect == "chat" else OpenAIResponsesModel
    async with AsyncOpenAI(base_url=task.base_url, api_key=task.api_key) as client:
        agent = Agent(
            name="trial",
            tools=[function_tool(function) for function in task.tools],
            model=kind(model=task.model, openai_client=client),
        )
        turns = task.limits.rounds or 10
        if not task.stream:
            result = await Runner.run(agent, task.prompt, max_turns=turns)
            return final(str(result.final_output))
        streamed = Runner.run_streamed(agent, task.prompt, max_turns=turns)
        async for _ in streamed.stream_events():
            pass
        return final(str(streamed.final_output))
