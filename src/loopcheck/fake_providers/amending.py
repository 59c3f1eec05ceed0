"""What only improvised answers have, added to the rendered reply: several choices, and the stop
sequence that was met. Log probabilities are added by `logprobs`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from loopcheck.fake_providers.logprobs import with_chat_logprobs, with_text_logprobs
from loopcheck.fake_providers.script import DialectName
from loopcheck.fake_providers.sse import compact
from loopcheck.fake_providers.wire import JsonObject, Reply
from loopcheck.fake_providers.wishes import Wish

_Change: TypeAlias = Callable[[JsonObject], Sequence[JsonObject]]

_DATA: Final = b"data: "


def amended(reply: Reply, wanted: Wish, stop: str | None, name: DialectName) -> Reply:
    """The reply with what was wished for and met; the same reply where nothing was."""
    if reply.status != 200:
        return reply
    if name == "messages" and stop is not None:
        reply = _changed(reply, lambda body: [_tell_stop(body, stop)])
    if wanted.logprobs is not None:
        top = wanted.logprobs
        told = with_chat_logprobs if name == "chat" else with_text_logprobs
        reply = _changed(reply, lambda body: [told(body, top)])
    if name == "chat" and wanted.choices > 1:
        reply = _changed(reply, lambda body: list(_multiplied(body, wanted.choices)))
    return reply


def _changed(reply: Reply, change: _Change) -> Reply:
    segments = [part for segment in reply.segments for part in _segments(segment, change)]
    return replace(reply, segments=tuple(segments))


def _segments(segment: bytes, change: _Change) -> Iterator[bytes]:
    """Each segment is a whole body, or one event."""
    head, mark, data = segment.rpartition(_DATA)
    text = data if mark else segment
    try:
        body: object = json.loads(text)
    except ValueError:
        body = None
    if not isinstance(body, dict):
        yield segment
        return
    end = b"\n\n" if mark else b""
    for made in change(body):
        yield head + mark + compact(made).encode() + end


def _tell_stop(body: JsonObject, stop: str) -> JsonObject:
    told = {"stop_reason": "stop_sequence", "stop_sequence": stop}
    delta = body.get("delta")
    if body.get("type") == "message":
        return {**body, **told}
    if body.get("type") == "message_delta" and isinstance(delta, dict):
        return {**body, "delta": {**delta, **told}}
    return body


def _multiplied(body: JsonObject, count: int) -> Iterator[JsonObject]:
    """Every choice says the same; in a stream their chunks take turns."""
    choices = body.get("choices")
    usage = body.get("usage")
    if isinstance(usage, dict):
        body = {**body, "usage": _times(usage, count)}
    if not isinstance(choices, list) or not choices:
        yield body
        return
    numbered = [{**choice, "index": n} for n in range(count) for choice in choices]
    if body.get("object") == "chat.completion":
        yield {**body, "choices": numbered}
        return
    for choice in numbered:
        yield {**body, "choices": [choice]}


def _times(usage: JsonObject, count: int) -> JsonObject:
    said, heard = usage.get("completion_tokens"), usage.get("prompt_tokens")
    if not isinstance(said, int) or not isinstance(heard, int):
        return usage
    return {**usage, "completion_tokens": said * count, "total_tokens": heard + said * count}
