"""An honest loop in any protocol, cut into steps that a liar can do wrong."""

from __future__ import annotations

import json
from typing import Final

from jsonschema import Draft202012Validator

from loopcheck.fake_providers.wire import JsonObject
from loopcheck.harness.selftest import exchange
from loopcheck.harness.selftest.chat import Chat
from loopcheck.harness.selftest.exchange import ServiceFailure
from loopcheck.harness.selftest.messages import Messages
from loopcheck.harness.selftest.responses import Responses
from loopcheck.harness.selftest.voices import Call, Reply, Result, Voice
from loopcheck.harness.task import Outcome, Task, Tool, ended, final

_ROUNDS: Final = 12


class Loop:
    """One run of a task. Every step does the right thing; a liar overrides one of them."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.voice: Voice = _voice(task)
        self.history: list[JsonObject] = [{"role": "user", "content": task.prompt}]
        self.rounds = task.limits.rounds or _ROUNDS

    def run(self) -> Outcome:
        for _ in range(self.rounds):
            reply = self.ask()
            if reply is None:
                return ended("failed", "provider_failure")
            if reply.end == "refused":
                return ended("refused", "refused", text=reply.text)
            if reply.end == "cut":
                return ended("failed", "incomplete_response")
            if not reply.calls:
                return final(reply.text)
            self.carry(reply, self.results(reply.calls))
        return ended("limit", "max_rounds")

    def ask(self) -> Reply | None:
        """The model's reply; None where the service fails, too, the second time."""
        for _ in range(2):
            try:
                return self.request()
            except ServiceFailure:
                continue
        return None

    def request(self) -> Reply:
        url = self.task.base_url + self.voice.path
        headers = self.voice.headers(self.task.api_key)
        body = self.voice.body(self.task, self.history)
        if self.task.stream:
            return self.voice.reply(self.voice.assembled(exchange.events(url, headers, body)))
        return self.voice.reply(exchange.whole(url, headers, body))

    def results(self, calls: list[Call]) -> list[Result]:
        """The result of each call, in the order of the calls."""
        return [Result(call.call_id, self.execute(call)) for call in calls]

    def carry(self, reply: Reply, results: list[Result]) -> None:
        """Keeps the reply with its results for the next request."""
        self.history += self.voice.said(reply, reply.calls)
        self.history += self.voice.answers(results)

    def execute(self, call: Call) -> str:
        """What the tool said, or why it was not asked."""
        try:
            return self.enter(call.tool, self.arguments(call))
        except Exception as error:
            return f"Error: {error}"

    def arguments(self, call: Call) -> JsonObject:
        arguments: object = json.loads(call.arguments or "{}")
        if not isinstance(arguments, dict):
            raise TypeError("the arguments are no object")
        return arguments

    def enter(self, tool: str, arguments: JsonObject) -> str:
        spec = self.spec(tool)
        self.validate(spec, arguments)
        return spec.call(arguments)

    def spec(self, tool: str) -> Tool:
        spec = next((spec for spec in self.task.specs if spec.name == tool), None)
        if spec is None:
            raise LookupError(f"unknown tool {tool}")
        return spec

    def validate(self, spec: Tool, arguments: JsonObject) -> None:
        Draft202012Validator(spec.parameters).validate(arguments)


def _voice(task: Task) -> Voice:
    if task.dialect == "chat":
        return Chat()
    return Messages() if task.dialect == "messages" else Responses()
