"""Errors as a scenario's faults have them: as HTTP responses, and inside a stream."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from email.utils import formatdate
from math import ceil
from typing import Final, TypeAlias, get_args

from loopcheck.fake_providers.dialects.interface import Dialect
from loopcheck.fake_providers.script import DialectName, ErrorForm, ErrorName, Fault
from loopcheck.fake_providers.wire import Answer, Frame, JsonObject, Reading, ServiceError

Headers: TypeAlias = tuple[tuple[str, str], ...]

FORMS: Final[dict[DialectName, tuple[ErrorForm, ...]]] = {
    "responses": ("failed", "error"),
    "chat": ("error", "with-choices", "finish"),
    "messages": ("error",),
}
_ENVELOPE: Final = ("id", "object", "created", "model")


def named(dialect: Dialect, fault: Fault, reading: Reading) -> ServiceError:
    """The error in the dialect's words; a status alone picks the words that go with it."""
    error = dialect.named_error(fault.error, reading)
    if fault.status is not None and fault.status != error.status:
        names: tuple[ErrorName, ...] = get_args(ErrorName)
        fitting = (dialect.named_error(name, reading) for name in names)
        error = next((other for other in fitting if other.status == fault.status), error)
        error = replace(error, status=fault.status)
    if fault.retry_after_ms is not None:
        error = replace(error, retry_after_ms=fault.retry_after_ms)
    return error


def retry_headers(error: ServiceError, fault: Fault, now: float) -> Headers:
    """When to ask again, seen from `now` (seconds since 1970). A date and `retry-after` count
    whole seconds, so neither can announce less than one."""
    delay = error.retry_after_ms
    if delay is None:
        return ()
    if fault.retry_after_date:
        return (("retry-after", formatdate(ceil(now + delay / 1000), usegmt=True)),)
    exact = ("retry-after-ms", str(delay))
    return (exact, ("retry-after", str(ceil(delay / 1000)))) if delay >= 1000 else (exact,)


def in_stream(
    dialect: Dialect, fault: Fault, answer: Answer, sent: int, before: Sequence[Frame]
) -> list[Frame]:
    """The events of an error behind so many that were sent, in the fault's form or the service's
    own. `before` are the events of the response that it strikes."""
    error = named(dialect, fault, answer.reading)
    own = dialect.error_frames(error, sent, answer=answer)
    match fault.form:
        case "with-choices":
            return [_chunk(own[0], before, [])]
        case "finish":
            return [_chunk(own[0], before, [{"index": 0, "delta": {}, "finish_reason": "error"}])]
        case "failed" | "error" if dialect.name == "responses":
            wanted = "error" if fault.form == "error" else "response.failed"
            return [_numbered(frame, sent) for frame in own if frame.event == wanted]
        case _:
            return own


def _chunk(error: Frame, before: Sequence[Frame], choices: list[JsonObject]) -> Frame:
    first = before[0].data if before and isinstance(before[0].data, dict) else {}
    envelope: JsonObject = {key: first[key] for key in _ENVELOPE if key in first}
    reported = error.data if isinstance(error.data, dict) else {}
    return replace(error, data={**envelope, "choices": choices, **reported})


def _numbered(frame: Frame, number: int) -> Frame:
    data = frame.data if isinstance(frame.data, dict) else {}
    return replace(frame, data={**data, "sequence_number": number})
