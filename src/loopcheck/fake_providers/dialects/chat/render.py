"""From an answer to chat bodies and chunks."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from loopcheck.fake_providers.dialects.chat.form import CALL_TEXT
from loopcheck.fake_providers.dialects.openai_common import pads
from loopcheck.fake_providers.padding import padding
from loopcheck.fake_providers.script import Refuse, Say, Stop
from loopcheck.fake_providers.wire import (
    Answer,
    Fragment,
    Frame,
    IssuedCall,
    IssuedHosted,
    IssuedThought,
    JsonObject,
    Open,
    Part,
    Step,
)

# Nothing on this protocol pauses, so a pause looks like an end.
_FINISH: Final[dict[Stop, str]] = {
    "end": "stop",
    "calls": "tool_calls",
    "length": "length",
    "filter": "content_filter",
    "refusal": "stop",
    "context": "length",
    "pause": "stop",
}


def whole(answer: Answer) -> JsonObject:
    """The body of a response that is not streamed. Raises ValueError for pieces that this
    protocol cannot carry."""
    _refuse_foreign(answer)
    choice: JsonObject = {
        "index": 0,
        "message": _message(answer),
        "logprobs": None,
        "finish_reason": _FINISH[answer.stop],
    }
    return {
        "id": answer.response_id,
        "object": "chat.completion",
        "created": answer.created,
        "model": answer.model,
        "choices": [choice],
        "usage": _usage(answer),
        "service_tier": "default",
        "system_fingerprint": _fingerprint(answer.model),
    }


def frames(answer: Answer, steps: Sequence[Step]) -> list[Frame]:
    """The chunks of a stream, up to `[DONE]`. Raises ValueError for pieces that this protocol
    cannot carry."""
    _refuse_foreign(answer)
    stream = _Stream(answer)
    stream.send(_first_delta(answer), part="head")
    for step in steps:
        _send_step(stream, step)
    stream.send({}, part="finish", finish=_FINISH[answer.stop])
    if answer.reading.include_usage:
        stream.send_usage()
    stream.frames.append(Frame(data="[DONE]", part="terminal"))
    return stream.frames


def _refuse_foreign(answer: Answer) -> None:
    for piece in answer.content:
        if isinstance(piece, IssuedThought):
            raise ValueError(f"chat cannot carry thinking: {piece.text!r}")
        if isinstance(piece, IssuedHosted):
            raise ValueError(f"chat cannot carry the hosted call {piece.label!r} ({piece.kind})")


class _Stream:
    """The chunks so far; knows the envelope that they all share."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.frames: list[Frame] = []
        calls = [n for n, piece in enumerate(answer.content) if isinstance(piece, IssuedCall)]
        self.call_index = {position: index for index, position in enumerate(calls)}

    def send(
        self,
        delta: JsonObject,
        *,
        part: Part,
        label: str | None = None,
        text: str = "",
        finish: str | None = None,
    ) -> None:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        usage: JsonObject = {"usage": None} if self.answer.reading.include_usage else {}
        chunk = self._chunk([choice], usage, text)
        self.frames.append(Frame(data=chunk, part=part, label=label, text=text))

    def send_usage(self) -> None:
        chunk = self._chunk([], {"usage": _usage(self.answer)}, "")
        self.frames.append(Frame(data=chunk, part="usage"))

    def _chunk(self, choices: list[JsonObject], usage: JsonObject, text: str) -> JsonObject:
        answer = self.answer
        chunk: JsonObject = {
            "id": answer.response_id,
            "object": "chat.completion.chunk",
            "created": answer.created,
            "model": answer.model,
            "service_tier": "default",
            "system_fingerprint": _fingerprint(answer.model),
            "choices": choices,
            **usage,
        }
        if pads(answer.reading.body):
            chunk["obfuscation"] = padding(answer.response_id, len(self.frames), text)
        return chunk


def _send_step(stream: _Stream, step: Step) -> None:
    piece = stream.answer.content[step.index]
    if isinstance(piece, IssuedCall):
        _send_call_step(stream, step, piece)
    elif isinstance(step, Fragment):
        key = "content" if isinstance(piece, Say) else "refusal"
        stream.send({key: step.text}, part="fragment", label="say", text=step.text)


def _send_call_step(stream: _Stream, step: Step, call: IssuedCall) -> None:
    index = stream.call_index[step.index]
    if isinstance(step, Open):
        head = {"index": index, **_call(call, "")}
        stream.send({"tool_calls": [head]}, part="open", label=call.label)
    elif isinstance(step, Fragment) and call.arguments:
        fragment = {"index": index, call.form: {CALL_TEXT[call.form]: step.text}}
        stream.send({"tool_calls": [fragment]}, part="fragment", label=call.label, text=step.text)


def _first_delta(answer: Answer) -> JsonObject:
    if _content(answer) is not None:
        return {"role": "assistant", "content": "", "refusal": None}
    if _refusal(answer) is not None:
        return {"role": "assistant", "content": None, "refusal": ""}
    return {"role": "assistant", "content": None}


def _message(answer: Answer) -> JsonObject:
    message: JsonObject = {"role": "assistant", "content": _content(answer)}
    if answer.calls:
        message["tool_calls"] = [_call(call, call.arguments) for call in answer.calls]
    return {**message, "refusal": _refusal(answer), "annotations": []}


def _call(call: IssuedCall, arguments: str) -> JsonObject:
    return {
        "id": call.call_id,
        "type": call.form,
        call.form: {"name": call.tool, CALL_TEXT[call.form]: arguments},
    }


def _content(answer: Answer) -> str | None:
    """The text; null where something else is said, but not where nothing is."""
    texts = [piece.text for piece in answer.content if isinstance(piece, Say)]
    return "".join(texts) if texts or not answer.content else None


def _refusal(answer: Answer) -> str | None:
    texts = [piece.text for piece in answer.content if isinstance(piece, Refuse)]
    return "".join(texts) if texts else None


def _usage(answer: Answer) -> JsonObject:
    usage = answer.usage
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": usage.reasoning,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }


@lru_cache(maxsize=64)
def _fingerprint(model: str) -> str:
    return "fp_" + hashlib.sha256(model.encode()).hexdigest()[:10]
