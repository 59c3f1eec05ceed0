"""What the official SDKs are asked and say, in the form in which their own examples do it."""

from __future__ import annotations

import json
import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal, Protocol

import httpx2
from anthropic import AsyncAnthropic
from openai import AsyncOpenAI

from loopcheck.harness.task import Task, Tool


@dataclass(slots=True)
class Use:
    """A call, as it is collected from the stream or read from the response."""

    id: str
    name: str
    arguments: str


@dataclass(slots=True)
class Answer:
    """One response: `items` are the SDK's own pieces of it, as they go back into the history."""

    text: str
    calls: list[Use]
    end: Literal["done", "refused", "cut"]
    items: list[Any] = field(default_factory=list)


Whole = Callable[[Use], None]


class Speaker(Protocol):
    """One SDK. `whole` is called with each call of a stream as soon as it is whole."""

    async def ask(self, tools: list[Tool], history: list[Any], whole: Whole) -> Answer: ...

    def said(self, answer: Answer) -> list[Any]:
        """The response as it goes into the history."""
        ...

    def told(self, results: list[tuple[str, str]]) -> list[Any]:
        """The results, each with the id of its call, as they go into the history."""
        ...

    async def close(self) -> None: ...


def speaker(task: Task) -> Speaker:
    """The SDK of the task's dialect."""
    http = httpx2.AsyncClient(verify=_tls(), trust_env=False)
    if task.dialect == "messages":
        return Messages(
            task,
            AsyncAnthropic(
                base_url=task.base_url, api_key=task.api_key, max_retries=0, http_client=http
            ),
        )
    client = AsyncOpenAI(
        base_url=task.base_url, api_key=task.api_key, max_retries=0, http_client=http
    )
    return Chat(task, client) if task.dialect == "chat" else Responses(task, client)


@cache
def _tls() -> ssl.SSLContext:
    return ssl.create_default_context()


class Chat:
    """chat.completions.create"""

    def __init__(self, task: Task, client: AsyncOpenAI) -> None:
        self.task = task
        self.client = client

    async def ask(self, tools: list[Tool], history: list[Any], whole: Whole) -> Answer:
        offered: Any = [
            {"type": "function", "function": {"name": tool.name, "parameters": tool.parameters}}
            for tool in tools
        ]
        create: Any = self.client.chat.completions.create
        made = await create(
            model=self.task.model, messages=history, tools=offered, stream=self.task.stream
        )
        if self.task.stream:
            async with made:
                return await self.collected(made, whole)
        choice = made.choices[0]
        calls = [
            Use(call.id, call.function.name, call.function.arguments)
            for call in choice.message.tool_calls or []
        ]
        refusal = choice.message.refusal
        return self.answer(choice.message.content or "", calls, choice.finish_reason, refusal)

    async def collected(self, stream: Any, whole: Whole) -> Answer:
        text, refusal, finish = "", "", None
        calls: dict[int, Use] = {}
        async for chunk in stream:
            for choice in chunk.choices:
                text += choice.delta.content or ""
                refusal += choice.delta.refusal or ""
                finish = choice.finish_reason or finish
                for piece in choice.delta.tool_calls or []:
                    call = calls.setdefault(piece.index, Use("", "", ""))
                    call.id += piece.id or ""
                    call.name += piece.function.name or ""
                    call.arguments += piece.function.arguments or ""
                    if _is_json(call.arguments):
                        whole(call)
        if finish is None:
            raise EOFError("the stream just ended")
        return self.answer(text, list(calls.values()), finish, refusal)

    def answer(
        self, text: str, calls: list[Use], finish: str | None, refusal: str | None
    ) -> Answer:
        if refusal:
            return Answer(refusal, calls, "refused")
        return Answer(text, calls, "done" if finish in ("stop", "tool_calls") else "cut")

    def said(self, answer: Answer) -> list[Any]:
        message: dict[str, Any] = {"role": "assistant", "content": answer.text or None}
        if answer.calls:
            message["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": call.arguments},
                }
                for call in answer.calls
            ]
        return [message]

    def told(self, results: list[tuple[str, str]]) -> list[Any]:
        return [
            {"role": "tool", "tool_call_id": call_id, "content": text} for call_id, text in results
        ]

    async def close(self) -> None:
        await self.client.close()


