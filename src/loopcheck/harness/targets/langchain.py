"""LangChain's `create_agent` over its OpenAI and Anthropic chat models.

Needs `loopcheck[langchain]`.
"""

from __future__ import annotations

import os
from typing import Any

os.environ.setdefault("LANGSMITH_TRACING", "false")

from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langchain_core.language_models import BaseChatModel
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from loopcheck.harness.target import loop
from loopcheck.harness.task import Outcome, Task, ended, final


@loop(
    name="langchain",
    dialects=["responses", "chat", "messages"],
    can=["parallel", "validates"],
    packages=[
        "langchain",
        "langchain-core",
        "langchain-openai",
        "langchain-anthropic",
        "langgraph",
        "openai",
        "anthropic",
    ],
)
async def langchain(task: Task) -> Outcome:
    agent: Any = create_agent(_model(task), tools=[tool(function) for function in task.tools])
    state: Any = {"messages": [{"role": "user", "content": task.prompt}]}
    if not task.stream:
        state = await agent.ainvoke(state)
    else:
        async for mode, event in agent.astream(state, stream_mode=["messages", "values"]):
            if mode == "values":
                state = event
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


def _model(task: Task) -> BaseChatModel:
    if task.dialect == "messages":
        return ChatAnthropic(
            model_name=task.model,
            base_url=task.base_url,
            api_key=SecretStr(task.api_key),
            streaming=task.stream,
            timeout=None,
            stop=None,
        )
    return ChatOpenAI(
        model=task.model,
        base_url=task.base_url,
        api_key=SecretStr(task.api_key),
        streaming=task.stream,
        use_responses_api=task.dialect == "responses",
    )
