"""Loops that hold several conversations at the same time, on the OpenAI SDK."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection
from typing import Any

from openai import AsyncOpenAI, BadRequestError

from loopcheck import Outcome, Task, ended, final, loop


class _Talk:
    """One conversation of a task."""

    def __init__(
        self, task: Task, client: AsyncOpenAI, model: str, tools: Collection[str] | None = None
    ) -> None:
        self._specs = [spec for spec in task.specs if tools is None or spec.name in tools]
        self._client = client
        self._model = model
        self.messages: list[Any] = list(task.messages)

    async def ask(self) -> Any:
        """The model's next message, which stands in the conversation from now on."""
        functions = [{"name": s.name, "parameters": s.parameters} for s in self._specs]
        tools: list[Any] = [{"type": "function", "function": one} for one in functions]
        completion = await self._client.chat.completions.create(
            model=self._model, messages=self.messages, tools=tools
        )
        message = completion.choices[0].message
        self.messages.append(message.model_dump(exclude_none=True))
        return message

    async def answer(self, message: Any) -> None:
        """Carries the calls of the message out, all at the same time."""
        calls = message.tool_calls or []
        texts = await asyncio.gather(*(self._carried_out(call) for call in calls))
        for call, text in zip(calls, texts, strict=True):
            self.messages.append({"role": "tool", "tool_call_id": call.id, "content": text})

    async def _carried_out(self, call: Any) -> str:
        spec = next(spec for spec in self._specs if spec.name == call.function.name)
        return await spec.acall(json.loads(call.function.arguments), call_id=call.id)

    async def go(self) -> str:
        """The final answer."""
        while (message := await self.ask()).tool_calls:
            await self.answer(message)
        return str(message.content)


@loop(dialects=["chat"], modes=["whole"], can=["lanes", "parallel"])
async def in_lanes(task: Task) -> Outcome:
    """Holds every conversation that the task names, and the one without a name."""
    async with AsyncOpenAI(base_url=task.base_url, api_key=task.api_key) as client:
        talks = [_Talk(task, client, task.model)]
        talks += [_Talk(task, client, lane.model or task.model, lane.tools) for lane in task.lanes]
        first, *_ = await asyncio.gather(*(talk.go() for talk in talks))
    return final(first)


@loop(dialects=["chat"], modes=["whole"], can=["lanes", "parallel"])
async def mixing(task: Task) -> Outcome:
    """Lets the conversation that ends last see what was said in the others."""
    async with AsyncOpenAI(base_url=task.base_url, api_key=task.api_key) as client:
        talks = [_Talk(task, client, lane.model or task.model, lane.tools) for lane in task.lanes]
        if not talks:
            return final(await _Talk(task, client, task.model).go())
        one, other = talks
        first, second = await asyncio.gather(one.ask(), other.ask())
        await asyncio.gather(one.answer(first), other.answer(second))
        other.messages += one.messages[1:]
        await one.go()
        return final(await other.go())


@loop(dialects=["chat"], modes=["whole"], can=["parallel"])
async def two_at_once(task: Task) -> Outcome:
    """Does the task twice at the same time, which nobody has asked for."""
    async with AsyncOpenAI(base_url=task.base_url, api_key=task.api_key) as client:
        talks = [_Talk(task, client, task.model) for _ in range(2)]
        try:
            asked = [await talk.ask() for talk in talks]
            for talk, message in zip(talks, asked, strict=True):
                await talk.answer(message)
                await talk.ask()
        except BadRequestError as error:
            return ended("failed", type(error).__name__)
    return final("Done twice.")
