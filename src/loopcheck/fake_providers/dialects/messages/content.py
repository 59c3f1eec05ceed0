"""The content blocks of an answer: whole, and as the events of a stream begin and fill them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from loopcheck.fake_providers.dialects.messages import hosted
from loopcheck.fake_providers.dialects.messages.lenient import completed_json
from loopcheck.fake_providers.script import Refuse, Say
from loopcheck.fake_providers.wire import (
    Answer,
    IssuedCall,
    IssuedHosted,
    IssuedThought,
    JsonObject,
    Piece,
)


def blocks(answer: Answer) -> list[JsonObject]:
    """The content of a whole message."""
    return [block for piece in answer.content for block in _whole(piece, answer)]


def stands(piece: Piece) -> bool:
    """The service sends no empty text block; an empty refusal has no block at all."""
    return not isinstance(piece, Say | Refuse) or piece.text != ""


def begun(piece: Piece, answer: Answer) -> JsonObject:
    """The block as `content_block_start` has it; opaque blocks and results are whole there."""
    match piece:
        case IssuedCall():
            return _tool_use(piece)
        case IssuedHosted(of=None):
            return hosted.call_block(piece, empty=True)
        case IssuedHosted():
            return hosted.result_block(piece, answer)
        case IssuedThought(redacted=True):
            return {"type": "redacted_thinking", "data": piece.seal}
        case IssuedThought():
            return {"type": "thinking", "thinking": "", "signature": ""}
        case Say() | Refuse():
            return {"type": "text", "text": ""}


def delta(piece: Piece, text: str) -> JsonObject:
    """The event that adds this text to the block."""
    match piece:
        case IssuedCall() | IssuedHosted():
            return {"type": "input_json_delta", "partial_json": text}
        case IssuedThought():
            return {"type": "thinking_delta", "thinking": text}
        case Say() | Refuse():
            return {"type": "text_delta", "text": text}


@dataclass(frozen=True, slots=True)
class Extras:
    """Deltas beside the fragments: before the first and behind the last one."""

    first: Sequence[JsonObject] = ()
    last: Sequence[JsonObject] = ()


def extras(piece: Piece) -> Extras:
    """What the service sends around the fragments of this piece."""
    match piece:
        case IssuedCall() | IssuedHosted(of=None):
            return Extras(first=[delta(piece, "")])
        case IssuedThought(redacted=False):
            return Extras(last=[{"type": "signature_delta", "signature": piece.seal}])
        case _:
            return Extras()


def follower(piece: Piece, answer: Answer) -> JsonObject | None:
    """The block with the result that stands right behind a call of the service."""
    if isinstance(piece, IssuedHosted) and piece.of is None and piece.result is not None:
        return hosted.result_block(piece, answer)
    return None


def _whole(piece: Piece, answer: Answer) -> Iterator[JsonObject]:
    match piece:
        case IssuedCall():
            yield {**_tool_use(piece), "input": completed_json(piece.arguments)}
        case IssuedHosted(of=None):
            yield hosted.call_block(piece, empty=False)
            behind = follower(piece, answer)
            if behind is not None:
                yield behind
        case IssuedThought(redacted=False):
            yield {"type": "thinking", "thinking": piece.text, "signature": piece.seal}
        case Say() | Refuse():
            if stands(piece):
                yield {"type": "text", "text": piece.text}
        case _:
            yield begun(piece, answer)


def _tool_use(call: IssuedCall) -> JsonObject:
    if call.form == "custom":
        raise ValueError(f"the call {call.label!r} is a custom one; messages has none")
    return {
        "type": "tool_use",
        "id": call.call_id,
        "name": call.tool,
        "input": {},
        "caller": {"type": "direct"},
    }
