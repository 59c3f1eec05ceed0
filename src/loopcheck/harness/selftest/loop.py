"""An honest loop in any protocol, cut into steps that a liar can do wrong."""

from __future__ import annotations

import json
from collections import Counter
from typing import Final

from jsonschema import Draft202012Validator

from loopcheck.fake_providers.wire import JsonObject
from loopcheck.harness.selftest import exchange, memory
from loopcheck.harness.selftest.chat import Chat
from loopcheck.harness.selftest.exchange import ServiceFailure
from loopcheck.harness.selftest.memory import Kept, Operation
from loopcheck.harness.selftest.messages import Messages
from loopcheck.harness.selftest.responses import Responses
from loopcheck.harness.selftest.voices import Call, Reply, Result, Voice
from loopcheck.harness.task import Decision, Outcome, Pending, Task, Tool, ended, final, paused
from loopcheck.harness.tool_values import RateLimited

_ROUNDS: Final = 12


class Loop:
    """One run of a task. Every step does the right thing; a liar overrides one of them."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.voice: Voice = _voice(task)
        self.history: list[JsonObject] = [{"role": "user", "content": task.prompt}]
        self.rounds = task.limits.rounds or _ROUNDS
        self.asked = 0
        self.places = 0
        self.decided: dict[int, Decision] = {}
        self.operations: dict[str, Operation] = {}

    def run(self) -> Outcome:
        """The outcome of the run, which stays what it was when it is asked for once more."""
        end = None if self.task.resume is None else memory.recall_end(self.task.folder)
        outcome = self.rest() if end is None else end
        if outcome.state != "paused":
            memory.keep_end(self.task.folder, outcome)
        return outcome

    def rest(self) -> Outcome:
        """How the run goes on from where it stands to its end, or to a pause."""
        reply = None if self.task.resume is None else self.recall(self.task.resume.decisions)
        while True:
            if not self.may_ask():
                return ended("cancelled", "cancelled_by_user")
            if reply is None:
                if self.asked == self.rounds:
                    return ended("limit", "max_rounds")
                self.asked += 1
                reply = self.ask()
            outcome = self.step(reply)
            if outcome is not None:
                return outcome
            reply = None

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
        self.number(reply.calls)
        waiting = self.waiting(reply.calls)
        if waiting:
            return self.pause(reply, waiting)
        self.carry(reply, self.results(reply.calls))
        return None

    def number(self, calls: list[Call]) -> None:
        """Gives each call its place in the run; those that waited have theirs already."""
        ids = Counter(call.call_id for call in calls)
        for call in calls:
            if not call.place:
                self.places += 1
                call.place = self.places
                call.key = (
                    call.call_id if ids[call.call_id] == 1 else f"{call.call_id}#{call.place}"
                )

    def waiting(self, calls: list[Call]) -> list[Call]:
        """The calls that a person has yet to decide about; none of the others runs before."""
        asked = {spec.name for spec in self.task.specs if spec.approval == "ask"}
        return [
            call
            for call in calls
            if call.tool in asked and self.decision(call) is None and self.can_be_read(call)
        ]

    def can_be_read(self, call: Call) -> bool:
        """Whether there is anything to show to a person."""
        try:
            self.arguments(call)
        except (TypeError, ValueError):
            return False
        return True

    def decision(self, call: Call) -> Decision | None:
        """What a person said of this call."""
        return self.decided.get(call.place)

    def pause(self, reply: Reply, waiting: list[Call]) -> Outcome:
        kept = Kept(
            history=self.history,
            reply=reply,
            decided=self.decided,
            operations=self.operations,
            asked=self.asked,
        )
        memory.keep(self.task.folder, kept)
        return paused(pending=[self.pending(call) for call in waiting])

    def pending(self, call: Call) -> Pending:
        """A call as a person is asked about it."""
        return Pending(call_id=call.key, tool=call.tool, arguments=self.arguments(call))

    def recall(self, decisions: tuple[Decision, ...]) -> Reply | None:
        """The reply that the run paused at, now that a person has decided."""
        kept = memory.recall(self.task.folder)
        if kept is None:
            return None
        self.history, self.decided, self.operations = kept.history, kept.decided, kept.operations
        self.asked = kept.asked
        self.places = max(call.place for call in kept.reply.calls)
        self.decide(kept.reply, decisions)
        return kept.reply

    def decide(self, reply: Reply, decisions: tuple[Decision, ...]) -> None:
        """Binds each decision to the call that waits for it; what is said of others counts for
        nothing."""
        for decision in decisions:
            for call in self.waiting(reply.calls):
                if (call.key, call.tool) == (decision.call_id, decision.tool):
                    self.decided[call.place] = decision

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
        if spec.kind != "write" or (spec.look_up is None and spec.operation is None):
            return spec.call(arguments)
        operation = self.operation(spec, arguments)
        known = self.known(spec, operation, arguments)
        return self.begin(spec, arguments, operation) if known is None else known

    def known(self, spec: Tool, operation: str, arguments: JsonObject) -> str | None:
        """The result of an operation that was done before; None for one that may be done. Raises
        RuntimeError where nobody can say, or where it was something else."""
        begun = self.operations.get(operation)
        if begun is not None and begun.arguments != arguments:
            raise RuntimeError(f"this was asked for before, with {begun.arguments}")
        told = {} if spec.look_up is None else spec.look_up(operation)
        if told.get("status") == "found":
            return str(told.get("result"))
        if begun is None or told.get("status") == "absent":
            return None
        if begun.result is None and not spec.deduplicates:
            raise RuntimeError("whether this was done before is unknown")
        return begun.result

    def begin(self, spec: Tool, arguments: JsonObject, operation: str) -> str:
        """Does it, and remembers that it was begun unless it was refused."""
        begun = self.operations[operation] = Operation(arguments)
        try:
            begun.result = spec.call(arguments, operation_id=operation)
        except (PermissionError, RateLimited):
            del self.operations[operation]
            raise
        return begun.result

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
        key = sorted(arguments) if spec.operation is None else spec.operation
        return json.dumps([self.task.run, spec.name, [arguments.get(name) for name in key]])


def _voice(task: Task) -> Voice:
    if task.dialect == "chat":
        return Chat()
    return Messages() if task.dialect == "messages" else Responses()
