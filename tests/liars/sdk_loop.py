"""An honest asynchronous loop over the official SDKs, cut into steps that a liar can do wrong."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import anthropic
import openai
from jsonschema import Draft202012Validator
from sdk_speakers import Answer, Use, speaker

from loopcheck.harness.selftest.liar import CAN
from loopcheck.harness.target import Target, loop
from loopcheck.harness.task import Decision, Outcome, Pending, Task, Tool, ended, final, paused

FAILURES = (openai.APIError, anthropic.APIError, EOFError)


class SdkLoop:
    """One run of a task, paused once at most."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.sdk = speaker(task)
        self.history: list[Any] = [{"role": "user", "content": task.prompt}]
        self.file = task.folder / "paused.json"
        self.decided: dict[str, Decision] = {}

    async def run(self) -> Outcome:
        try:
            return await self.task.stop.cancels(self.rounds())
        except asyncio.CancelledError:
            return ended("cancelled", "cancelled_by_user")
        finally:
            await self.sdk.close()

    async def rounds(self) -> Outcome:
        answer = self.resumed()
        for _ in range(self.task.limits.rounds or 12):
            answer = answer or await self.ask()
            if answer is None:
                return ended("failed", "provider_failure")
            if answer.end != "done":
                return self.stopped(answer)
            if not answer.calls:
                return final(answer.text)
            waiting = self.waiting(answer.calls)
            if waiting:
                return self.pause(answer, waiting)
            self.carry(answer, await self.results(answer.calls))
            answer = None
        return ended("limit", "max_rounds")

    def whole(self, call: Use) -> None:
        """A call of a stream that goes on is whole: nothing is done about it yet."""

    def stopped(self, answer: Answer) -> Outcome:
        if answer.end == "refused":
            return ended("refused", "refused", text=answer.text)
        return ended("failed", "incomplete_response")

    async def ask(self) -> Answer | None:
        """The answer; None where the service fails, too, the second time."""
        for _ in range(2):
            try:
                return await self.sdk.ask(list(self.task.specs), self.history, self.whole)
            except FAILURES:
                continue
        return None

    def waiting(self, calls: list[Use]) -> list[Use]:
        asked = {spec.name for spec in self.task.specs if spec.approval == "ask"}
        return [call for call in calls if call.name in asked and call.id not in self.decided]

    def pause(self, answer: Answer, waiting: list[Use]) -> Outcome:
        calls = [[call.id, call.name, call.arguments] for call in answer.calls]
        kept = [self.history, answer.text, calls, answer.end, answer.items]
        self.file.write_text(json.dumps(kept), encoding="utf-8")
        return paused(
            pending=[
                Pending(call_id=call.id, tool=call.name, arguments=json.loads(call.arguments))
                for call in waiting
            ]
        )

    def resumed(self) -> Answer | None:
        if self.task.resume is None:
            return None
        self.history, text, calls, end, items = json.loads(self.file.read_text(encoding="utf-8"))
        self.decided = {one.call_id: one for one in self.task.resume.decisions}
        return Answer(text, [Use(*call) for call in calls], end, items)

    def carry(self, answer: Answer, results: list[tuple[str, str]]) -> None:
        self.history += self.sdk.said(answer)
        self.history += self.sdk.told(results)

    async def results(self, calls: list[Use]) -> list[tuple[str, str]]:
        texts = await asyncio.gather(*(self.result(call) for call in calls))
        return [(call.id, text) for call, text in zip(calls, texts, strict=True)]

    async def result(self, call: Use) -> str:
        try:
            return await self.execute(call)
        except Exception as error:
            return f"Error: {error}"

    async def execute(self, call: Use) -> str:
        spec = next((spec for spec in self.task.specs if spec.name == call.name), None)
        if spec is None:
            raise LookupError(f"unknown tool {call.name}")
        arguments = self.arguments(call, spec)
        Draft202012Validator(spec.parameters).validate(arguments)
        return await spec.acall(arguments)

    def arguments(self, call: Use, spec: Tool) -> dict[str, Any]:
        decision = self.decided.get(call.id)
        if decision is not None and decision.decide != "approve":
            raise PermissionError("denied by a person")
        arguments = json.loads(call.arguments or "{}") if decision is None else decision.arguments
        if not isinstance(arguments, dict):
            raise TypeError("the arguments are no object")
        return arguments


def target_of(kind: type[SdkLoop]) -> Target:
    """A loop of this kind as a target."""

    async def run(task: Task) -> Outcome:
        return await kind(task).run()

    can = [word for word in CAN if word != "operation_ids"]
    return loop(name=kind.__name__, dialects=("responses", "chat", "messages"), can=can)(run)
