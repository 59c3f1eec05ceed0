"""A prepared answer as the Messages service sends it, whole or as events."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from loopcheck.fake_providers.dialects.interface import Memory
from loopcheck.fake_providers.dialects.messages.lenient import completed_json
from loopcheck.fake_providers.dialects.messages.read import THREAD_SETTINGS
from loopcheck.fake_providers.places import TEXT
from loopcheck.fake_providers.script import Stop
from loopcheck.fake_providers.wire import (
    Answer,
    Close,
    Fragment,
    Frame,
    IssuedCall,
    JsonObject,
    Open,
    Part,
    Piece,
    Step,
)

_STOP_REASONS: Final[dict[Stop, str]] = {
    "end": "end_turn",
    "calls": "tool_use",
    "length": "max_tokens",
    "filter": "refusal",
    "refusal": "refusal",
    "context": "model_context_window_exceeded",
    "pause": "pause_turn",
}
_PING: Final[JsonObject] = {"type": "ping"}


def whole(answer: Answer) -> JsonObject:
    """The message object."""
    return {
        **_identity(answer),
        "content": [_block(piece) for piece in answer.content if _stands(piece)],
        **_stop(answer),
        "usage": _first_usage(answer, answer.usage.output),
    }


def frames(answer: Answer, steps: Sequence[Step]) -> list[Frame]:
    """The events. Blocks count in the order in which they are opened, as clients append them."""
    return [
        _message_start(answer),
        *_blocks(answer, steps),
        _frame(
            "message_delta",
            part="finish",
            delta=_stop(answer),
            usage=_last_usage(answer),
        ),
        _frame("message_stop", part="terminal"),
    ]


def remember(answer: Answer, memory: Memory) -> None:
    """Keeps the conversation where the request asked for a thread."""
    reading = answer.reading
    if reading.body.get("thread") is None:
        return
    content = [_block(piece) for piece in answer.content if _stands(piece)]
    reply: list[JsonObject] = [{"role": "assistant", "content": content}] if content else []
    memory.conversations[answer.response_id] = [*reading.history, *reply]
    before = memory.settings.get(reading.previous or "", {})
    given: JsonObject = {
        name: reading.body[name] for name in THREAD_SETTINGS if name in reading.body
    }
    memory.settings[answer.response_id] = {**before, **given}


def _blocks(answer: Answer, steps: Sequence[Step]) -> Iterator[Frame]:
    places: dict[int, int] = {}
    for step in steps:
        piece = answer.content[step.index]
        if not _stands(piece):
            continue
        if isinstance(step, Open):
            places[step.index] = len(places)
        place = places[step.index]
        match step:
            case Open():
                yield _start(piece, place)
                if place == 0:
                    yield Frame(event="ping", data=_PING, part="ping")
                if isinstance(piece, IssuedCall):
                    yield _delta(piece, place, "")
            case Fragment(text=text):
                yield _delta(piece, place, text)
            case Close():
                yield _labelled("content_block_stop", piece, part="close", index=place)


def _message_start(answer: Answer) -> Frame:
    message: JsonObject = {
        **_identity(answer),
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "stop_details": None,
        "usage": _first_usage(answer, 1),
    }
    return _frame("message_start", message=message)


def _start(piece: Piece, place: int) -> Frame:
    empty = (
        {**_tool_use(piece), "input": {}}
        if isinstance(piece, IssuedCall)
        else {"type": "text", "text": ""}
    )
    return _labelled("content_block_start", piece, part="open", index=place, content_block=empty)


def _delta(piece: Piece, place: int, text: str) -> Frame:
    delta = (
        {"type": "input_json_delta", "partial_json": text}
        if isinstance(piece, IssuedCall)
        else {"type": "text_delta", "text": text}
    )
    return _labelled(
        "content_block_delta", piece, part="fragment", text=text, index=place, delta=delta
    )


def _labelled(kind: str, piece: Piece, *, part: Part, text: str = "", **fields: object) -> Frame:
    label = piece.label if isinstance(piece, IssuedCall) else TEXT
    return Frame(event=kind, data={"type": kind, **fields}, part=part, label=label, text=text)


def _frame(kind: str, *, part: Part = "head", **fields: object) -> Frame:
    return Frame(event=kind, data={"type": kind, **fields}, part=part)


def _stands(piece: Piece) -> bool:
    """The service sends no empty text block; an empty refusal has no block at all."""
    return isinstance(piece, IssuedCall) or piece.text != ""


def _block(piece: Piece) -> JsonObject:
    if isinstance(piece, IssuedCall):
        return {**_tool_use(piece), "input": completed_json(piece.arguments)}
    return {"type": "text", "text": piece.text}


def _tool_use(call: IssuedCall) -> JsonObject:
    return {
        "type": "tool_use",
        "id": call.call_id,
        "name": call.tool,
        "input": {},
        "caller": {"type": "direct"},
    }


def _identity(answer: Answer) -> JsonObject:
    return {
        "id": answer.response_id,
        "type": "message",
        "role": "assistant",
        "model": answer.model,
    }


def _stop(answer: Answer) -> JsonObject:
    reason = _STOP_REASONS[answer.stop]
    details = {"type": "refusal", "category": None, "explanation": None}
    return {
        "stop_reason": reason,
        "stop_sequence": None,
        "stop_details": details if reason == "refusal" else None,
    }


def _first_usage(answer: Answer, output: int) -> JsonObject:
    return {
        "input_tokens": answer.usage.input,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0},
        "output_tokens": output,
        "service_tier": "standard",
        "inference_geo": "global",
    }


def _last_usage(answer: Answer) -> JsonObject:
    return {
        "input_tokens": answer.usage.input,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": answer.usage.output,
        "output_tokens_details": {"thinking_tokens": answer.usage.reasoning},
    }
