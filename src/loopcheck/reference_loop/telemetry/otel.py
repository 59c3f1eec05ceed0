"""Runs in OpenTelemetry: spans and metrics by its conventions for generative AI.

Needs `opentelemetry-api` (the extra `telemetry`); where the data goes is set up with its SDK.
"""

from __future__ import annotations

from typing import Final

from opentelemetry.metrics import MeterProvider, get_meter
from opentelemetry.trace import TracerProvider, get_tracer

from loopcheck.reference_loop.telemetry.events import Observer, RunEvent
from loopcheck.reference_loop.telemetry.otel_metrics import Metrics
from loopcheck.reference_loop.telemetry.otel_spans import Spans

SCOPE: Final = "loopcheck.reference_loop"


def opentelemetry_observer(
    *,
    tracer_provider: TracerProvider | None = None,
    meter_provider: MeterProvider | None = None,
    agent_name: str = "",
    content: bool = False,
) -> Observer:
    """An observer for any number of loops and runs; without providers, the global ones are used.

    While a tool runs or the model is asked, that span is the current one, so that what they send
    can carry it on. With `content`, spans also have what was said; metrics never do.
    """
    spans = Spans(get_tracer(SCOPE, tracer_provider=tracer_provider), agent_name)
    metrics = Metrics(get_meter(SCOPE, meter_provider=meter_provider))

    def observe(event: RunEvent) -> None:
        spans.observe(event)
        metrics.observe(event)

    return Observer(observe, content=content)
