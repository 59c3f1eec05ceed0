"""Broken loops over an official SDK, beside those that ship with loopcheck."""

from __future__ import annotations

import re
from typing import Any

from chat_loop import ChatLoop
from openai import OpenAI

from loopcheck.harness.selftest.liar import Kind, Liar, liar, target_of
from loopcheck.harness.task import Outcome, Task, final


class Unanswering(ChatLoop):
    """Leaves out the result of a tool that raised."""

    def results(self, calls: list[Any]) -> list[dict[str, object]]:
        return [r for r in super().results(calls) if not str(r["content"]).startswith("Error")]


class Renaming(ChatLoop):
    """Makes new ids for results, and forgets the calls."""

    def results(self, calls: list[Any]) -> list[dict[str, object]]:
        return [
            {**result, "tool_call_id": f"call_{len(self.messages)}_{place}"}
            for place, result in enumerate(super().results(calls))
        ]


class Zipping(ChatLoop):
    """Puts results to calls in the order in which they were done, which is another."""

    def results(self, calls: list[Any]) -> list[dict[str, object]]:
        done = [self.execute(call) for call in reversed(calls)]
        return [
            {"role": "tool", "tool_call_id": call.id, "content": text}
            for call, text in zip(calls, done, strict=True)
        ]


class Retrying(ChatLoop):
    """Does the last round again, tools included, when the service fails."""

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self.last: list[Any] = []

    def results(self, calls: list[Any]) -> list[dict[str, object]]:
        self.last = calls
        return super().results(calls)

    def request(self, client: OpenAI) -> Any:
        try:
            return super().request(client)
        except Exception:
            for call in self.last:
                self.execute(call)
            return super().request(client)


class Repairing(ChatLoop):
    """Completes what was cut and looks at no stop reason."""

    def is_whole(self, choice: Any) -> bool:
        return True

    def arguments(self, call: Any) -> dict[str, object]:
        pairs = re.findall(r'"(\w+)":\s*("[^"]*"|\d+)', call.function.arguments)
        return {name: int(v) if v.isdigit() else v.strip('"') for name, v in pairs}


class LateBinding(ChatLoop):
    """Gives every call the arguments of the last one, as closures in a loop do."""

    def results(self, calls: list[Any]) -> list[dict[str, object]]:
        last = calls[-1].function.arguments
        for call in calls:
            call.function.arguments = last
        return super().results(calls)


class Helpful(ChatLoop):
    """Takes the first tool there is for one that it does not know."""

    def enter(self, tool: str, arguments: dict[str, object]) -> str:
        known = [spec.name for spec in self.task.specs]
        return super().enter(tool if tool in known else known[0], arguments)


class Chatty(ChatLoop):
    """Puts a remark of its own between the calls and their results."""

    def carry(self, message: Any, calls: list[Any]) -> None:
        before = len(self.messages)
        super().carry(message, calls)
        self.messages.insert(before + 1, {"role": "user", "content": "Here are the results."})


class Shrugging(ChatLoop):
    """Tells whatever happened as a success."""

    def run(self) -> Outcome:
        return final(super().run().text)


class Endless(ChatLoop):
    """Knows no limit but its own, which is far away."""

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self.rounds = 12


class Pretending(ChatLoop):
    """Does nothing, and says that all is done."""

    def execute(self, call: Any) -> str:
        return "done"


def told(kind: Kind, check: str, *scenarios: str, claims: tuple[str, ...] = ()) -> Liar:
    """A liar that speaks chat and does not stream."""
    cases = [f"{scenario}[chat-whole]" for scenario in scenarios]
    return liar(kind, check, *cases, also=CONSEQUENCES, claims=claims)


CONSEQUENCES = ("correlation.answered", "correlation.own-result", "history.valid")
HONEST = target_of(ChatLoop)
LIARS: tuple[Liar, ...] = (
    told(Unanswering, "correlation.answered", "errors/parallel-one-fails"),
    told(Renaming, "correlation.known-id", "ids/id-stable-in-history"),
    told(Zipping, "correlation.own-result", "assembly/finished-out-of-order"),
    told(Retrying, "execution.once", "transport/http-500-after-tool"),
    told(Repairing, "execution.complete-only", "truncation/trunc-length-partial-args"),
    told(LateBinding, "execution.exact-arguments", "once/same-tool-other-arguments"),
    told(Helpful, "execution.allowed", "errors/unknown-tool"),
    told(ChatLoop, "effect.once", "once/reservation-response-lost", claims=("operation_ids",)),
    told(Chatty, "history.valid", "basics/lookup-then-reserve"),
    told(Shrugging, "outcome.named", "transport/http-500-outlasts-retries"),
    told(Endless, "limits.kept", "limits/max-turns-exact"),
    told(Pretending, "scenario.expects", "basics/lookup-then-reserve"),
)
