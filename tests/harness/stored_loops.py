"""Loops that let the service keep the conversation, and one that sends it again all the same."""

from __future__ import annotations

import json
from typing import Any

from anthropic import AsyncAnthropic
from openai import AsyncOpenAI

from loopcheck import Outcome, Task, final, loop


def _tools(task: Task) -> list[Any]:
    return [
        {"type": "function", "strict": False, "name": s.name, "parameters": s.parameters}
        for s in task.specs
    ]


async def _results(task: Task, response: Any) -> list[Any]:
    calls = [item for item in response.output if item.type == "function_call"]
    return [
        {
            "type": "function_call_output",
            "call_id": call.call_id,
            "output": await _result(task, call.name, json.loads(call.arguments), call.call_id),
        }
        for call in calls
    ]


async def _result(task: Task, name: str, arguments: dict[str, object], call_id: str) -> str:
    spec = next(spec for spec in task.specs if spec.name == name)
    return await spec.acall(arguments, call_id=call_id)


@loop(dialects=["responses"], modes=["whole"], can=["earlier", "server_state"])
async def by_previous_response(task: Task) -> Outcome:
    """Names the response that it goes on from."""
    async with AsyncOpenAI(base_url=task.base_url, api_key=task.api_key) as client:
        given: list[Any] = task.messages
        latest: dict[str, Any] = {}
        while True:
            response = await client.responses.create(
                model=task.model, input=given, tools=_tools(task), **latest
            )
            given = await _results(task, response)
            latest = {"previous_response_id": response.id}
            if not given:
                return final(response.output_text)


@loop(dialects=["responses"], modes=["whole"], can=["earlier", "server_state"])
async def by_conversation(task: Task) -> Outcome:
    """Keeps a conversation object at the service."""
    async with AsyncOpenAI(base_url=task.base_url, api_key=task.api_key) as client:
        kept = await client.conversations.create()
        given: list[Any] = task.messages
        while True:
            response = await client.responses.create(
                model=task.model, input=given, tools=_tools(task), conversation=kept.id
            )
            given = await _results(task, response)
            if not given:
                return final(response.output_text)


@loop(dialects=["messages"], modes=["whole"], can=["earlier", "server_state"])
async def by_thread(task: Task) -> Outcome:
    """Keeps a thread of messages at the service."""
    tools: list[Any] = [{"name": s.name, "input_schema": s.parameters} for s in task.specs]
    async with AsyncAnthropic(base_url=task.base_url, api_key=task.api_key) as client:
        given: list[Any] = task.messages
        thread: dict[str, object] = {"type": "create"}
        while True:
            message = await client.messages.create(
                model=task.model,
                max_tokens=1024,
                messages=given,
                tools=tools,
                extra_body={"thread": thread},
            )
            thread = {"type": "continue", "previous_message_id": message.id}
            calls = [block for block in message.content if block.type == "tool_use"]
            if not calls:
                return final("".join(b.text for b in message.content if b.type == "text"))
            blocks = [
                {
                    "type": "tool_result",
                    "tool_use_id": call.id,
                    "content": await _result(task, call.name, dict(call.input), call.id),
                }
                for call in calls
            ]
            given = [{"role": "user", "content": blocks}]


@loop(dialects=["responses"], modes=["whole"], can=["server_state"])
async def on_the_client(task: Task) -> Outcome:
    """Claims to leave the conversation to the service, and sends all of it each time."""
    async with AsyncOpenAI(base_url=task.base_url, api_key=task.api_key) as client:
        given: list[Any] = task.messages
        while True:
            response = await client.responses.create(
                model=task.model, input=given, tools=_tools(task)
            )
            results = await _results(task, response)
            given += [item.model_dump(exclude_none=True) for item in response.output]
            given += results
            if not results:
                return final(response.output_text)
