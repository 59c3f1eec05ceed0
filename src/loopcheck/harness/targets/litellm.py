"""LiteLLM as the provider adapter, with the reference loop around it.

What LiteLLM hands over as a message is what the loop believes, so the findings are LiteLLM's:
its translation between protocols, and its `stream_chunk_builder`. Needs `loopcheck[litellm]`.

LiteLLM's own retries are off, and the loop repeats requests by its policy. Left alone, LiteLLM
repeats a request where an SDK below it does (twice on chat) and nowhere else, which would say
more about which dialect has an SDK than about LiteLLM.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # else the import asks the network

import litellm as client
from openai import OpenAIError

from loopcheck.fake_providers.script import DIALECTS
from loopcheck.harness.target import adapter
from loopcheck.harness.task import Task
from loopcheck.reference_loop import (
    CallResult,
    Calls,
    Failed,
    Final,
    Incomplete,
    ProposedCall,
    ProviderAdapter,
    Refused,
    Reply,
    TaskInfo,
)
from loopcheck.reference_loop.adapters import failures
from loopcheck.reference_loop.adapters.usage import chat_usage

client.suppress_debug_info = True

_PREFIXES = {"chat": "openai", "responses": "openai/responses", "messages": "anthropic"}


@dataclass(frozen=True, slots=True)
class LiteLLMAdapter:
    """Speaks what LiteLLM calls the OpenAI format; the task's dialect is LiteLLM's to speak."""

    task: Task

    def start(self, task: TaskInfo) -> dict[str, Any]:
        messages = [{"role": said.role, "content": said.text} for said in task.earlier]
        messages.append({"role": "user", "content": task.prompt})
        request: dict[str, Any] = {"messages": messages}
        if task.tools:
            request["tools"] = [
                {
                    "type": "function",
                    "function": {
                        "name": tool.name,
                        "description": tool.description,
                        "parameters": dict(tool.parameters),
                    },
                }
                for tool in task.tools
            ]
            request["tool_choice"] = _choice(task.tool_choice)
        return request

    async def request(self, conversation: dict[str, Any]) -> Reply:
        began = False
        try:
            response = await self._ask(conversation)
            began = True
            if self.task.stream:
                chunks = [chunk async for chunk in response]
                response = client.stream_chunk_builder(chunks, messages=conversation["messages"])
        except OpenAIError as error:  # every exception of LiteLLM is one of OpenAI's
            return failures.inside_stream(error) if began else failures.before_stream(error)
        return _reply(response)

    async def _ask(self, conversation: dict[str, Any]) -> Any:
        return await client.acompletion(
            model=f"{_PREFIXES[self.task.dialect]}/{self.task.model}",
            api_base=self.task.base_url,
            api_key=self.task.api_key,
            stream=self.task.stream,
            max_tokens=4096,
            max_retries=0,
            num_retries=0,
            **conversation,
        )

    def append(
        self, conversation: dict[str, Any], calls: Calls, results: Sequence[CallResult]
    ) -> dict[str, Any]:
        answers = [
            {"role": "tool", "tool_call_id": result.call_id, "content": result.text}
            for result in results
        ]
        messages = [*conversation["messages"], calls.turn, *answers]
        choice = {"tool_choice": "auto"} if conversation.get("tool_choice") != "none" else {}
        return {**conversation, "messages": messages, **(choice if "tools" in conversation else {})}


def _choice(word: str) -> object:
    if word in ("auto", "required", "none"):
        return word
    return {"type": "function", "function": {"name": word}}


def _reply(response: Any) -> Reply:
    if response is None or not response.choices:
        return Failed("LiteLLM made no response of the stream", retryable=True)
    choice = response.choices[0]
    message = choice.message
    usage = chat_usage(getattr(response, "usage", None))
    refusal = getattr(message, "refusal", None)
    if refusal:
        return Refused(refusal, usage=usage)
    if choice.finish_reason in ("length", "content_filter"):
        return Incomplete(choice.finish_reason, usage=usage)
    if not message.tool_calls:
        text = message.content
        return Final(text, usage=usage) if text else Incomplete("empty", usage=usage)
    if any(getattr(call, "function", None) is None for call in message.tool_calls):
        return Failed("a call is no function call", retryable=False, usage=usage)
    calls = tuple(
        ProposedCall(
            call_id=call.id,
            name=call.function.name or "",
            arguments_text=call.function.arguments or "",
        )
        for call in message.tool_calls
    )
    return Calls(calls, message.model_dump(exclude_none=True), usage=usage)


@adapter(name="litellm", dialects=DIALECTS, can=["earlier"], packages=["litellm", "openai"])
def litellm(task: Task) -> ProviderAdapter[dict[str, Any]]:
    return LiteLLMAdapter(task)
