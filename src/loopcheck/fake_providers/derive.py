"""From a recorded response to the content that a script would have for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from loopcheck.fake_providers.derive_responses import NotDerivedError, response_content
from loopcheck.fake_providers.recordings import Recording
from loopcheck.fake_providers.script import (
    Attempt,
    Call,
    Content,
    Delivery,
    DialectName,
    ErrorName,
    Fault,
    Hosted,
    Place,
    Refuse,
    Say,
    Stop,
    Think,
    Usage,
)
from loopcheck.fake_providers.sse import compact
from loopcheck.fake_providers.wire import JsonObject

__all__ = ["NotDerivedError", "derive", "whole"]

_CHAT_STOPS: Final[Mapping[object, Stop]] = {
    "stop": "end",
    "tool_calls": "calls",
    "length": "length",
    "content_filter": "filter",
}
_MESSAGE_STOPS: Final[Mapping[object, Stop]] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "tool_use": "calls",
    "max_tokens": "length",
    "refusal": "refusal",
    "pause_turn": "pause",
    "model_context_window_exceeded": "context",
}
_ERRORS: Final[Mapping[object, ErrorName]] = {
    "insufficient_quota": "quota",
    "rate_limit_exceeded": "rate_limit",
}
_RESULT: Final = "_tool_result"
_USES: Final = ("server_tool_use", "mcp_tool_use")


@dataclass(frozen=True, slots=True)
class _Said:
    content: list[Content]
    stop: Stop
    usage: Usage | None
    fault: Fault | None = None


def derive(recording: Recording) -> Attempt:
    """The attempt that says what was recorded; of several choices, the first. Raises
    NotDerivedError."""
    said = _DERIVE[recording.protocol](whole(recording))
    return Attempt(
        content=tuple(said.content),
        stop=said.stop,
        usage=said.usage,
        delivery=Delivery(fragments=8),
        fault=said.fault,
    )


def whole(recording: Recording) -> JsonObject:
    """The recorded response as one body, put together where it was streamed."""
    if recording.events is None:
        return _object(recording.body)
    events = [_object(event.data) for event in recording.events]
    return _JOIN[recording.protocol](events)


def _chat(body: JsonObject) -> _Said:
    choices = _objects(body.get("choices"))
    if not choices:
        raise NotDerivedError("no choice")
    message = _object(choices[0].get("message"))
    content: list[Content] = []
    if isinstance(text := message.get("content"), str):
        content.append(Say(text))
    if isinstance(refusal := message.get("refusal"), str):
        content.append(Refuse(refusal))
    content += [_chat_call(call, n) for n, call in enumerate(_objects(message.get("tool_calls")))]
    usage = _object(body.get("usage"))
    stop = _CHAT_STOPS.get(choices[0].get("finish_reason"), "end")
    return _Said(content, stop, _usage(usage, "prompt_tokens", "completion_tokens"))


def _chat_call(call: JsonObject, number: int) -> Call:
    form = "custom" if call.get("type") == "custom" else "function"
    holder = _object(call.get(form))
    return Call(
        label=f"c{number}",
        tool=str(holder.get("name")),
        arguments=str(holder.get("input" if form == "custom" else "arguments")),
        wire_id=str(call.get("id")),
        form="custom" if form == "custom" else "function",
    )


def _join_chat(chunks: Iterable[JsonObject]) -> JsonObject:
    body: JsonObject = {}
    choices: dict[object, JsonObject] = {}
    for chunk in chunks:
        body.update({key: chunk[key] for key in ("model", "usage") if chunk.get(key)})
        for part in _objects(chunk.get("choices")):
            choice = choices.setdefault(part.get("index"), {"message": {}, "finish_reason": None})
            choice["finish_reason"] = part.get("finish_reason") or choice["finish_reason"]
            _add_delta(_object(choice["message"]), _object(part.get("delta")))
    return {**body, "choices": list(choices.values())}


def _add_delta(message: JsonObject, delta: JsonObject) -> None:
    for key in ("content", "refusal"):
        if isinstance(text := delta.get(key), str):
            message[key] = str(message.get(key) or "") + text
    calls = message.setdefault("tool_calls", [])
    assert isinstance(calls, list)
    for part in _objects(delta.get("tool_calls")):
        if part.get("id"):
            calls.append({**part, "function": dict(_object(part.get("function")))})
        else:
            holder = calls[-1]["function"]
            holder["arguments"] += str(_object(part.get("function")).get("arguments"))
    if message.get("refusal") and not message.get("content"):
        message["content"] = None
    if calls and not message.get("content"):
        message["content"] = None


def _messages(body: JsonObject) -> _Said:
    labels: dict[object, str] = {}
    content = [_block(block, labels) for block in _objects(body.get("content"))]
    reason = body.get("stop_reason")
    stop = _MESSAGE_STOPS.get(reason)
    if stop is None:
        raise NotDerivedError(f"the stop reason {reason!r}")
    usage = _usage(_object(body.get("usage")), "input_tokens", "output_tokens")
    return _Said(content, stop, usage)


def _block(block: JsonObject, labels: dict[object, str]) -> Content:
    kind = str(block.get("type"))
    match kind:
        case "text":
            return Say(str(block.get("text")))
        case "thinking":
            return Think(str(block.get("thinking")))
        case "redacted_thinking":
            return Think(redacted=True)
        case "tool_use":
            label = f"c{len(labels)}"
            labels[block.get("id")] = label
            text = str(block.get("partial_json", compact(block.get("input"))))
            tool, wire_id = str(block.get("name")), str(block.get("id"))
            return Call(label=label, tool=tool, arguments=text, wire_id=wire_id)
        case _ if kind in _USES or kind.endswith(_RESULT):
            return _hosted(block, kind, labels)
        case _:
            raise NotDerivedError(f"a block of type {kind!r}")


def _hosted(block: JsonObject, kind: str, labels: dict[object, str]) -> Hosted:
    label = f"h{len(labels)}"
    if kind in _USES:
        labels[block.get("id")] = label
        name = str(block.get("name"))
        text = str(block.get("partial_json", compact(block.get("input"))))
        is_mcp = kind == "mcp_tool_use"
        return Hosted(label=label, kind="mcp" if is_mcp else name, name=name, arguments=text)
    told = {key: value for key, value in block.items() if key not in ("type", "tool_use_id")}
    named = kind.removesuffix(_RESULT)
    of = labels.get(block.get("tool_use_id"), "earlier")
    return Hosted(label=label, kind=named, name=named, result=told, of=of)


def _join_messages(events: Iterable[JsonObject]) -> JsonObject:
    body: JsonObject = {}
    blocks: list[JsonObject] = []
    for event in events:
        match event.get("type"):
            case "message_start":
                if body:
                    raise NotDerivedError("several responses")
                body = dict(_object(event.get("message")))
            case "content_block_start":
                blocks.append(dict(_object(event.get("content_block"))))
            case "content_block_delta":
                _add_to_block(blocks[-1], _object(event.get("delta")))
            case "message_delta":
                usage = {**_object(body.get("usage")), **_object(event.get("usage"))}
                body = {**body, **_object(event.get("delta")), "usage": usage}
            case "error":
                raise NotDerivedError("an error inside the stream")
    return {**body, "content": blocks}


def _add_to_block(block: JsonObject, delta: JsonObject) -> None:
    for key, holder in (("text", "text"), ("thinking", "thinking"), ("partial_json",) * 2):
        if isinstance(text := delta.get(key), str):
            block[holder] = str(block.get(holder, "")) + text


def _responses(body: JsonObject) -> _Said:
    status = body.get("status")
    if status == "queued":
        return _Said([], "end", None)
    if status == "failed" and isinstance(body.get("number"), int):
        return _Said([], "end", None, _error(body))
    if status not in ("completed", "incomplete"):
        raise NotDerivedError(f"a response whose status is {status!r}")
    content = [
        piece
        for n, item in enumerate(_objects(body.get("output")))
        for piece in response_content(item, n)
    ]
    reason = _object(body.get("incomplete_details")).get("reason")
    stop: Stop = "end"
    if status == "incomplete":
        stop = "filter" if reason == "content_filter" else "length"
    elif any(isinstance(piece, Call) for piece in content):
        stop = "calls"
    elif any(isinstance(piece, Refuse) for piece in content):
        stop = "refusal"
    usage = _usage(_object(body.get("usage")), "input_tokens", "output_tokens")
    return _Said(content, stop, usage)


def _join_responses(events: Iterable[JsonObject]) -> JsonObject:
    last: JsonObject = {}
    for number, event in enumerate(events, 1):
        if event.get("type") == "error":
            return {**_object(last.get("response")), **_failed(number, event, last)}
        last = event
    return _object(last.get("response"))


def _failed(number: int, event: JsonObject, before: JsonObject) -> JsonObject:
    """What became of a response in whose stream an error stands."""
    if "response" not in before:
        raise NotDerivedError("an error behind a part of the answer")
    return {"status": "failed", "error": event.get("error"), "number": number}


def _error(body: JsonObject) -> Fault:
    code, number = _object(body.get("error")).get("code"), body.get("number")
    at = Place(frame=number if isinstance(number, int) else None)
    return Fault(kind="error-event", at=at, error=_ERRORS.get(code, "server"))


def _usage(usage: JsonObject, heard: str, said: str) -> Usage | None:
    given, taken = usage.get(heard), usage.get(said)
    if not isinstance(given, int) or not isinstance(taken, int):
        return None
    return Usage(input=given, output=taken)


def _object(value: object) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _objects(value: object) -> list[JsonObject]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


_DERIVE: Final[Mapping[DialectName, Callable[[JsonObject], _Said]]] = {
    "chat": _chat,
    "messages": _messages,
    "responses": _responses,
}
_JOIN: Final[Mapping[DialectName, Callable[[Iterable[JsonObject]], JsonObject]]] = {
    "chat": _join_chat,
    "messages": _join_messages,
    "responses": _join_responses,
}
