"""Broken loops over the official SDKs, beside those that ship with loopcheck."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from sdk_loop import FAILURES, SdkLoop, target_of
from sdk_speakers import Answer, Use

from loopcheck.harness.selftest.liar import Liar
from loopcheck.harness.task import Outcome, Tool, ended, final


class Eager(SdkLoop):
    """Runs a call as soon as it is whole, while the stream still goes on."""

    started: dict[str, asyncio.Task[str]] | None = None

    def whole(self, call: Use) -> None:
        self.started = self.started or {}
        self.started[call.id] = asyncio.ensure_future(super().result(call))

    async def ask(self) -> Answer | None:
        answer = await super().ask()
        await asyncio.gather(*(self.started or {}).values())
        return answer

    async def result(self, call: Use) -> str:
        early = (self.started or {}).get(call.id)
        return await super().result(call) if early is None else await early


class FirstOnly(SdkLoop):
    """Takes the first call for the only one."""

    async def results(self, calls: list[Use]) -> list[tuple[str, str]]:
        return await super().results(calls[:1])


class Gathering(SdkLoop):
    """Gathers results and exceptions, and keeps the results."""

    async def results(self, calls: list[Use]) -> list[tuple[str, str]]:
        done = await asyncio.gather(*map(self.execute, calls), return_exceptions=True)
        return [
            (call.id, text) for call, text in zip(calls, done, strict=True) if isinstance(text, str)
        ]


class Racing(SdkLoop):
    """Puts results to calls in the order in which they come in."""

    async def results(self, calls: list[Use]) -> list[tuple[str, str]]:
        done = [await one for one in asyncio.as_completed([self.result(call) for call in calls])]
        return [(call.id, text) for call, text in zip(calls, done, strict=True)]


class ByTool(SdkLoop):
    """Keeps results by the name of their tool."""

    async def results(self, calls: list[Use]) -> list[tuple[str, str]]:
        texts = {call.name: await self.result(call) for call in calls}
        return [(call.id, texts[call.name]) for call in calls]


class Naming(SdkLoop):
    """Answers a call under the name of its tool."""

    async def results(self, calls: list[Use]) -> list[tuple[str, str]]:
        return [(call.name, await self.result(call)) for call in calls]


class Tenacious(SdkLoop):
    """Wraps a whole step into a retry: the tools, and the request that tells of them."""

    last: tuple[Answer, ...] = ()

    async def ask(self) -> Answer | None:
        for _ in range(2):
            try:
                return await self.sdk.ask(list(self.task.specs), self.history, self.whole)
            except FAILURES:
                for answer in self.last:
                    await super().results(answer.calls)
        return None

    def carry(self, answer: Answer, results: list[tuple[str, str]]) -> None:
        self.last = (answer,)
        super().carry(answer, results)


class Defaulting(SdkLoop):
    """Puts something in place of arguments that are missing."""

    def arguments(self, call: Use, spec: Tool) -> dict[str, Any]:
        blanks = {"string": "", "integer": 0, "number": 0, "boolean": False}
        schemas: Any = spec.parameters["properties"]
        blank = {name: blanks.get(schema.get("type")) for name, schema in schemas.items()}
        return blank | super().arguments(call, spec)


class Cautious(SdkLoop):
    """Takes a long result for one that went wrong."""

    async def execute(self, call: Use) -> str:
        text = await super().execute(call)
        if len(text) > 10:
            raise OverflowError("result too long")
        return text


class Polite(SdkLoop):
    """Has something to say where the model said nothing."""

    def stopped(self, answer: Answer) -> Outcome:
        return final("Done.")


class Blind(SdkLoop):
    """Looks at no stop reason, only at whether there are calls that parse."""

    async def ask(self) -> Answer | None:
        answer = await super().ask()
        if answer is not None:
            answer.end = "done"
            answer.calls = [call for call in answer.calls if _parses(call.arguments)]
        return answer


class Snapshot(Blind):
    """Takes what its SDK could read of a cut call for the whole of it."""


def _parses(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


class Rereading(SdkLoop):
    """Asks the model once more when a person has approved, and runs what it says now."""

    def resumed(self) -> Answer | None:
        super().resumed()
        return None

    def waiting(self, calls: list[Use]) -> list[Use]:
        return [] if self.decided else super().waiting(calls)


class Uncancellable(SdkLoop):
    """Takes a cancellation of the run for a failure of the tool."""

    async def rounds(self) -> Outcome:
        while True:
            try:
                return await super().rounds()
            except asyncio.CancelledError:
                continue

    async def result(self, call: Use) -> str:
        try:
            return await super().result(call)
        except asyncio.CancelledError:
            return "Error: cancelled"


class Detached(SdkLoop):
    """Lets go of the run when it is cancelled, and the run goes on."""

    async def run(self) -> Outcome:
        work = asyncio.ensure_future(self.unheard())
        try:
            return await self.task.stop.cancels(_shielded(work))
        except asyncio.CancelledError:
            return ended("cancelled", "cancelled_by_user")

    async def unheard(self) -> Outcome:
        try:
            return await self.rounds()
        finally:
            await self.sdk.close()


async def _shielded(work: asyncio.Future[Outcome]) -> Outcome:
    return await asyncio.shield(work)


class Spawning(SdkLoop):
    """Starts each tool on its own, where a cancellation of the run does not reach it."""

    async def results(self, calls: list[Use]) -> list[tuple[str, str]]:
        return await asyncio.shield(asyncio.ensure_future(self.one_by_one(calls)))

    async def one_by_one(self, calls: list[Use]) -> list[tuple[str, str]]:
        return [(call.id, await self.result(call)) for call in calls]


MIXED = ("chat-stream", "responses-whole", "messages-stream")
OTHERS = ("chat-whole", "responses-stream", "messages-whole")
STREAMS = ("chat-stream", "responses-stream", "messages-stream")


def told(
    kind: type[SdkLoop],
    check: str,
    scenario: str,
    ways: tuple[str, ...],
    *,
    also: tuple[str, ...] = (),
) -> Liar:
    """A liar over the SDKs, by a scenario and the dialects and modes that show it."""
    cases = tuple(f"{scenario}[{way}]" for way in ways)
    return Liar(target=target_of(kind), check=check, cases=cases, also=frozenset(also))


HONEST = target_of(SdkLoop)
LIARS: tuple[Liar, ...] = (
    told(
        FirstOnly,
        "correlation.answered",
        "errors/parallel-all-run",
        MIXED,
        also=("history.valid",),
    ),
    told(
        Gathering,
        "correlation.answered",
        "errors/parallel-one-fails",
        OTHERS,
        also=("history.valid",),
    ),
    told(
        Naming,
        "correlation.known-id",
        "basics/lookup-then-reserve",
        MIXED,
        also=("correlation.answered", "history.valid"),
    ),
    told(Racing, "correlation.own-result", "assembly/finished-out-of-order", OTHERS),
    told(ByTool, "correlation.own-result", "once/same-tool-other-arguments", MIXED),
    told(Tenacious, "execution.once", "transport/http-500-after-tool", OTHERS),
    told(Eager, "execution.complete-only", "transport/error-event-after-call", STREAMS),
    told(Defaulting, "execution.exact-arguments", "arguments/args-empty-required-missing", MIXED),
    told(Rereading, "approval.bound", "selftest/changed", OTHERS),
    told(Cautious, "effect.reported", "basics/lookup-then-reserve", MIXED),
    told(Polite, "outcome.named", "truncation/refusal-with-text", OTHERS),
    told(Blind, "outcome.named", "truncation/trunc-length-partial-args", MIXED[:2]),
    told(
        Snapshot,
        "execution.complete-only",
        "truncation/trunc-length-partial-args-messages",
        MIXED[2:],
    ),
    told(Detached, "cancel.stops", "selftest/given-up", OTHERS),
    told(Spawning, "cancel.stops", "selftest/given-up", MIXED),
    told(Uncancellable, "scenario.expects", "selftest/given-up", OTHERS),
)
