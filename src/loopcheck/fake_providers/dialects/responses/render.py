"""From an answer to the events of a stream."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from loopcheck.fake_providers.dialects.openai_common import error_object, obfuscation, pads
from loopcheck.fake_providers.dialects.responses import body
from loopcheck.fake_providers.script import Refuse, Say
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
    ServiceError,
    Step,
)

# What the events about a piece's text are called.
_TEXT_EVENT: Final[dict[type[Piece], str]] = {
    Say: "output_text",
    Refuse: "refusal",
    IssuedCall: "function_call_arguments",
}


def frames(answer: Answer, steps: Sequence[Step]) -> list[Frame]:
    """The events from `response.created` to the one that ends the response."""
    stream = _Stream(answer)
    for kind in ("created", "in_progress"):
        stream.send(kind, {"response": body.started(answer)}, part="head")
    for step in steps:
        match step:
            case Open():
                stream.open(step.index)
            case Fragment():
                stream.fragment(step.index, step.text)
            case Close():
                stream.close(step.index)
    response = body.ended(answer)
    stream.send(str(response["status"]), {"response": response}, part="terminal")
    return stream.frames


def error_frames(error: ServiceError, sequence: int, answer: Answer | None) -> list[Frame]:
    """The `error` event and, where the response is known, the failed response."""
    data = _data("error", sequence, {"error": error_object(error)})
    events = [Frame(data=data, event="error", part="error")]
    if answer is not None:
        kind = "response.failed"
        data = _data(kind, sequence + 1, {"response": body.failed(answer, error)})
        events.append(Frame(data=data, event=kind, part="error"))
    return events


class _Stream:
    """The events so far; numbers them and says which piece they are about."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.frames: list[Frame] = []

    def send(
        self, name: str, fields: JsonObject, *, part: Part, label: str | None = None, text: str = ""
    ) -> None:
        kind = f"response.{name}"
        data = _data(kind, len(self.frames), fields)
        self.frames.append(Frame(data=data, event=kind, part=part, label=label, text=text))

    def open(self, index: int) -> None:
        piece = self.answer.content[index]
        begun = body.item(self.answer, index, "in_progress")
        added = {"output_index": index, "item": begun}
        self.send("output_item.added", added, part="open", label=_label(piece))
        if not isinstance(piece, IssuedCall):
            fields = {**self._place(index), "part": body.part(piece, "")}
            self.send("content_part.added", fields, part="open", label=_label(piece))

    def fragment(self, index: int, text: str) -> None:
        piece = self.answer.content[index]
        if isinstance(piece, IssuedCall) and not piece.arguments:
            return
        fields: JsonObject = {**self._place(index), "delta": text}
        if isinstance(piece, Say):
            fields["logprobs"] = []
        if not isinstance(piece, Refuse) and pads(self.answer.reading.body):
            sequence = len(self.frames)
            fields["obfuscation"] = obfuscation(self.answer.response_id, sequence, text)
        name = f"{_TEXT_EVENT[type(piece)]}.delta"
        self.send(name, fields, part="fragment", label=_label(piece), text=text)

    def close(self, index: int) -> None:
        piece = self.answer.content[index]
        label = _label(piece)
        fields = {**self._place(index), **_whole_text(piece)}
        self.send(f"{_TEXT_EVENT[type(piece)]}.done", fields, part="close", label=label)
        if not isinstance(piece, IssuedCall):
            fields = {**self._place(index), "part": body.part(piece, piece.text)}
            self.send("content_part.done", fields, part="close", label=label)
        ended = body.item(self.answer, index, body.final_status(self.answer, index))
        done = {"output_index": index, "item": ended}
        self.send("output_item.done", done, part="close", label=label)

    def _place(self, index: int) -> JsonObject:
        place: JsonObject = {"item_id": body.item_id(self.answer, index), "output_index": index}
        if not isinstance(self.answer.content[index], IssuedCall):
            place["content_index"] = 0
        return place


def _data(kind: str, sequence: int, fields: JsonObject) -> JsonObject:
    return {"type": kind, "sequence_number": sequence, **fields}


def _label(piece: Piece) -> str:
    return piece.label if isinstance(piece, IssuedCall) else "say"


def _whole_text(piece: Piece) -> JsonObject:
    match piece:
        case Say():
            return {"text": piece.text, "logprobs": []}
        case Refuse():
            return {"refusal": piece.text}
        case IssuedCall():
            return {"arguments": piece.arguments}
