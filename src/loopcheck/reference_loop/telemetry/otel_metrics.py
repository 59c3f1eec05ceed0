"""The metrics of runs: those of OpenTelemetry's conventions, and our own under `loopcheck.`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from opentelemetry.metrics import Counter, Histogram, Meter

from loopcheck.reference_loop.telemetry import events as t
from loopcheck.reference_loop.telemetry import otel_names as names

# As the conventions have them.
_SECONDS: Final = tuple(0.01 * 2**power for power in range(14))
_TOKENS: Final = tuple(4**power for power in range(14))
# Waits for people: a second to four days.
_WAITS: Final = (1, 5, 15, 60, 300, 900, 3600, 14400, 86400, 345600)


class Metrics:
    """Records what events say."""

    def __init__(self, meter: Meter) -> None:
        self._meter = meter
        self._asking = self._seconds("gen_ai.client.operation.duration", "Requests to the model.")
        self._first = self._seconds(
            "gen_ai.client.operation.time_to_first_chunk", "Until the first event of a stream."
        )
        self._tokens = meter.create_histogram(
            "gen_ai.client.token.usage",
            unit="{token}",
            description="Tokens of a response.",
            explicit_bucket_boundaries_advisory=_TOKENS,
        )
        self._runs = self._seconds("gen_ai.invoke_agent.duration", "Work on a run.")
        self._working = self._seconds("gen_ai.execute_tool.duration", "Work of a tool on a call.")
        self._waiting = self._seconds("loopcheck.approval.wait", "Until a person decided.", _WAITS)
        self._saving = self._seconds("loopcheck.checkpoint.duration", "Commits of the store.")
        self._rounds = self._counter("rounds", "{round}", "Accepted responses.")
        self._calls = self._counter("calls", "{call}", "Calls, by what was decided about them.")
        self._invalid = self._counter("calls.invalid", "{call}", "Calls that were unusable.")
        self._retries = self._counter("retries", "{retry}", "Requests and reads tried again.")
        self._statuses = self._counter("http.responses", "{response}", "HTTP answers, by status.")
        self._sent = self._counter("http.sent", "By", "Bodies of requests.")
        self._received = self._counter("http.received", "By", "Bodies of responses, as received.")

    def observe(self, event: t.RunEvent) -> None:
        match event:
            case t.RunEnded():
                self._run_ended(event)
            case t.RequestEnded():
                self._request_ended(event)
            case t.RetryScheduled(call=call, error=error):
                tool = "" if call is None else _tool(call)
                self._retries.add(1, names.known({names.TOOL_NAME: tool, names.ERROR_TYPE: error}))
            case t.CallDecided():
                self._decided(event)
            case t.ToolEnded():
                self._tool_ended(event)
            case t.ApprovalDecided(seconds=seconds) if seconds is not None:
                about = {names.TOOL_NAME: event.tool, names.DECISION: event.decision}
                self._waiting.record(seconds, about)
            case t.CheckpointSaved(name=name, seconds=seconds):
                self._saving.record(seconds, {names.CHECKPOINT: name})
            case _:
                pass

    def _run_ended(self, event: t.RunEnded) -> None:
        error = event.error or (event.reason if event.state == "failed" else "")
        attributes = {
            names.OPERATION: "invoke_agent",
            names.STATE: event.state,
            names.ERROR_TYPE: error,
        }
        self._runs.record(event.seconds, names.known(attributes))

    def _request_ended(self, event: t.RequestEnded) -> None:
        common = names.operation("chat", event.model)
        self._asking.record(event.seconds, common | names.known({names.ERROR_TYPE: event.error}))
        if event.first_seconds is not None:
            self._first.record(event.first_seconds, common)
        if usage := event.usage:
            self._tokens.record(usage.input_tokens, {**common, names.TOKEN_TYPE: "input"})
            self._tokens.record(usage.output_tokens, {**common, names.TOKEN_TYPE: "output"})
        if event.response not in ("failed", "cancelled", "error"):
            self._rounds.add(1, {**common, names.RESPONSE: event.response})
        if event.status is not None:
            self._statuses.add(1, {**common, names.STATUS_CODE: event.status})
        self._sent.add(event.bytes_sent or 0, common)
        self._received.add(event.bytes_received or 0, common)

    def _decided(self, event: t.CallDecided) -> None:
        tool = _tool(event.call)
        self._calls.add(1, {names.TOOL_NAME: tool, names.DECISION: event.decision})
        if event.decision == "invalid":
            self._invalid.add(1, {names.TOOL_NAME: tool, names.CODE: event.code})

    def _tool_ended(self, event: t.ToolEnded) -> None:
        attributes = {
            names.OPERATION: "execute_tool",
            names.TOOL_NAME: event.call.tool,
            names.OUTCOME: event.outcome,
            names.ERROR_TYPE: "" if event.outcome == "done" else event.code or names.OTHER,
        }
        self._working.record(event.seconds, names.known(attributes))

    def _seconds(
        self, name: str, description: str, buckets: Sequence[float] = _SECONDS
    ) -> Histogram:
        return self._meter.create_histogram(
            name, unit="s", description=description, explicit_bucket_boundaries_advisory=buckets
        )

    def _counter(self, name: str, unit: str, description: str) -> Counter:
        return self._meter.create_counter(f"loopcheck.{name}", unit=unit, description=description)


def _tool(call: t.CallName) -> str:
    """A model can write any name, and each would be a series of its own."""
    return call.tool if call.kind else names.OTHER
