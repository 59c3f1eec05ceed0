"""An honest loop in any protocol, cut into steps that a liar can do wrong."""

from __future__ import annotations

import json
from typing import Final

from jsonschema import Draft202012Validator

from loopcheck.fake_providers.wire import JsonObject
from loopcheck.harness.selftest import exchange, memory
from loopcheck.harness.selftest.chat import Chat
from loopcheck.harness.selftest.exchange import ServiceFailure
from loopcheck.harness.selftest.memory import Kept
from loopcheck.harness.selftest.messages import Messages
from loopcheck.harness.selftest.responses import Responses
from loopcheck.harness.selftest.voices import Call, Reply, Result, Voice
from loopcheck.harness.task import Decision, Outcome, Pending, Task, Tool, ended, final, paused

_ROUNDS: Final = 12


class Loop:
    """One run of a task. Every step does the right thing; a liar overrides one of them."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.voice: Voice = _voice(task)
        self.history: list[JsonObject] = [{"role": "user", "content": task.prompt}]
        self.rounds = task.limits.rounds or _ROUNDS
        self.decided: list[Decision] = []

    def run(self) -> Outcome:
        reply = None if self.task.resume is None else self.recall(self.task.resume.decisions)
        for _ in range(self.rounds):
            if not self.may_ask():
                return ended("cancelled", "cancelled_by_user")
            outcome = self.step(reply or self.ask())
            if outcome is not None:
                return outcome
            reply = None
        return ended("limit", "max_rounds")

    def may_ask(self) -> bool:
        """Whether the user still wants another reply of the model."""
        return not self.task.stop.requested

    def may_run(self) -> bool:
        """Whether the user still wants another tool to be run."""
        return not self.task.stop.requested

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

    def step(self, reply: Reply | None) -> Outcome | None:
        """Does what a reply asks for; how the run ends with it, None where it goes on."""
        if reply is None:
            return ended("failed", "provider_failure")
        if reply.end == "refused":
            return ended("refused", "refused", text=reply.text)
        if reply.end == "cut":
            return ended("failed", "incomplete_response")
        if reply.end == "paused":
            self.history += self.voice.said(reply, reply.calls)
            return None
        if not reply.calls:
            return final(reply.text)
        waiting = self.waiting(reply.calls)
        if waiting:
            return self.pause(reply, waiting)
        self.carry(reply, self.results(reply.calls))
        return None

    def waiting(self, calls: list[Call]) -> list[Call]:
        """The calls that a person has yet to decide about; none of the others runs before."""
        asked = {spec.name for spec in self.task.specs if spec.approval == "ask"}
        return [call for call in calls if call.tool in asked and self.decision(call) is None]

    def decision(self, call: Call) -> Decision | None:
        """What a person said of this call."""
        return next((one for one in self.decided if one.call_id == call.call_id), None)

    def pause(self, reply: Reply, waiting: list[Call]) -> Outcome:
        memory.keep(self.task.folder, Kept(self.history, reply, self.decided))
        return paused(pending=[self.pending(call) for call in waiting])

    def pending(self, call: Call) -> Pending:
        """A call as a person is asked about it."""
        return Pending(call_id=call.call_id, tool=call.tool, arguments=self.arguments(call))

    def recall(self, decisions: tuple[Decision, ...]) -> Reply | None:
        """The reply that the run paused at, now that a person has decided."""
        kept = memory.recall(self.task.folder, decisions)
        if kept is None:
            return None
        self.history, self.decided = kept.history, kept.decided
        return kept.reply

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
            if not self.may_run():
                raise InterruptedError("the user wants no more")
            return self.enter(call.tool, self.granted(call))
        except Exception as error:
            return f"Error: {error}"

    def granted(self, call: Call) -> JsonObject:
        """The arguments with which the call may run. Raises PermissionError."""
        decision = self.decision(call)
        if decision is None:
            return self.arguments(call)
        if decision.decide != "approve":
            raise PermissionError("denied by a person")
        return decision.arguments

    def arguments(self, call: Call) -> JsonObject:
        arguments: object = json.loads(call.arguments or "{}")
        if not isinstance(arguments, dict):
            raise TypeError("the arguments are no object")
        return arguments

    def enter(self, tool: str, arguments: JsonObject) -> str:
        spec = self.spec(tool)
        self.validate(spec, arguments)
        if spec.kind != "write" or spec.look_up is None:
            return spec.call(arguments)
        operation = self.operation(spec, arguments)
        known = spec.look_up(operation)
        if known.get("status") == "found":
            return str(known.get("result"))
        return spec.call(arguments, operation_id=operation)

    def spec(self, tool: str) -> Tool:
        spec = next((spec for spec in self.task.specs if spec.name == tool), None)
        if spec is None:
            raise LookupError(f"unknown tool {tool}")
        if spec.approval == "disabled":
            raise PermissionError(f"{tool} is disabled")
        return spec

    def validate(self, spec: Tool, arguments: JsonObject) -> None:
        Draft202012Validator(spec.parameters).validate(arguments)

    def operation(self, spec: Tool, arguments: JsonObject) -> str:
        """The id of what is to be done, which stays the same however often it is asked for."""
        key = spec.operation or tuple(sorted(arguments))
        return json.dumps([self.task.run, spec.name, [arguments.get(name) for name in key]])


def _voice(task: Task) -> Voice:
    if task.dialect == "chat":
        return Chat()
    return Messages() if task.dialect == "messages" else Responses()
