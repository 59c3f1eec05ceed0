"""Responses that a scenario writes out itself, event by event or byte by byte."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from loopcheck.fake_providers.script import DialectName
from loopcheck.fake_providers.sse import compact
from loopcheck.fake_providers.wire import Frame, JsonObject, Part

_ENDED: Final[Mapping[str, str]] = {
    "response.completed": "completed",
    "response.incomplete": "incomplete",
    "response.failed": "failed",
}
# What a response says, and which nobody fills in for it.
_CONTENT: Final = frozenset({"choices", "output", "content"})
_SIGNS: Final[Mapping[DialectName, tuple[bytes, ...]]] = {
    "chat": (b"[DONE]", b'"finish_reason":"', b'"finish_reason": "'),
    "responses": (b"response.completed", b"response.incomplete"),
    "messages": (b"message_stop",),
}


def frames(raw: Sequence[object], native: Sequence[Frame], dialect: DialectName) -> list[Frame]:
    """The events as written: mappings, or text that is the data as it is. Fields of the envelope
    that are missing are taken from `native`, the events of the dialect itself, unless an event
    is written as `{event: …, bare: true}`."""
    return [_frame(event, number, native, dialect) for number, event in enumerate(raw)]


def body(raw: object, native: JsonObject) -> bytes:
    """A whole body as written: bytes, or a mapping with the envelope of `native`."""
    if isinstance(raw, bytes):
        return raw
    given, bare = _unwrapped(raw)
    envelope = {} if bare else {k: v for k, v in native.items() if k not in _CONTENT}
    return compact({**envelope, **given} if isinstance(given, dict) else given).encode()


def signals_end(encoded: bytes, dialect: DialectName) -> bool:
    """Whether these bytes hold the sign by which the dialect ends a response."""
    return any(sign in encoded for sign in _SIGNS[dialect])


def _unwrapped(event: object) -> tuple[object, bool]:
    if isinstance(event, dict) and set(event) == {"event", "bare"}:
        return event["event"], event["bare"] is True
    return event, False


def _frame(event: object, number: int, native: Sequence[Frame], dialect: DialectName) -> Frame:
    given, bare = _unwrapped(event)
    if not isinstance(given, dict):
        return Frame(data=str(given), part="terminal" if given == "[DONE]" else "head")
    data: JsonObject = given if bare else _filled(given, number, native, dialect)
    kind = data.get("type")
    name = kind if isinstance(kind, str) and dialect != "chat" else None
    return Frame(data=data, event=name, part=_part(data))


def _filled(
    event: JsonObject, number: int, native: Sequence[Frame], dialect: DialectName
) -> JsonObject:
    first = native[0].data if isinstance(native[0].data, dict) else {}
    match dialect:
        case "chat":
            return {**{k: v for k, v in first.items() if k not in _CONTENT}, **event}
        case "responses":
            filled: JsonObject = {"type": event.get("type"), "sequence_number": number, **event}
            if "response" in event or event.get("type") in _ENDED:
                filled["response"] = _response(event, first)
            return filled
        case "messages":
            if event.get("type") != "message_start":
                return event
            return {**event, "message": {**_object(first, "message"), **_object(event, "message")}}


def _response(event: JsonObject, first: JsonObject) -> JsonObject:
    status = _ENDED.get(str(event.get("type")), "in_progress")
    return {**_object(first, "response"), "status": status, **_object(event, "response")}


def _part(data: JsonObject) -> Part:
    kind = data.get("type")
    if kind in _ENDED or kind == "message_stop":
        return "terminal"
    choices = data.get("choices")
    reasons = (
        [_object({"": choice}, "").get("finish_reason") for choice in choices or ()]
        if (isinstance(choices, list | tuple))
        else []
    )
    return "finish" if kind == "message_delta" or any(reasons) else "head"


def _object(holder: JsonObject, key: str) -> JsonObject:
    value = holder.get(key)
    return value if isinstance(value, dict) else {}
