"""Liars that send back another history than the one that was."""

from __future__ import annotations

from typing import Final

from loopcheck.fake_providers.wire import JsonObject
from loopcheck.harness.selftest.liar import Liar, liar
from loopcheck.harness.selftest.loop import Loop
from loopcheck.harness.selftest.messages import Messages
from loopcheck.harness.selftest.voices import Call, Reply, Result
from loopcheck.harness.task import Task

_HIDDEN: Final = ("reasoning", "redacted_thinking")
_THINKING: Final = ("thinking", *_HIDDEN)


def _kind(piece: JsonObject) -> str:
    return str(piece.get("type"))


class Chatty(Loop):
    """Puts a remark of its own between the calls and their results."""

    def carry(self, reply: Reply, results: list[Result]) -> None:
        self.history += self.voice.said(reply, reply.calls)
        self.history.append({"role": "user", "content": "Here are the results."})
        self.history += self.voice.answers(results)


class Echoing(Loop):
    """Keeps what was said beside a call twice: as it came, and as its own record of it."""

    def carry(self, reply: Reply, results: list[Result]) -> None:
        self.history += [piece for piece in reply.pieces if _kind(piece) == "message"]
        super().carry(reply, results)


class Porting(Loop):
    """Leaves out what this protocol demands and the one that it was written for does not know."""

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self.voice = _Unlimited()


class _Unlimited(Messages):
    def body(self, task: Task, history: list[JsonObject]) -> JsonObject:
        asked = super().body(task, history)
        return {name: value for name, value in asked.items() if name != "max_tokens"}


class Inventing(Loop):
    """Shows the model by an example, which it claims to be its own call, how to call."""

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        example = Call("call_example", task.specs[0].name, "{}")
        kinds = {"messages": "tool_use", "responses": "function_call"}
        pieces: list[JsonObject] = [{"type": kinds.get(task.dialect, "")}]
        reply = Reply([example], "", "whole", pieces)
        self.carry(reply, [Result("call_example", "ok")])


class Compacting(Loop):
    """Puts a call of its own making, with what it remembers as result, in place of old rounds."""

    def carry(self, reply: Reply, results: list[Result]) -> None:
        summary = Call("call_memory", "memory", "{}")
        kinds = {"messages": "tool_use", "responses": "function_call"}
        pieces: list[JsonObject] = [{"type": kinds.get(self.task.dialect, "")}]
        del self.history[1:]
        super().carry(Reply([summary], "", "whole", pieces), [Result("call_memory", "A summary.")])
        super().carry(reply, results)


class Forgetful(Loop):
    """Leaves out thinking that it cannot read."""

    def carry(self, reply: Reply, results: list[Result]) -> None:
        reply.pieces = [piece for piece in reply.pieces if _kind(piece) not in _HIDDEN]
        super().carry(reply, results)


class Polishing(Loop):
    """Keeps thinking in a form of its own, and rebuilds it from that."""

    def carry(self, reply: Reply, results: list[Result]) -> None:
        reply.pieces = [_polished(piece) for piece in reply.pieces]
        super().carry(reply, results)


def _polished(piece: JsonObject) -> JsonObject:
    shorter = {"thinking": str(piece.get("thinking")).strip()} if "thinking" in piece else {}
    sealed = str(piece.get("encrypted_content"))
    return {
        **piece,
        **shorter,
        **({"encrypted_content": sealed[:-8]} if _kind(piece) == "reasoning" else {}),
    }


class Sorting(Loop):
    """Puts what the model did before what it thought."""

    def carry(self, reply: Reply, results: list[Result]) -> None:
        reply.pieces.sort(key=lambda piece: _kind(piece) in _THINKING)
        super().carry(reply, results)


LIARS: Final[tuple[Liar, ...]] = (
    liar(
        Chatty,
        "history.valid",
        "basics/lookup-then-reserve[chat-stream]",
        "basics/lookup-then-reserve[chat-whole]",
    ),
    liar(
        Porting,
        "history.valid",
        "basics/lookup-then-reserve[messages-stream]",
        "basics/lookup-then-reserve[messages-whole]",
    ),
    liar(
        Echoing,
        "history.valid",
        "assembly/text-before-call[responses-whole]",
        "assembly/text-before-call[responses-stream]",
    ),
    liar(
        Inventing,
        "history.continuous",
        "basics/lookup-then-reserve[chat-whole]",
        "basics/lookup-then-reserve[responses-stream]",
        "basics/lookup-then-reserve[messages-whole]",
        also=("correlation.known-id",),
    ),
    liar(
        Compacting,
        "history.continuous",
        "basics/lookup-then-reserve[chat-stream]",
        "basics/lookup-then-reserve[responses-whole]",
        "basics/lookup-then-reserve[messages-stream]",
        also=("correlation.known-id",),
    ),
    liar(
        Forgetful,
        "history.carried",
        "reasoning/reasoning-item-pairing[responses-whole]",
        "reasoning/thinking-byte-identical[messages-stream]",
    ),
    liar(
        Polishing,
        "history.carried",
        "reasoning/reasoning-encrypted-store-false[responses-stream]",
        "reasoning/thinking-byte-identical[messages-whole]",
    ),
    liar(
        Sorting,
        "history.carried",
        "reasoning/reasoning-item-pairing[responses-stream]",
        "reasoning/thinking-before-parallel-calls[messages-whole]",
        also=("history.valid",),
    ),
)
