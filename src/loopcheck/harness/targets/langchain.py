"""LangChain's `create_agent` over its OpenAI and Anthropic chat models.

Needs `loopcheck[langchain]`.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

os.environ.setdefault("LANGSMITH_TRACING", "false")

from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langchain_core.language_models import BaseChatModel
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from openai import DefaultAsyncHttpxClient, DefaultHttpxClient
from pydantic import SecretStr

from loopcheck.harness.target import loop
from loopcheck.harness.targets.certificates import certificates
from loopcheck.harness.targets.decided import offered
from loopcheck.harness.targets.langgraph_thread import Thread, checkpoints, gate
from loopcheck.harness.task import Outcome, Task, ended, final, paused


@loop(
    name="langchain",
    dialects=["responses", "chat", "messages"],
    can=["approval", "cancel", "earlier", "follow_up", "input", "parallel", "resume", "validates"],
    packages=[
        "langchain",
        "langchain-core",
        "langchain-openai",
        "langchain-anthropic",
        "langgraph",
        "langgraph-checkpoint-sqlite",
        "openai",
        "anthropic",
    ],
)
async def langchain(task: Task) -> Outcome:
    return await task.stop.cancels(_run(task))


async def _run(task: Task) -> Outcome:
    specs = offered(task)
    async with _model(task) as model, checkpoints(task.folder) as saver:
        agent: Any = create_agent(
            model,
            tools=[tool(spec.function) for spec in specs],
            middleware=gate(specs),
            checkpointer=saver,
        )
        thread = Thread(agent, task)
        state = await thread.go()
        waiting = await thread.pending()
    if waiting:
        return paused(pending=waiting, run=task.run)
    message = state["messages"][-1]
    refusal = _refusal(message)
    return final(message.text) if refusal is None else ended("refused", "refused", text=refusal)


def _refusal(message: Any) -> str | None:
    """The refusal where the integrations put it: a keyword, a content block or a stop reason."""
    if message.additional_kwargs.get("refusal"):
        return str(message.additional_kwargs["refusal"])
    blocks = message.content if isinstance(message.content, list) else []
    for block in blocks:
        if isinstance(block, dict) and block.get("type") == "refusal":
            return str(block.get("refusal", ""))
    refused = message.response_metadata.get("stop_reason") == "refusal"
    return str(message.text) if refused else None


@asynccontextmanager
async def _model(task: Task) -> AsyncIterator[BaseChatModel]:
    if task.dialect == "messages":
        yield ChatAnthropic(
            model_name=task.model,
            base_url=task.base_url,
            api_key=SecretStr(task.api_key),
            streaming=task.stream,
            timeout=None,
            stop=None,
        )
        return
    with DefaultHttpxClient(verify=certificates()) as client:
        async with DefaultAsyncHttpxClient(verify=certificates()) as async_client:
            yield ChatOpenAI(
                model=task.model,
                base_url=task.base_url,
                api_key=SecretStr(task.api_key),
                streaming=task.stream,
                use_responses_api=task.dialect == "responses",
                http_client=client,
                http_async_client=async_client,
            )
