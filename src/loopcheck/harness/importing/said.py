"""What one exchange comes to: what the model said, and what went wrong with the response."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, get_args

from loopcheck.fake_providers.derive import NotDerivedError, derive
from loopcheck.fake_providers.dialects import dialect
from loopcheck.fake_providers.recordings import Recording
from loopcheck.fake_providers.script import Content, DialectName, ErrorName, Stop
from loopcheck.fake_providers.wire import JsonObject
from loopcheck.harness.importing.exchanges import Exchange
from loopcheck.harness.importing.joined import Joined, joined
from loopcheck.harness.importing.values import mapping

_ERRORS: Final[tuple[ErrorName, ...]] = get_args(ErrorName)
_BREAKS: Final = ("eof", "half-chunk", "reset", "stall")
# The events that each stream begins with, before it says anything.
_HEADS: Final[Mapping[DialectName, int]] = {"chat": 1, "messages": 1, "responses": 2}
_WITHOUT_CONTENT: Final = ("close", "headers-only", "empty")
_ANNOUNCED: Final = ("retry-after", "retry-after-ms", "x-should-retry")


@dataclass(frozen=True, slots=True)
class Said:
    """The content of a response with its stop; `fault` are the keys of an attempt. `left_out`
    says what of it no script can say."""

    content: tuple[Content, ...] = ()
    stop: Stop | None = None
    fault: JsonObject | None = None
    left_out: str | None = None


def said(exchange: Exchange) -> Said:
    """What this exchange comes to."""
    recording = exchange.recording
    if recording.status >= 400:
        return Said(fault=_http(recording))
    if exchange.ended in _WITHOUT_CONTENT:
        return Said(fault={"fault": exchange.ended})
    told = joined(recording)
    fault = _fault(exchange, told)
    try:
        attempt = derive(_whole(recording, told))
    except NotDerivedError as error:
        return Said(fault=fault, left_out=str(error))
    except (TypeError, ValueError):
        return Said(fault=fault, left_out="all of it, which is no response of this protocol")
    if fault is not None:
        return Said(attempt.content, None, fault if attempt.content else _early(fault, recording))
    waits = "that it was only queued" if told.body.get("status") == "queued" else None
    return Said(attempt.content, attempt.stop, None, waits)


def _early(fault: JsonObject, recording: Recording) -> JsonObject:
    """The fault before anything is said: an attempt without content has that of its turn."""
    if fault["fault"] in ("error-body", "empty"):
        return fault
    heads = _HEADS[recording.protocol]
    begun = recording.events is not None and len(recording.events) > heads
    return {**fault, "at": {"frame": heads + 1} if begun else "start"}


def _whole(recording: Recording, told: Joined) -> Recording:
    """The recording as a whole response that ended well, so that what it said can be read."""
    body = told.body
    if recording.protocol == "responses" and body.get("status") not in ("incomplete", "queued"):
        body = {**body, "status": "completed"}
    elif recording.protocol == "messages" and body.get("stop_reason") is None:
        body = {**body, "stop_reason": "end_turn"}
    return replace(recording, events=None, body=body)


def _fault(exchange: Exchange, told: Joined) -> JsonObject | None:
    recording = exchange.recording
    if told.error is not None:
        kind = "error-body" if recording.events is None else "error-event"
        return {"fault": kind, "error": _named(recording.protocol, told.error, None)}
    if told.ended:
        return None
    kind = exchange.ended if exchange.ended in _BREAKS else "eof"
    if recording.events is None:
        return {"fault": kind, "at": "start"}
    return {"fault": kind} if recording.events else {"fault": "empty"}


def _http(recording: Recording) -> JsonObject:
    error = mapping(mapping(recording.body).get("error"))
    name = _named(recording.protocol, error, recording.status)
    fault: JsonObject = {"fault": "http", "error": name}
    if dialect(recording.protocol).named_error(name, None).status != recording.status:
        fault["status"] = min(recording.status, 599)
    announced = {key: recording.headers[key] for key in _ANNOUNCED if key in recording.headers}
    return {**fault, "headers": announced} if announced else fault


def _named(protocol: DialectName, error: JsonObject, status: int | None) -> ErrorName:
    """The name of the error that is most like this one."""
    spoken = dialect(protocol)

    def likeness(name: ErrorName) -> tuple[bool, bool, bool]:
        own = spoken.named_error(name, None)
        code = own.code is not None and own.code in (error.get("code"), error.get("type"))
        return own.status == status, code, own.type == error.get("type")

    best = max(_ERRORS, key=likeness)
    return best if any(likeness(best)) else "server"
