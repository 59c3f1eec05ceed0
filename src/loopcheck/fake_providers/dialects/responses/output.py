"""The output items of a response: one for each piece of the answer."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from loopcheck.fake_providers.dialects.responses import hosted, origins
from loopcheck.fake_providers.script import Refuse, Say
from loopcheck.fake_providers.wire import (
    Answer,
    IssuedCall,
    IssuedHosted,
    IssuedThought,
    JsonObject,
)

ItemStatus: TypeAlias = Literal["in_progress", "completed", "incomplete"]

# The type of a client call on the wire, and the field for what the model wrote.
CALL_TYPES: Final = {
    "function": ("function_call", "arguments"),
    "custom": ("custom_tool_call", "input"),
}
_SEAL_HEAD: Final = len("gAAAAAB")


def items(answer: Answer) -> list[JsonObject]:
    """The finished output items, in order."""
    return [item(answer, n, final_status(answer, n)) for n in range(len(answer.content))]


def final_status(answer: Answer, index: int) -> ItemStatus:
    """The status of an item when it is done: what the token limit cut is incomplete."""
    cut = answer.stop in ("length", "context") and index == len(answer.content) - 1
    return "incomplete" if cut else "completed"


def item(answer: Answer, index: int, status: ItemStatus) -> JsonObject:
    """The output item for a piece of the answer; empty while in progress."""
    piece = answer.content[index]
    begun = status == "in_progress"
    match piece:
        case IssuedCall():
            return _call(answer, index, piece, status)
        case IssuedThought():
            return _reasoning(piece, begun=begun)
        case IssuedHosted():
            return hosted.item(piece, status, answer.reading.body)
        case Say() | Refuse():
            return {
                "id": answer.item_ids[index],
                "type": "message",
                "status": status,
                "content": [] if begun else [part(piece, piece.text)],
                "role": "assistant",
                **origins.phase(answer, index),
            }


def item_id(answer: Answer, index: int) -> str:
    """The id by which events name an output item."""
    piece = answer.content[index]
    match piece:
        case IssuedHosted():
            return hosted.item_id(piece)
        case IssuedCall() | IssuedThought():
            return piece.item_id
        case _:
            return answer.item_ids[index]


def part(piece: Say | Refuse, text: str) -> JsonObject:
    """The content part of a message."""
    if isinstance(piece, Refuse):
        return {"type": "refusal", "refusal": text}
    return {"type": "output_text", "annotations": [], "logprobs": [], "text": text}


def summary_part(text: str) -> JsonObject:
    """The part of a reasoning item that can be read."""
    return {"type": "summary_text", "text": text}


def shows(thought: IssuedThought) -> bool:
    """Whether there is a summary of this reasoning."""
    return bool(thought.text) and not thought.redacted


def _call(answer: Answer, index: int, call: IssuedCall, status: ItemStatus) -> JsonObject:
    kind, text = CALL_TYPES[call.form]
    caller = origins.caller(answer, index)
    return {
        "id": call.item_id,
        "type": kind,
        # A program waits for its calls until it ends.
        "status": "in_progress" if caller and status == "completed" else status,
        text: "" if status == "in_progress" else call.arguments,
        "call_id": call.call_id,
        **caller,
        "name": call.tool,
        **origins.home(answer.reading.body, call.tool),
    }


def _reasoning(thought: IssuedThought, *, begun: bool) -> JsonObject:
    head, rest = thought.seal[:_SEAL_HEAD], thought.seal[_SEAL_HEAD:]
    summary = [summary_part(thought.text)] if shows(thought) and not begun else []
    return {
        "id": thought.item_id,
        "type": "reasoning",
        "content": [],
        # What the service sends at first is another value, which must not be sent back.
        "encrypted_content": head + rest[::-1] if begun else thought.seal,
        "summary": summary,
    }
