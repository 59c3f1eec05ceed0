"""Liars that deny what was done."""

from __future__ import annotations

import json
from typing import Final

from loopcheck.fake_providers.wire import JsonObject
from loopcheck.harness.selftest.liar import Liar, liar
from loopcheck.harness.selftest.loop import Loop
from loopcheck.harness.selftest.voices import Call, Result
from loopcheck.harness.task import Outcome


class Overdue(Loop):
    """Looks at the time when a tool has returned, and takes a late result for none."""

    def enter(self, tool: str, arguments: JsonObject) -> str:
        told = super().enter(tool, arguments)
        if self.spec(tool).kind == "write":  # which took longer than it allows
            raise TimeoutError(f"{tool} timed out")
        return told


class Parsing(Loop):
    """Takes what goes wrong with a result for what goes wrong with the tool."""

    def enter(self, tool: str, arguments: JsonObject) -> str:
        told = super().enter(tool, arguments)
        if self.spec(tool).kind == "write":
            return str(json.loads(told)["confirmation"])
        return told


class Excusing(Loop):
    """Tells the model, when the user gives up, that nothing was done, and asks for a last word."""

    def results(self, calls: list[Call]) -> list[Result]:
        done = super().results(calls)
        if self.may_ask():
            return done
        return [Result(call.call_id, "Cancelled by the user, not executed.") for call in calls]

    def run(self) -> Outcome:
        outcome = super().run()
        if outcome.state == "cancelled":
            self.ask()
        return outcome


LIARS: Final[tuple[Liar, ...]] = (
    liar(
        Overdue,
        "effect.reported",
        "basics/lookup-then-reserve[chat-whole]",
        "basics/lookup-then-reserve[responses-stream]",
        "basics/lookup-then-reserve[messages-stream]",
    ),
    liar(
        Parsing,
        "effect.reported",
        "basics/lookup-then-reserve[chat-stream]",
        "basics/lookup-then-reserve[responses-whole]",
        "basics/lookup-then-reserve[messages-whole]",
    ),
    liar(
        Excusing,
        "effect.reported",
        "selftest/given-up-behind[chat-whole]",
        "selftest/given-up-behind[responses-stream]",
        "selftest/given-up-behind[messages-stream]",
        level="should",
    ),
)
