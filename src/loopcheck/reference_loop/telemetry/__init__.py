"""Watching a run: what happens in it, told as events, as logs, and through OpenTelemetry."""
