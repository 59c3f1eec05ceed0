"""The spans of a run: `invoke_agent`, and in it `chat` and `execute_tool`.

Events come where things happen, so the current span is always the right parent, also for reads
that run together: each has its task, and each task its own context.
"""

from __future__ import annotations

import json
from contextvars import ContextVar, Token
from dataclasses import dataclass, field
from typing import TypeAlias

from opentelemetry import context
from opentelemetry.context import Context
from opentelemetry.trace import Span, SpanKind, StatusCode, Tracer, set_span_in_context

from loopcheck.reference_loop.telemetry import events as t
from loopcheck.reference_loop.telemetry import otel_names as names

_Open: TypeAlias = tuple[tuple[Span, Token[Context]], ...]


def _none_open() -> ContextVar[_Open]:
    return ContextVar("open_spans", default=())


@dataclass(frozen=True, slots=True)
class Spans:
    """Opens and closes spans as events come."""

    tracer: Tracer
    agent_name: str
    _open: ContextVar[_Open] = field(default_factory=_none_open)

    def observe(self, event: t.RunEvent) -> None:
        match event:
            case t.RunStarted() | t.RunResumed():
                self._run_started(event)
            case t.RunEnded():
                self._run_ended(event)
            case t.RequestStarted():
                self._request_started(event)
            case t.RequestEnded():
                self._request_ended(event)
            case t.ToolStarted():
                self._tool_started(event)
            case t.ToolEnded():
                self._tool_ended(event)
            case _:
                self._note(event)

    def _run_started(self, event: t.RunStarted | t.RunResumed) -> None:
        attributes = names.operation("invoke_agent", event.model)
        prompt = event.prompt if isinstance(event, t.RunStarted) else None
        attributes |= names.known(
            {
                names.CONVERSATION_ID: event.run_id,
                names.AGENT_NAME: self.agent_name,
                names.INPUT_MESSAGES: prompt and _message("user", prompt),
            }
        )
        self._begin(f"invoke_agent {self.agent_name}".rstrip(), SpanKind.INTERNAL, attributes)

    def _run_ended(self, event: t.RunEnded) -> None:
        attributes = names.known(
            {
                names.STATE: event.state,
                names.REASON: event.reason,
                names.ROUNDS: event.rounds,
                names.CALLS: event.calls,
                names.OUTPUT_MESSAGES: event.text and _message("assistant", event.text),
            }
        )
        self._end(attributes, event.error or (event.reason if event.state == "failed" else ""))

    def _request_started(self, event: t.RequestStarted) -> None:
        attributes = names.operation("chat", event.model)
        attributes[names.CONVERSATION_ID] = event.run_id
        attributes |= {names.ROUND: event.round, names.ATTEMPT: event.attempt}
        self._begin(f"chat {event.model.model}".rstrip(), SpanKind.CLIENT, attributes)

    def _request_ended(self, event: t.RequestEnded) -> None:
        attributes = names.known(
            {
                names.RESPONSE: event.response,
                names.RESPONSE_ID: event.response_id,
                names.FINISH_REASONS: (event.finish,),
                names.TIME_TO_FIRST_CHUNK: event.first_seconds,
                names.STATUS_CODE: event.status,
            }
        )
        if usage := event.usage:
            attributes[names.INPUT_TOKENS] = usage.input_tokens
            attributes[names.OUTPUT_TOKENS] = usage.output_tokens
            attributes[names.REASONING_TOKENS] = usage.reasoning_tokens
        self._end(attributes, event.error)

    def _tool_started(self, event: t.ToolStarted) -> None:
        attributes = _call(event.call)
        attributes |= names.known(
            {
                names.OPERATION: "execute_tool",
                names.TOOL_TYPE: "function",
                names.OPERATION_ID: event.call.operation_id,
                names.CALL_ARGUMENTS: event.arguments,
            }
        )
        self._begin(f"execute_tool {event.call.tool}", SpanKind.INTERNAL, attributes)

    def _tool_ended(self, event: t.ToolEnded) -> None:
        attributes = names.known({names.OUTCOME: event.outcome, names.CALL_RESULT: event.result})
        self._end(attributes, "" if event.outcome == "done" else event.code or names.OTHER)

    def _note(self, event: t.RunEvent) -> None:
        """What takes no time, as an event of the span in which it happens."""
        match event:
            case t.CallDecided(decision=decision, code=code):
                attributes = _call(event.call)
                attributes |= names.known({names.DECISION: decision, names.CODE: code})
                self._add("loopcheck.call.decided", attributes)
            case t.RetryScheduled():
                told: names.Attributes = {
                    names.ERROR_TYPE: event.error,
                    names.FAILURES: event.failures,
                    names.AFTER_SECONDS: event.after_seconds,
                }
                self._add("loopcheck.retry.scheduled", told)
            case t.ApprovalAsked():
                self._add("loopcheck.approval.asked", _question(event))
            case t.ApprovalDecided():
                attributes = {**_question(event), names.DECISION: event.decision}
                self._add("loopcheck.approval.decided", attributes)
            case _:
                pass

    def _begin(self, name: str, kind: SpanKind, attributes: names.Attributes) -> None:
        span = self.tracer.start_span(name, kind=kind, attributes=attributes)
        token = context.attach(set_span_in_context(span))
        self._open.set((*self._open.get(), (span, token)))

    def _end(self, attributes: names.Attributes, error: str) -> None:
        *outer, (span, token) = self._open.get()
        self._open.set(tuple(outer))
        context.detach(token)
        span.set_attributes(attributes)
        if error:
            span.set_attribute(names.ERROR_TYPE, error)
            span.set_status(StatusCode.ERROR)
        span.end()

    def _add(self, name: str, attributes: names.Attributes) -> None:
        if opened := self._open.get():
            opened[-1][0].add_event(name, attributes)


def _call(call: t.CallName) -> names.Attributes:
    return names.known(
        {
            names.TOOL_NAME: call.tool,
            names.CALL_ID: call.call_id,
            names.KIND: call.kind,
            names.DIGEST: call.arguments_digest,
        }
    )


def _question(event: t.ApprovalAsked | t.ApprovalDecided) -> names.Attributes:
    return {
        names.TOOL_NAME: event.tool,
        names.CALL_ID: event.call_id,
        names.QUESTION: event.about,
        names.QUESTION_DIGEST: event.digest,
    }


def _message(role: str, text: str) -> str:
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}])
