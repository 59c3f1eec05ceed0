"""Which trace a request belongs to: the headers of W3C Trace Context."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Final, TypeAlias

TraceHeaders: TypeAlias = Callable[[], Mapping[str, str]]

# What the application says of itself; it goes before the current span of OpenTelemetry.
trace_headers: ContextVar[Mapping[str, str] | None] = ContextVar("trace_headers", default=None)

_PARENT: Final = re.compile(
    r"(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}"
)
_STATE: Final = re.compile(r"[\x20-\x7e]{1,512}")


def current_trace() -> Mapping[str, str]:
    """The headers that `trace_headers` holds, or those of OpenTelemetry's current span where that
    package is installed; else none."""
    given = trace_headers.get()
    return _of_opentelemetry() if given is None else given


def propagated(source: TraceHeaders) -> dict[str, str]:
    """`traceparent` and `tracestate` of the source; an invalid parent is not passed on, nor is a
    state without a parent."""
    given = {name.lower(): text for name, text in source().items()}
    parent, state = given.get("traceparent", ""), given.get("tracestate", "")
    if not _PARENT.fullmatch(parent):
        return {}
    valid_state = {"tracestate": state} if _STATE.fullmatch(state) else {}
    return {"traceparent": parent, **valid_state}


def _of_opentelemetry() -> Mapping[str, str]:
    try:
        from opentelemetry import propagate
    except ImportError:
        return {}
    carrier: dict[str, str] = {}
    propagate.inject(carrier)
    return carrier
