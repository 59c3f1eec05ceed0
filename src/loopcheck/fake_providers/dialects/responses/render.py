"""From an answer to the events of a stream."""

from __future__ import annotations

from collections.abc import Sequence

from loopcheck.fake_providers.delivery import label_of
from loopcheck.fake_providers.dialects.openai_common import error_object, pads
from loopcheck.fake_providers.dialects.responses import body, hosted, output
from loopcheck.fake_providers.padding import padding
from loopcheck.fake_providers.script import Refuse, Say
from loopcheck.fake_providers.wire import (
    Answer,
    Close,
    Fragment,
    Frame,
    IssuedCall,
    IssuedHosted,
    IssuedThought,
    JsonObject,
    Open,
    Part,
    Piece,
    ServiceError,
    Step,
)


def frames(answer: Answer, steps: Sequence[Step]) -> list[Frame]:
    """The events from `response.created` to the one that ends the response."""
    stream = _Stream(answer)
    if body.in_background(answer.reading.body):
        for kind in ("created", "queued"):
            stream.send(kind, {"response": body.queued(answer)}, part="head")
    else:
        stream.send("created", {"response": body.started(answer)}, part="head")
    stream.send("in_progress", {"response": body.started(answer)}, part="head")
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
        begun = output.item(self.answer, index, "in_progress")
        added = {"output_index": index, "item": begun}
        self.send("output_item.added", added, part="open", label=label_of(piece))
        match piece:
            case Say() | Refuse():
                self._about(index, "content_part.added", {"part": output.part(piece, "")}, "open")
            case IssuedThought() if output.shows(piece):
                part = output.summary_part("")
                self._about(index, "reasoning_summary_part.added", {"part": part}, "open")
            case IssuedHosted():
                for name in hosted.grammar_of(piece).begins:
                    self._about(index, name, {}, "open")
            case _:
                pass

    def fragment(self, index: int, text: str) -> None:
        piece = self.answer.content[index]
        event = _text_event(piece)
        if event is None or not text:
            return
        fields: JsonObject = {"delta": text}
        if isinstance(piece, Say):
            fields["logprobs"] = []
        if not isinstance(piece, Refuse) and pads(self.answer.reading.body):
            sequence = len(self.frames)
            fields["obfuscation"] = padding(self.answer.response_id, sequence, text)
        self._about(index, f"{event[0]}.delta", fields, "fragment", text)

    def close(self, index: int) -> None:
        piece = self.answer.content[index]
        status = output.final_status(self.answer, index)
        event = _text_event(piece)
        if event is not None:
            self._about(index, f"{event[0]}.done", _whole_text(piece, event[1]), "close")
        match piece:
            case Say() | Refuse():
                part = output.part(piece, piece.text)
                self._about(index, "content_part.done", {"part": part}, "close")
            case IssuedThought() if output.shows(piece):
                part = output.summary_part(piece.text)
                self._about(index, "reasoning_summary_part.done", {"part": part}, "close")
            case IssuedHosted() if status == "completed":
                self._end_hosted(index, piece)
            case _:
                pass
        ended = output.item(self.answer, index, status)
        done = {"output_index": index, "item": ended}
        self.send("output_item.done", done, part="close", label=label_of(piece))

    def _end_hosted(self, index: int, piece: IssuedHosted) -> None:
        for name in hosted.grammar_of(piece).ends:
            failed = hosted.failure(piece) is not None
            self._about(
                index, name.replace(".completed", ".failed") if failed else name, {}, "close"
            )

    def _about(self, index: int, name: str, fields: JsonObject, part: Part, text: str = "") -> None:
        """An event about the piece at this index, and where in it."""
        piece = self.answer.content[index]
        place: JsonObject = {
            "item_id": output.item_id(self.answer, index),
            "output_index": index,
        }
        if isinstance(piece, Say | Refuse):
            place["content_index"] = 0
        elif isinstance(piece, IssuedThought):
            place["summary_index"] = 0
        self.send(name, {**place, **fields}, part=part, label=label_of(piece), text=text)


def _data(kind: str, sequence: int, fields: JsonObject) -> JsonObject:
    return {"type": kind, "sequence_number": sequence, **fields}


def _text_event(piece: Piece) -> tuple[str, str] | None:
    """What the events about a piece's text are called, and where the last has the whole."""
    match piece:
        case Say():
            return "output_text", "text"
        case Refuse():
            return "refusal", "refusal"
        case IssuedCall(form="custom"):
            return "custom_tool_call_input", "input"
        case IssuedCall():
            return "function_call_arguments", "arguments"
        case IssuedThought():
            return ("reasoning_summary_text", "text") if output.shows(piece) else None
        case IssuedHosted():
            return hosted.grammar_of(piece).text


def _whole_text(piece: Piece, key: str) -> JsonObject:
    match piece:
        case IssuedCall() | IssuedHosted():
            return {key: piece.arguments}
        case Say():
            return {key: piece.text, "logprobs": []}
        case _:
            return {key: piece.text}
