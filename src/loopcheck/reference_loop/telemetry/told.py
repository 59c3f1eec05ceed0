"""Tells observers what happens in one run.

An observer changes nothing: what it raises is logged, and the run goes on.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, TypeAlias, cast

from loopcheck.reference_loop import events as e
from loopcheck.reference_loop.approvals import Answered, PersonsAnswer, Questions, Settlement
from loopcheck.reference_loop.arguments import canonical
from loopcheck.reference_loop.checkpoints import CheckpointName
from loopcheck.reference_loop.clock import Clock
from loopcheck.reference_loop.machine import Run, State
from loopcheck.reference_loop.records import CallRecord
from loopcheck.reference_loop.telemetry import events as t
from loopcheck.reference_loop.telemetry.exchange import Exchange, noted
from loopcheck.reference_loop.telemetry.logs import is_wanted, logged
from loopcheck.reference_loop.telemetry.telling import tell
from loopcheck.reference_loop.telemetry.watch import NOBODY, Watch
from loopcheck.reference_loop.tools import LoopTool

_CODE: Final = re.compile(r"[\w.:/-]{1,64}")
_KINDS: Final[Mapping[type[e.Reply], t.ResponseKind]] = {
    e.Final: "final",
    e.Calls: "calls",
    e.Refused: "refused",
    e.Incomplete: "incomplete",
    e.Failed: "failed",
}

Observers: TypeAlias = t.Observe | t.Observer | Sequence[t.Observe | t.Observer]


def watch(
    observers: Observers,
    *,
    model: t.ModelName,
    tools: Mapping[str, LoopTool],
    questions: Questions,
    clock: Clock,
) -> Watch:
    """What tells these observers, and the log, about one run."""
    listed = observers if isinstance(observers, Sequence) else [observers]
    told = tuple(one if isinstance(one, t.Observer) else t.Observer(one) for one in listed)
    if is_wanted():
        told = (*told, t.Observer(logged))
    return Told(told, model, tools, questions, clock) if told else NOBODY


@dataclass(slots=True)
class Told(Watch):
    """Somebody watches."""

    observers: tuple[t.Observer, ...]
    model: t.ModelName
    tools: Mapping[str, LoopTool]
    questions: Questions
    clock: Clock
    _error: str = ""

    @property
    def run_id(self) -> str:
        return self.questions.run_id

    @contextmanager
    def run(self, current: Callable[[], Run], prompt: str | None) -> Iterator[None]:
        began = self.clock.running()
        self._begin(current(), prompt)
        error = ""
        try:
            yield
        except BaseException as raised:
            error = type(raised).__name__
            raise
        finally:
            self._end(current(), error, self.clock.running() - began)

    async def request(self, run: Run, ask: Callable[[], Awaitable[e.Reply]]) -> e.Reply:
        self._tell(
            t.RequestStarted(
                run_id=self.run_id,
                model=self.model,
                round=run.rounds + 1,
                attempt=run.failures + 1,
            )
        )
        reply: e.Reply | None = None
        with noted(self.clock.running) as exchange:
            try:
                reply = await ask()
                return reply
            except Exception as raised:
                exchange.error = type(raised).__name__
                raise
            finally:
                self._replied(run, reply, exchange)

    async def tool(self, record: CallRecord, work: Awaitable[CallRecord]) -> CallRecord:
        began = self.clock.running()
        call = self._call(record)
        arguments = canonical(record.arguments)
        self._tell(t.ToolStarted(run_id=self.run_id, call=call, arguments=arguments))
        code = ""
        try:
            record = await work
            code = record.code
        except BaseException as raised:
            code = type(raised).__name__
            raise
        finally:
            self._tell(
                t.ToolEnded(
                    run_id=self.run_id,
                    call=call,
                    outcome=record.outcome,
                    code=_word(code),
                    seconds=self.clock.running() - began,
                    result=record.text,
                )
            )
        return record

    def stepped(self, run: Run, event: e.Event, action: e.Action | None) -> None:
        if isinstance(event, e.Failed) and isinstance(action, e.RequestModel):
            self._tell(
                t.RetryScheduled(
                    run_id=self.run_id,
                    round=run.rounds + 1,
                    error=self._error,
                    failures=run.failures,
                    after_seconds=action.after_seconds,
                )
            )
        elif isinstance(event, e.CallsChecked):
            for position, checked in enumerate(event.checked):
                self._decided(checked, self.questions.records[run.rounds, position])
        if isinstance(action, e.AskApproval) or isinstance(event, e.OutcomeUnknown):
            self._asked()

    def trying_again(
        self, record: CallRecord, code: str, failures: int, after_seconds: float
    ) -> None:
        self._tell(
            t.RetryScheduled(
                run_id=self.run_id,
                round=record.round,
                error=_word(code),
                failures=failures,
                after_seconds=after_seconds,
                call=self._call(record),
            )
        )

    def answered(self, answers: Iterable[Answered]) -> None:
        for answered in answers:
            question, answer = answered.question, answered.answer
            self._tell(
                t.ApprovalDecided(
                    run_id=self.run_id,
                    call_id=question.call_id,
                    tool=question.tool,
                    about=question.about,
                    digest=question.digest,
                    decision=_decision(answer),
                    by=answer.by,
                    seconds=answered.seconds,
                )
            )

    def commit(self, name: CheckpointName, commit: Callable[[], None]) -> None:
        began = self.clock.running()
        commit()
        seconds = self.clock.running() - began
        self._tell(t.CheckpointSaved(run_id=self.run_id, name=name, seconds=seconds))

    def _tell(self, event: t.RunEvent) -> None:
        tell(self.observers, event)

    def _begin(self, run: Run, prompt: str | None) -> None:
        tools = len(self.tools)
        if prompt is not None:
            self._tell(
                t.RunStarted(run_id=self.run_id, model=self.model, tools=tools, prompt=prompt)
            )
            return
        self._tell(
            t.RunResumed(
                run_id=self.run_id,
                model=self.model,
                tools=tools,
                phase=run.phase,
                rounds=run.rounds,
            )
        )

    def _end(self, run: Run, error: str, seconds: float) -> None:
        state = None if error else cast("State", run.phase)
        self._tell(
            t.RunEnded(
                run_id=self.run_id,
                state=state,
                reason="" if error else run.reason,
                error=error,
                rounds=run.rounds,
                calls=run.tool_calls,
                tokens=run.tokens,
                cost=run.cost,
                seconds=seconds,
                # What went wrong may be what a service said about it.
                text=run.text if state in ("completed", "refused") else None,
            )
        )

    def _replied(self, run: Run, reply: e.Reply | None, exchange: Exchange) -> None:
        if isinstance(reply, e.Failed):
            exchange.status = reply.status or exchange.status
            exchange.error = str(reply.status or exchange.error or "_OTHER")
        self._error = exchange.error
        first = exchange.first_at
        self._tell(
            t.RequestEnded(
                run_id=self.run_id,
                model=self.model,
                round=run.rounds + 1,
                attempt=run.failures + 1,
                response=_kind(reply, exchange),
                error=exchange.error,
                calls=len(reply.calls) if isinstance(reply, e.Calls) else 0,
                usage=None if reply is None else reply.usage,
                seconds=self.clock.running() - exchange.began_at,
                first_seconds=None if first is None else first - exchange.began_at,
                response_id=exchange.response_id,
                finish=_word(exchange.finish),
                status=exchange.status,
                bytes_sent=exchange.bytes_sent,
                bytes_received=exchange.bytes_received,
            )
        )

    def _decided(self, checked: e.CheckedCall, record: CallRecord) -> None:
        if record.is_over:
            return
        self._tell(
            t.CallDecided(
                run_id=self.run_id,
                call=self._call(record),
                decision=record.decision,
                code=_word(checked.code),
                by=record.decided_by,
                arguments=checked.call.arguments_text,
                message=checked.message,
            )
        )

    def _asked(self) -> None:
        for question in self.questions.open(self.clock.wall()):
            self._tell(
                t.ApprovalAsked(
                    run_id=self.run_id,
                    call_id=question.call_id,
                    tool=question.tool,
                    about=question.about,
                    digest=question.digest,
                )
            )

    def _call(self, record: CallRecord) -> t.CallName:
        tool = self.tools.get(record.tool)
        return t.CallName(
            round=record.round,
            position=record.position,
            call_id=record.call_id,
            tool=record.tool,
            kind=None if tool is None else tool.kind,
            arguments_digest=record.arguments_digest,
            operation_id=record.operation_id,
        )


def _word(code: str) -> str:
    """A code as it is, if it is a word: it may be what another system made of its answer."""
    return code if code == "" or _CODE.fullmatch(code) else "_OTHER"


def _kind(reply: e.Reply | None, exchange: Exchange) -> t.ResponseKind:
    if reply is None:
        return "error" if exchange.error else "cancelled"
    return _KINDS[type(reply)]


def _decision(answer: PersonsAnswer) -> t.PersonsDecision:
    if isinstance(answer, Settlement):
        return answer.answer
    return "approved" if answer.approved else "denied"
