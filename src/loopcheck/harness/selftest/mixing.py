"""Liars that lose calls or results, or put them together wrongly."""

from __future__ import annotations

from typing import Final

from loopcheck.harness.selftest.liar import Liar, liar
from loopcheck.harness.selftest.loop import Loop
from loopcheck.harness.selftest.voices import Call, Reply, Result
from loopcheck.harness.task import Task


class Unanswering(Loop):
    """Leaves out the result of a tool that raised."""

    def results(self, calls: list[Call]) -> list[Result]:
        return [one for one in super().results(calls) if not one.text.startswith("Error")]


class Keyed(Loop):
    """Keeps calls by id, which loses one of two that share it."""

    def carry(self, reply: Reply, results: list[Result]) -> None:
        calls = list({call.call_id: call for call in reply.calls}.values())
        by_id = {result.call_id: result for result in results}
        self.history += self.voice.said(reply, calls)
        self.history += self.voice.answers(list(by_id.values()))


class Repeating(Loop):
    """Sends results that it has sent before along with the new ones."""

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self.kept: list[Result] = []

    def carry(self, reply: Reply, results: list[Result]) -> None:
        self.kept += results
        super().carry(reply, self.kept)


class Renaming(Loop):
    """Makes new ids for results, and forgets the calls."""

    def carry(self, reply: Reply, results: list[Result]) -> None:
        named = enumerate(results, len(self.history))
        super().carry(reply, [Result(f"call_{place}", one.text) for place, one in named])


class Trimming(Loop):
    """Keeps the prompt and the last few messages, wherever that cuts."""

    def carry(self, reply: Reply, results: list[Result]) -> None:
        super().carry(reply, results)
        self.history[1:] = self.history[-len(self.voice.answers(results)) :]


class Zipping(Loop):
    """Puts results to calls in the order in which they were done, which is another."""

    def results(self, calls: list[Call]) -> list[Result]:
        done = [self.execute(call) for call in reversed(calls)]
        return [Result(call.call_id, text) for call, text in zip(calls, done, strict=True)]


class Overwriting(Loop):
    """Keeps the arguments of calls by their id, so that one of two that share it takes those of
    the other."""

    def carry(self, reply: Reply, results: list[Result]) -> None:
        by_id = {call.call_id: call for call in reply.calls}
        reply.calls = [by_id[call.call_id] for call in reply.calls]
        super().carry(reply, results)


class Caching(Loop):
    """Takes the result of a tool for that of any later call of it."""

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self.cached: dict[str, str] = {}

    def execute(self, call: Call) -> str:
        if call.tool not in self.cached:
            self.cached[call.tool] = super().execute(call)
        return self.cached[call.tool]


LIARS: Final[tuple[Liar, ...]] = (
    liar(
        Unanswering,
        "correlation.answered",
        "errors/parallel-one-fails[chat-whole]",
        "errors/parallel-one-fails[responses-stream]",
        "errors/parallel-one-fails[messages-stream]",
        also=("history.valid",),
    ),
    liar(
        Keyed,
        "correlation.answered",
        "ids/dupid-same-turn[chat-stream]",
        "ids/dupid-same-turn[responses-whole]",
    ),
    liar(
        Repeating,
        "correlation.answered",
        "basics/lookup-then-reserve[responses-whole]",
        "basics/lookup-then-reserve[messages-stream]",
        "basics/lookup-then-reserve[chat-stream]",
        also=("history.valid",),
    ),
    liar(
        Renaming,
        "correlation.known-id",
        "ids/id-stable-in-history[chat-stream]",
        "ids/id-stable-in-history[responses-stream]",
        "ids/id-stable-in-history[messages-whole]",
        also=("correlation.answered", "history.valid"),
    ),
    liar(
        Trimming,
        "correlation.known-id",
        "basics/lookup-then-reserve[chat-whole]",
        "basics/lookup-then-reserve[responses-stream]",
        "basics/lookup-then-reserve[messages-whole]",
        also=("history.valid",),
    ),
    liar(
        Overwriting,
        "correlation.known-id",
        "ids/dupid-same-turn[chat-whole]",
        "ids/dupid-same-turn[responses-stream]",
        level="should",
    ),
    liar(
        Zipping,
        "correlation.own-result",
        "errors/parallel-all-run[chat-stream]",
        "errors/parallel-all-run[responses-whole]",
        "assembly/finished-out-of-order[messages-stream]",
    ),
    liar(
        Caching,
        "correlation.own-result",
        "once/same-tool-other-arguments[chat-whole]",
        "once/same-tool-other-arguments[responses-stream]",
        "once/same-tool-other-arguments[messages-stream]",
    ),
)
