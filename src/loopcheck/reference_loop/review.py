"""What may become of each call of a response: read, validated, permitted, or asked about.

It is gone through in every round and again after every pause: what was allowed once is allowed
once. The only thing that carries over is a person's answer about exactly this call.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from jsonschema import Draft202012Validator

from loopcheck.reference_loop import schema
from loopcheck.reference_loop.approvals import Questions
from loopcheck.reference_loop.arguments import ArgumentError, JsonObject, digest, parse
from loopcheck.reference_loop.clock import Clock
from loopcheck.reference_loop.events import Calls, CheckedCall, ProposedCall, Verdict
from loopcheck.reference_loop.operations import operation_id
from loopcheck.reference_loop.policy import Policy, ToolUse
from loopcheck.reference_loop.records import CallDecision, CallRecord, Place, Records
from loopcheck.reference_loop.tools import LoopTool

_DECISIONS: Final[Mapping[Verdict, CallDecision]] = {
    "allowed": "allowed",
    "ask": "asked",
    "denied": "denied",
    "invalid": "invalid",
}


@dataclass(frozen=True, slots=True)
class Review:
    """Checks the calls of one run, and enters them in its records."""

    tools: Mapping[str, LoopTool]
    policy: Policy
    records: Records
    questions: Questions
    clock: Clock
    _validators: dict[str, Draft202012Validator] = field(default_factory=dict)

    async def check(self, calls: Calls, round_: int) -> tuple[CheckedCall, ...]:
        """The calls in their order, each with a verdict."""
        return tuple(
            [
                await self._check(call, (round_, position))
                for position, call in enumerate(calls.calls)
            ]
        )

    async def _check(self, call: ProposedCall, place: Place) -> CheckedCall:
        known = self.records.at(place)
        if known is not None and known.is_over:
            return CheckedCall(call=call, verdict="allowed", arguments=known.arguments)
        checked = await self._judge(call, place[0])
        record = self._record(checked, place)
        if known is not None:
            checked, record = self._with_answer(checked, record, known)
        if record.decision == "asked" and record.asked_at is None:
            record = replace(record, asked_at=self.clock.wall())
        self.records.put(record)
        return checked

    async def _judge(self, call: ProposedCall, round_: int) -> CheckedCall:
        try:
            arguments = parse(call.arguments_text)
        except ArgumentError as error:
            return CheckedCall(call=call, verdict="invalid", code=error.code, message=error.message)
        tool = self.tools.get(call.name)
        if tool is None:
            return self._unknown(call, arguments)
        try:
            problems = schema.problems(self._validator(tool), arguments)
        except schema.InvalidSchema as error:
            return _unusable(call, arguments, "invalid_schema", str(error))
        if problems:
            return _unusable(call, arguments, "invalid_arguments", "; ".join(problems))
        use = ToolUse(tool=tool, arguments=arguments, caller=self.policy.caller, round=round_)
        return await self._permit(call, use)

    def _validator(self, tool: LoopTool) -> Draft202012Validator:
        """That of the run: to find it by the whole schema costs as much as to use it."""
        if tool.name not in self._validators:
            self._validators[tool.name] = schema.compiled(tool.parameters)
        return self._validators[tool.name]

    def _unknown(self, call: ProposedCall, arguments: JsonObject) -> CheckedCall:
        offered = [tool.name for tool in self.tools.values() if self.policy.offers(tool)]
        message = f"There is no tool {call.name!r}. Tools: {', '.join(offered) or 'none'}."
        return _unusable(call, arguments, "unknown_tool", message)

    async def _permit(self, call: ProposedCall, use: ToolUse) -> CheckedCall:
        ruling = await self.policy.rule_on(use)
        if ruling.permission == "always":
            return CheckedCall(call=call, verdict="allowed", arguments=use.arguments)
        return CheckedCall(
            call=call,
            verdict="ask" if ruling.permission == "ask" else "denied",
            arguments=use.arguments,
            code=ruling.code,
            message=ruling.reason,
        )

    def _record(self, checked: CheckedCall, place: Place) -> CallRecord:
        tool, arguments = self.tools.get(checked.call.name), checked.arguments
        operation = None
        if tool is not None and arguments is not None:
            operation = operation_id(tool, arguments, call=(self.questions.run_id, *place))
        return CallRecord(
            round=place[0],
            position=place[1],
            call_id=checked.call.call_id,
            tool=checked.call.name,
            tool_version=tool.version if tool else "",
            decision=_DECISIONS[checked.verdict],
            reason=checked.message,
            arguments=arguments,
            arguments_digest="" if arguments is None else digest(arguments),
            operation_id=operation,
        )

    def _with_answer(
        self, checked: CheckedCall, record: CallRecord, known: CallRecord
    ) -> tuple[CheckedCall, CallRecord]:
        """The verdict and the record, with what is known of this very call."""
        if known.outcome == "begun":
            # It was allowed when it began. Whether it may begin again is another matter.
            return (_allowed(checked) if checked.verdict == "ask" else checked), known
        if checked.verdict not in ("allowed", "ask") or not self._is_same(record, known):
            return checked, record
        if known.decision == "approved":
            return _allowed(checked), known
        if known.decision == "denied" and known.decided_at is not None:
            message = known.reason or "A person decided against it."
            return replace(checked, verdict="denied", code="denied", message=message), known
        return checked, known if checked.verdict == "ask" else record

    def _is_same(self, record: CallRecord, known: CallRecord) -> bool:
        same_call = (record.arguments_digest, record.tool_version) == (
            known.arguments_digest,
            known.tool_version,
        )
        return same_call and self.questions.is_current(known, self.clock.wall())


def _allowed(checked: CheckedCall) -> CheckedCall:
    return replace(checked, verdict="allowed", code="", message="")


def _unusable(call: ProposedCall, arguments: JsonObject, code: str, message: str) -> CheckedCall:
    return CheckedCall(
        call=call, verdict="invalid", arguments=arguments, code=code, message=message
    )
