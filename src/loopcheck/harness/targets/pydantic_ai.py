"""pydantic-ai's Agent over its OpenAI and Anthropic models. Needs `loopcheck[pydantic-ai]`."""

from __future__ import annotations

from anthropic import AsyncAnthropic
from openai import AsyncOpenAI
from pydantic_ai import Agent, UsageLimits
from pydantic_ai.exceptions import (
    ContentFilterError,
    UnexpectedModelBehavior,
    UsageLimitExceeded,
)
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.settings import ModelSettings

from loopcheck.harness.target import loop
from loopcheck.harness.task import Outcome, Task, final


@loop(
    name="pydantic-ai",
    dialects=["responses", "chat", "messages"],
    can=["parallel", "limits", "validates"],
    ends={
        UsageLimitExceeded: "limit",
        ContentFilterError: "refused",
        UnexpectedModelBehavior: "failed",
    },
    packages=["pydantic-ai-slim", "openai", "anthropic"],
)
async def pydantic_ai(task: Task) -> Outcome:
    if task.dialect == "messages":
        async with AsyncAnthropic(base_url=task.base_url, api_key=task.api_key) as client:
            provider = AnthropicProvider(anthropic_client=client)
            # Without a limit of its own it streams even where a whole response is asked for.
            model = AnthropicModel(
                task.model, provider=provider, settings=ModelSettings(max_tokens=1024)
            )
            return await _run(Agent(model), task)
    kind = OpenAIChatModel if task.dialect == "chat" else OpenAIResponsesModel
    async with AsyncOpenAI(base_url=task.base_url, api_key=task.api_key) as openai_client:
        openai_model = kind(task.model, provider=OpenAIProvider(openai_client=openai_client))
        return await _run(Agent(openai_model), task)


async def _run(agent: Agent[None, str], task: Task) -> Outcome:
    for function in task.tools:
        agent.tool_plain(function)
    limits = UsageLimits(request_limit=task.limits.rounds or 50)
    if not task.stream:
        return final((await agent.run(task.prompt, usage_limits=limits)).output)
    async with agent.run_stream(task.prompt, usage_limits=limits) as run:
        return final(await run.get_output())
