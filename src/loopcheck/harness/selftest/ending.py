"""Liars that mistake the end: of a stream, of a response, or of the run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from loopcheck.fake_providers.wire import JsonObject
from loopcheck.harness.selftest import exchange
from loopcheck.harness.selftest.exchange import ServiceFailure, objects, text
from loopcheck.harness.selftest.liar import Liar, liar
from loopcheck.harness.selftest.loop import Loop
from loopcheck.harness.selftest.voices import Call, Reply
from loopcheck.harness.task import Outcome, Task, final


class Completing(Loop):
    """Takes what came of a broken stream for the whole response."""

    def request(self) -> Reply:
        came = list(self._came())
        return self.voice.reply(self.voice.assembled([*came, *_ending(came)]))

    def _came(self) -> Iterator[JsonObject]:
        body = self.voice.body(self.task, self.history)
        headers = self.voice.headers(self.task.api_key)
        try:
            yield from exchange.events(self.task.base_url + self.voice.path, headers, body)
        except ServiceFailure:
            return


def _ending(came: list[JsonObject]) -> list[JsonObject]:
    """The events that were missing, in every protocol; each overlooks those of the others."""
    done = [event["item"] for event in came if text(event, "type") == "response.output_item.done"]
    calls = any(objects(event, "choices", 0, "delta", "tool_calls") for event in came)
    return [
        {
            "choices": [{"delta": {}, "finish_reason": "tool_calls" if calls else "stop"}],
            "type": "response.completed",
            "response": {"status": "completed", "output": done},
        },
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
        {"type": "message_stop"},
    ]


class Shrugging(Loop):
    """Tells whatever happened as a success."""

    def run(self) -> Outcome:
        return final(super().run().text)


class Swallowing(Loop):
    """Takes an error of the service for an empty answer."""

    def request(self) -> Reply:
        try:
            return super().request()
        except ServiceFailure:
            return Reply([], "", "whole")


class Resting(Loop):
    """Takes a turn that the service paused for the answer."""

    def step(self, reply: Reply | None) -> Outcome | None:
        if reply is not None and reply.end == "paused":
            return final(reply.text)
        return super().step(reply)


class Endless(Loop):
    """Knows no limit but its own, which is far away."""

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self.rounds = 12


class Renewing(Loop):
    """Begins a new budget whenever one is spent, a few times over."""

    def run(self) -> Outcome:
        outcome = super().run()
        for _ in range(2):
            if outcome.state == "limit":
                self.asked = 0
                outcome = super().run()
        return outcome


class Pretending(Loop):
    """Does nothing, and says that all is done."""

    def execute(self, call: Call) -> str:
        return "done"


class Stopping(Loop):
    """Ends the run with the first response, whatever it asks for."""

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self.rounds = 1

    def run(self) -> Outcome:
        super().run()
        return final("done")


LIARS: Final[tuple[Liar, ...]] = (
    liar(
        Completing,
        "execution.complete-only",
        "transport/error-event-after-call[chat-stream]",
        "transport/error-event-after-call[responses-stream]",
        "transport/error-event-after-call[messages-stream]",
    ),
    liar(
        Shrugging,
        "outcome.named",
        "truncation/trunc-length-partial-args[chat-stream]",
        "truncation/trunc-length-partial-args[responses-whole]",
        "transport/http-500-outlasts-retries[messages-whole]",
    ),
    liar(
        Swallowing,
        "outcome.named",
        "transport/error-as-first-event[chat-stream]",
        "transport/error-as-first-event[responses-stream]",
        "transport/http-500-outlasts-retries[messages-stream]",
    ),
    liar(
        Resting,
        "outcome.named",
        "hosted/pause-turn-continue[messages-stream]",
        "hosted/pause-turn-continue[messages-whole]",
    ),
    liar(
        Endless,
        "limits.kept",
        "limits/max-turns-exact[chat-stream]",
        "limits/max-turns-exact[responses-stream]",
        "limits/max-turns-exact[messages-whole]",
    ),
    liar(
        Renewing,
        "limits.kept",
        "limits/max-turns-exact[chat-whole]",
        "limits/max-turns-exact[responses-whole]",
        "limits/max-turns-exact[messages-stream]",
    ),
    liar(
        Pretending,
        "scenario.expects",
        "basics/lookup-then-reserve[chat-whole]",
        "basics/lookup-then-reserve[responses-stream]",
        "basics/lookup-then-reserve[messages-stream]",
    ),
    liar(
        Stopping,
        "scenario.expects",
        "basics/lookup-then-reserve[responses-whole]",
        "basics/lookup-then-reserve[messages-whole]",
    ),
)
