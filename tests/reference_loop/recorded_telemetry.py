"""OpenTelemetry's SDK, with everything that it is given kept in memory."""

from __future__ import annotations

from dataclasses import dataclass, field

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import HistogramDataPoint, InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from loopcheck.reference_loop.telemetry.events import Observer
from loopcheck.reference_loop.telemetry.otel import opentelemetry_observer


@dataclass
class Recorded:
    """What the SDK was given, kept in memory."""

    spans: InMemorySpanExporter = field(default_factory=InMemorySpanExporter)
    reader: InMemoryMetricReader = field(default_factory=InMemoryMetricReader)

    def __post_init__(self) -> None:
        self.tracers = TracerProvider(shutdown_on_exit=False)
        self.tracers.add_span_processor(SimpleSpanProcessor(self.spans))
        self.meters = MeterProvider([self.reader], shutdown_on_exit=False)

    def observer(self, *, content: bool = False, agent_name: str = "") -> Observer:
        return opentelemetry_observer(
            tracer_provider=self.tracers,
            meter_provider=self.meters,
            content=content,
            agent_name=agent_name,
        )

    def named(self, name: str) -> list[ReadableSpan]:
        return [span for span in self.spans.get_finished_spans() if span.name == name]

    def points(self) -> dict[str, dict[tuple[tuple[str, object], ...], object]]:
        """By metric and attributes: the sum of a counter, the sum and count of a histogram."""
        data = self.reader.get_metrics_data()
        assert data is not None
        found: dict[str, dict[tuple[tuple[str, object], ...], object]] = {}
        for metric in data.resource_metrics[0].scope_metrics[0].metrics:
            found[metric.name] = {
                tuple(sorted((point.attributes or {}).items())): (
                    (point.sum, point.count)
                    if isinstance(point, HistogramDataPoint)
                    else getattr(point, "value", None)
                )
                for point in metric.data.data_points
            }
        return found
