"""Liars that run what they should not, more often than they should, or with other values."""

from __future__ import annotations

import re
from typing import Final

from loopcheck.fake_providers.wire import JsonObject
from loopcheck.harness.selftest.exchange import ServiceFailure
from loopcheck.harness.selftest.liar import Liar, liar
from loopcheck.harness.selftest.loop import Loop
from loopcheck.harness.selftest.voices import Call, Reply, Result
from loopcheck.harness.task import Outcome, Task, Tool


class Retrying(Loop):
    """Does the last round again, tools included, when the service fails."""

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self.last: list[Call] = []

    def results(self, calls: list[Call]) -> list[Result]:
        self.last = calls
        return super().results(calls)

    def request(self) -> Reply:
        try:
            return super().request()
        except ServiceFailure:
            self.operations.clear()
            for call in self.last:
                self.execute(call)
            raise


class Restarting(Loop):
    """Starts the whole run again when a request fails."""

    def run(self) -> Outcome:
        outcome = super().run()
        if outcome.state == "failed":
            return Loop(self.task).run()
        return outcome

    def ask(self) -> Reply | None:
        try:
            return self.request()
        except ServiceFailure:
            return None


class Repairing(Loop):
    """Completes what was cut, and looks at no stop reason."""

    def request(self) -> Reply:
        reply = super().request()
        reply.end = "whole"
        return reply

    def arguments(self, call: Call) -> JsonObject:
        pairs = re.findall(r'"(\w+)":\s*("[^"]*"|\d+)', call.arguments)
        return {name: int(v) if v.isdigit() else v.strip('"') for name, v in pairs}


class LateBinding(Loop):
    """Gives every call the arguments of the last one, as closures in a loop do."""

    def results(self, calls: list[Call]) -> list[Result]:
        bound = [Call(call.call_id, call.tool, calls[-1].arguments) for call in calls]
        return super().results(bound)

    def known(self, spec: Tool, operation: str, arguments: JsonObject) -> str | None:
        return None


class Tidying(Loop):
    """Brings the text of arguments into a form that it likes better."""

    def arguments(self, call: Call) -> JsonObject:
        given = super().arguments(call)
        return {
            k: v.lower().replace("-", " ") if isinstance(v, str) else v for k, v in given.items()
        }


class Helpful(Loop):
    """Takes the first tool there is for one that it does not know."""

    def spec(self, tool: str) -> Tool:
        known = [spec.name for spec in self.task.specs]
        return super().spec(tool if tool in known else known[0])

    def validate(self, spec: Tool, arguments: JsonObject) -> None:
        pass


class Trusting(Loop):
    """Says that it validates arguments, and does not."""

    def validate(self, spec: Tool, arguments: JsonObject) -> None:
        pass


class Forgetting(Loop):
    """Says that it knows writes by their operation, and does not."""

    def enter(self, tool: str, arguments: JsonObject) -> str:
        spec = self.spec(tool)
        self.validate(spec, arguments)
        return spec.call(arguments)


class Numbering(Loop):
    """Makes a new operation id each time, by which nothing is known again."""

    def operation(self, spec: Tool, arguments: JsonObject) -> str:
        return f"{spec.name}-{len(self.history)}"


LIARS: Final[tuple[Liar, ...]] = (
    liar(
        Retrying,
        "execution.once",
        "transport/http-500-after-tool[chat-stream]",
        "transport/http-500-after-tool[responses-whole]",
        "transport/http-500-after-tool[messages-whole]",
        also=("effect.once",),
    ),
    liar(
        Restarting,
        "scenario.expects",
        "transport/http-500-after-tool[chat-whole]",
        "transport/http-500-after-tool[responses-stream]",
        "transport/http-500-after-tool[messages-stream]",
        also=("effect.once",),
    ),
    liar(
        Repairing,
        "execution.complete-only",
        "truncation/trunc-length-partial-args[chat-whole]",
        "truncation/trunc-length-partial-args[responses-stream]",
        "truncation/trunc-length-partial-args-messages[messages-stream]",
    ),
    liar(
        LateBinding,
        "execution.exact-arguments",
        "once/same-tool-other-arguments[chat-stream]",
        "once/same-tool-other-arguments[responses-whole]",
        "once/same-tool-other-arguments[messages-whole]",
        also=("correlation.own-result", "effect.once"),
    ),
    liar(
        Tidying,
        "execution.exact-arguments",
        "basics/lookup-then-reserve[chat-stream]",
        "basics/lookup-then-reserve[responses-whole]",
        "basics/lookup-then-reserve[messages-whole]",
    ),
    liar(
        Helpful,
        "execution.allowed",
        "errors/unknown-tool[chat-stream]",
        "errors/unknown-tool[responses-stream]",
        "errors/unknown-tool[messages-whole]",
        also=("correlation.own-result",),
    ),
    liar(
        Trusting,
        "execution.allowed",
        "arguments/args-wrong-type[chat-whole]",
        "arguments/args-wrong-type[responses-stream]",
        "arguments/args-wrong-type[messages-stream]",
    ),
    liar(
        Forgetting,
        "effect.once",
        "once/write-response-lost[chat-stream]",
        "once/write-response-lost[responses-whole]",
        "once/write-response-lost[messages-whole]",
    ),
    liar(
        Numbering,
        "effect.once",
        "once/write-response-lost[chat-whole]",
        "once/write-response-lost[responses-stream]",
        "once/write-response-lost[messages-stream]",
    ),
)
