"""The OpenAI SDK: the plain loop of its documentation, on its own stream helpers.

What the SDK hands over is what runs, so the findings are the helpers'. Needs `loopcheck[openai]`.
"""

from __future__ import annotations

import json
from typing import Any, Final

from openai import (
    AsyncOpenAI,
    ContentFilterFinishReasonError,
    LengthFinishReasonError,
    __version__,
)
from openai.lib.streaming.chat import ChatCompletionStreamState

from loopcheck.harness.target import loop
from loopcheck.harness.task import Outcome, Task, Tool, ended, final

# Before version 3 the stream helper refuses every tool that is not strict.
_HELPER_TAKES_ANY_TOOL: Final = int(__version__.partition(".")[0]) >= 3


@loop(
    name="openai-sdk",
    dialects=["responses", "chat"],
    can=["earlier", "parallel", "limits"],
    ends={LengthFinishReasonError: "failed", ContentFilterFinishReasonError: "refused"},
    packages=["openai"],
)
async def openai_sdk(task: Task) -> Outcome:
    async with AsyncOpenAI(base_url=task.base_url, api_key=task.api_key) as client:
        if task.dialect == "chat":
            return await _chat(client, task)
        return await _responses(client, task)


# The SDK's parameters are passed untyped: whichever version is installed is on trial.
async def _chat(client: AsyncOpenAI, task: Task) -> Outcome:
    messages: list[Any] = task.messages
    for _ in range(task.limits.rounds or 20):
        choice = (await _complete(client, task, messages)).choices[0]
        if choice.message.refusal:
            return ended("refused", "refused", text=choice.message.refusal)
        if choice.finish_reason in ("length", "content_filter"):
            return ended("failed", f"finish_reason {choice.finish_reason}")
        calls = choice.message.tool_calls or []
        if not calls:
            return final(choice.message.content)
        messages.append(
            {
                "role": "assistant",
                "content": choice.message.content,
                "tool_calls": [_replayed(call) for call in calls],
            }
        )
        for call in calls:
            text = await _execute(task, call.function.name, call.function.arguments, call.id)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": text})
    return ended("limit", "max_rounds")


def _replayed(call: Any) -> dict[str, object]:
    function = {"name": call.function.name, "arguments": call.function.arguments}
    return {"id": call.id, "type": "function", "function": function}


async def _complete(client: AsyncOpenAI, task: Task, messages: list[Any]) -> Any:
    request: dict[str, Any] = {"model": task.model, "messages": messages}
    if task.specs:
        request["tools"] = [{"type": "function", "function": _described(s)} for s in task.specs]
    if not task.stream:
        return await client.chat.completions.create(**request)
    if not _HELPER_TAKES_ANY_TOOL:
        return await _accumulated(client, request)
    async with client.chat.completions.stream(**request) as stream:
        return await stream.get_final_completion()


async def _accumulated(client: AsyncOpenAI, request: dict[str, Any]) -> Any:
    """What the helper accumulates, by what it accumulates with."""
    state: ChatCompletionStreamState[Any] = ChatCompletionStreamState()
    async with await client.chat.completions.create(**request, stream=True) as chunks:
        async for chunk in chunks:
            state.handle_chunk(chunk)
    return state.get_final_completion()


def _described(spec: Tool) -> dict[str, object]:
    return {
        "name": spec.name,
        "description": spec.description,
        "parameters": spec.parameters,
    }


async def _responses(client: AsyncOpenAI, task: Task) -> Outcome:
    items: list[Any] = task.messages
    for _ in range(task.limits.rounds or 20):
        response = await _respond(client, task, items)
        if response.status != "completed":
            return ended("failed", f"response {response.status}")
        refusal = _refusal(response)
        if refusal is not None:
            return ended("refused", "refused", text=refusal)
        items += [item.model_dump(exclude_none=True) for item in response.output]
        calls = [item for item in response.output if item.type == "function_call"]
        if not calls:
            return final(response.output_text)
        for call in calls:
            text = await _execute(task, call.name, call.arguments, call.call_id)
            items.append({"type": "function_call_output", "call_id": call.call_id, "output": text})
    return ended("limit", "max_rounds")


async def _respond(client: AsyncOpenAI, task: Task, items: list[Any]) -> Any:
    request: dict[str, Any] = {"model": task.model, "input": items}
    if task.specs:
        request["tools"] = [
            {"type": "function", "strict": False, **_described(spec)} for spec in task.specs
        ]
    if not task.stream:
        return await client.responses.create(**request)
    async with client.responses.stream(**request) as stream:
        return await stream.get_final_response()


def _refusal(response: Any) -> str | None:
    for item in response.output:
        for part in item.content if item.type == "message" else ():
            if part.type == "refusal":
                return str(part.refusal)
    return None


async def _execute(task: Task, name: str, arguments: str, call_id: str) -> str:
    """What the documentation's examples do: parse, call, and tell the model of any error."""
    spec = next((spec for spec in task.specs if spec.name == name), None)
    if spec is None:
        return f"error: unknown tool {name!r}"
    try:
        parsed = json.loads(arguments) if arguments else {}
        if not isinstance(parsed, dict):
            return "error: arguments are not an object"
        return await spec.acall(parsed, call_id=call_id)
    except Exception as error:
        return f"error: {error!r}"
