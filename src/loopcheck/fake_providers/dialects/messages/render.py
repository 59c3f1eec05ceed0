"""A prepared answer as the Messages service sends it, whole or as events."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from typing import Final

from loopcheck.fake_providers.delivery import label_of
from loopcheck.fake_providers.dialects.messages import content, hosted
from loopcheck.fake_providers.script import Refuse, Stop
from loopcheck.fake_providers.wire import (
    Answer,
    Close,
    Fragment,
    Frame,
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
        "content": content.blocks(answer),
        **_stop(answer),
        "usage": {
            **_first_usage(answer, answer.usage.output),
            **_thinking_usage(answer),
            **_hosted_usage(answer),
        },
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
            usage={**_last_usage(answer), **_hosted_usage(answer)},
        ),
        _frame("message_stop", part="terminal"),
    ]


def _blocks(answer: Answer, steps: Sequence[Step]) -> Iterator[Frame]:
    numbers = count()
    places: dict[int, int] = {}
    for step in steps:
        piece = answer.content[step.index]
        if not content.stands(piece):
            continue
        match step:
            case Open():
                place = places[step.index] = next(numbers)
                yield from _opening(piece, place, answer)
            case Fragment(text=text):
                yield _delta(piece, places[step.index], content.delta(piece, text), text)
            case Close():
                yield from _closing(piece, places[step.index])
                behind = content.follower(piece, answer)
                if behind is not None:
                    place = next(numbers)
                    yield _start(piece, place, behind)
                    yield _stopped(piece, place)


def _opening(piece: Piece, place: int, answer: Answer) -> Iterator[Frame]:
    yield _start(piece, place, content.begun(piece, answer))
    if place == 0:
        yield Frame(event="ping", data=_PING, part="ping")
    for extra in content.extras(piece).first:
        yield _delta(piece, place, extra)


def _closing(piece: Piece, place: int) -> Iterator[Frame]:
    for extra in content.extras(piece).last:
        yield _delta(piece, place, extra)
    yield _stopped(piece, place)


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


def _start(piece: Piece, place: int, block: JsonObject) -> Frame:
    return _labelled("content_block_start", piece, part="open", index=place, content_block=block)


def _delta(piece: Piece, place: int, delta: JsonObject, text: str = "") -> Frame:
    return _labelled(
        "content_block_delta", piece, part="fragment", text=text, index=place, delta=delta
    )


def _stopped(piece: Piece, place: int) -> Frame:
    return _labelled("content_block_stop", piece, part="close", index=place)


def _labelled(kind: str, piece: Piece, *, part: Part, text: str = "", **fields: object) -> Frame:
    data: JsonObject = {"type": kind, **fields}
    return Frame(event=kind, data=data, part=part, label=label_of(piece), text=text)


def _frame(kind: str, *, part: Part = "head", **fields: object) -> Frame:
    return Frame(event=kind, data={"type": kind, **fields}, part=part)


def _identity(answer: Answer) -> JsonObject:
    return {
        "id": answer.response_id,
        "type": "message",
        "role": "assistant",
        "model": answer.model,
    }


def _stop(answer: Answer) -> JsonObject:
    reason = _STOP_REASONS[answer.stop]
    return {
        "stop_reason": reason,
        "stop_sequence": None,
        "stop_details": _refusal(answer) if reason == "refusal" else None,
        **hosted.container(answer),
    }


def _refusal(answer: Answer) -> JsonObject:
    said = "".join(piece.text for piece in answer.content if isinstance(piece, Refuse))
    return {"type": "refusal", "category": None, "explanation": said or None}


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
        **_thinking_usage(answer),
    }


def _thinking_usage(answer: Answer) -> JsonObject:
    return {"output_tokens_details": {"thinking_tokens": answer.usage.reasoning}}


def _hosted_usage(answer: Answer) -> JsonObject:
    requests = hosted.requests(answer)
    return {} if requests is None else {"server_tool_use": requests}
