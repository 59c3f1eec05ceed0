"""A plain honest loop over raw Chat Completions, cut into steps that a liar can do wrong."""

from __future__ import annotations

import json
from typing import Any

from openai import APIError, OpenAI

from loopcheck.harness.task import Outcome, Task, ended, final


class ChatLoop:
    """One run of a task. Every step does the right thing; a liar overrides one of them."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.messages: list[Any] = [{"role": "user", "content": task.prompt}]
        self.rounds = task.limits.rounds or 12

    def run(self) -> Outcome:
        with OpenAI(
            base_url=self.task.base_url, api_key=self.task.api_key, max_retries=0
        ) as client:
            for _ in range(self.rounds):
                choice = self.ask(client)
                if choice is None:
                    return ended("failed", "provider_failure")
                calls = choice.message.tool_calls or []
                if not self.is_whole(choice):
                    return ended("failed", f"finish_reason {choice.finish_reason}")
                if not calls:
                    return final(choice.message.content)
                self.carry(choice.message, calls)
        return ended("limit", "max_rounds")

    def ask(self, client: OpenAI) -> Any:
        """The model's choice; None where the service fails, too, the second time."""
        for _ in range(2):
            try:
                return self.request(client).choices[0]
            except APIError:
                continue
        return None

    def request(self, client: OpenAI) -> Any:
        tools: Any = [
            {
                "type": "function",
                "function": {"name": spec.name, "parameters": spec.parameters},
            }
            for spec in self.task.specs
        ]
        return client.chat.completions.create(
            model=self.task.model, messages=self.messages, tools=tools
        )

    def is_whole(self, choice: Any) -> bool:
        return choice.finish_reason in ("stop", "tool_calls") and not choice.message.refusal

    def carry(self, message: Any, calls: list[Any]) -> None:
        """Runs the calls and keeps them, with their results, for the next request."""
        results = self.results(calls)
        self.messages.append(
            {
                "role": "assistant",
                "content": message.content,
                "tool_calls": [self.call(call) for call in calls],
            }
        )
        self.messages += results

    def call(self, call: Any) -> dict[str, object]:
        function = {"name": call.function.name, "arguments": call.function.arguments}
        return {"id": call.id, "type": "function", "function": function}

    def results(self, calls: list[Any]) -> list[dict[str, object]]:
        return [
            {"role": "tool", "tool_call_id": call.id, "content": self.execute(call)}
            for call in calls
        ]

    def execute(self, call: Any) -> str:
        try:
            return self.enter(call.function.name, self.arguments(call))
        except Exception as error:
            return f"Error: {error}"

    def arguments(self, call: Any) -> dict[str, object]:
        arguments = json.loads(call.function.arguments or "{}")
        if not isinstance(arguments, dict):
            raise TypeError("the arguments are no object")
        return arguments

    def enter(self, tool: str, arguments: dict[str, object]) -> str:
        spec = next((spec for spec in self.task.specs if spec.name == tool), None)
        if spec is None:
            raise LookupError(f"unknown tool {tool}")
        return spec.call(arguments)