class Responses:
    """responses.create, with the output appended to the input"""

    def __init__(self, task: Task, client: AsyncOpenAI) -> None:
        self.task = task
        self.client = client

    async def ask(self, tools: list[Tool], history: list[Any], whole: Whole) -> Answer:
        offered: Any = [
            {"type": "function", "name": tool.name, "parameters": tool.parameters, "strict": False}
            for tool in tools
        ]
        create: Any = self.client.responses.create
        made = await create(
            model=self.task.model, input=history, tools=offered, stream=self.task.stream
        )
        if self.task.stream:
            async with made:
                return self.answer(await self.collected(made, whole))
        return self.answer(made)

    async def collected(self, stream: Any, whole: Whole) -> Any:
        async for event in stream:
            if event.type == "response.output_item.done" and event.item.type == "function_call":
                whole(Use(event.item.call_id, event.item.name, event.item.arguments))
            if event.type in ("response.completed", "response.incomplete", "response.failed"):
                return event.response
        raise EOFError("the stream just ended")

    def answer(self, response: Any) -> Answer:
        calls = [
            Use(item.call_id, item.name, item.arguments)
            for item in response.output
            if item.type == "function_call"
        ]
        parts = [part for item in response.output for part in getattr(item, "content", None) or []]
        refusal = "".join(part.refusal for part in parts if part.type == "refusal")
        if response.status == "failed":
            raise EOFError("the response failed")
        end: Any = "refused" if refusal else "done" if response.status == "completed" else "cut"
        items = [item.model_dump(exclude_none=True) for item in response.output]
        return Answer(refusal or response.output_text, calls, end, items)

    def said(self, answer: Answer) -> list[Any]:
        return answer.items

    def told(self, results: list[tuple[str, str]]) -> list[Any]:
        return [
            {"type": "function_call_output", "call_id": call_id, "output": text}
            for call_id, text in results
        ]

    async def close(self) -> None:
        await self.client.close()


class Messages:
    """messages.create and messages.stream, with the content appended as it came"""

    def __init__(self, task: Task, client: AsyncAnthropic) -> None:
        self.task = task
        self.client = client

    async def ask(self, tools: list[Tool], history: list[Any], whole: Whole) -> Answer:
        offered: Any = [{"name": tool.name, "input_schema": tool.parameters} for tool in tools]
        body: Any = {
            "model": self.task.model,
            "max_tokens": 4096,
            "messages": history,
            "tools": offered,
        }
        if not self.task.stream:
            return self.answer(await self.client.messages.create(**body))
        async with self.client.messages.stream(**body) as stream:
            async for event in stream:
                if event.type == "content_block_stop" and event.content_block.type == "tool_use":
                    whole(_use(event.content_block))
            return self.answer(await stream.get_final_message())

    def answer(self, message: Any) -> Answer:
        ends: Any = {"end_turn": "done", "tool_use": "done", "refusal": "refused"}
        return Answer(
            "".join(block.text for block in message.content if block.type == "text"),
            [_use(block) for block in message.content if block.type == "tool_use"],
            ends.get(message.stop_reason, "cut"),
            [block.model_dump(exclude_none=True) for block in message.content],
        )

    def said(self, answer: Answer) -> list[Any]:
        return [{"role": "assistant", "content": answer.items}]

    def told(self, results: list[tuple[str, str]]) -> list[Any]:
        content = [
            {"type": "tool_result", "tool_use_id": call_id, "content": text}
            for call_id, text in results
        ]
        return [{"role": "user", "content": content}]

    async def close(self) -> None:
        await self.client.close()


def _use(block: Any) -> Use:
    return Use(block.id, block.name, json.dumps(block.input))


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
