"""From the neutral history to each protocol's own."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from loopcheck.reference_loop.adapters.chat_calls import ChatCall
from loopcheck.reference_loop.adapters.neutral import Answered, Asked, Entry, Said, rounds
from loopcheck.reference_loop.adapters.parts import (
    chat_answers,
    chat_parts,
    messages_parts,
    responses_parts,
)
from loopcheck.reference_loop.arguments import JsonObject
from loopcheck.reference_loop.content import TextPart
from loopcheck.reference_loop.events import CallResult
from loopcheck.reference_loop.results import is_error


def write_chat(entries: Sequence[Entry]) -> Iterator[JsonObject]:
    """The messages of Chat Completions."""
    for message in rounds(entries):
        answers = [_result(entry) for entry in message if isinstance(entry, Answered)]
        yield from chat_answers(answers)
        if not answers:
            yield _chat_message(message)


def _result(answer: Answered) -> CallResult:
    return CallResult(call_id=answer.call_id, text=answer.text, parts=answer.parts)


def _chat_message(message: Sequence[Entry]) -> JsonObject:
    said = [entry for entry in message if isinstance(entry, Said)]
    calls = [entry for entry in message if isinstance(entry, Asked)]
    text = "\n\n".join(entry.text for entry in said)
    if not calls:
        shown = [part for entry in said for part in entry.parts or (TextPart(entry.text),)]
        has_images = any(entry.parts for entry in said)
        return {"role": said[0].role, "content": chat_parts(shown) if has_images else text}
    items = [ChatCall(call.call_id, call.name, call.arguments, call.kind).item() for call in calls]
    return {"role": "assistant", "content": text or None, "tool_calls": items}


def write_responses(entries: Sequence[Entry]) -> Iterator[JsonObject]:
    """The input items of Responses."""
    custom: set[str] = set()
    for entry in entries:
        match entry:
            case Said(role, text, parts):
                yield {"role": role, "content": responses_parts(parts) or text}
            case Asked(call_id, name, text, "custom"):
                custom.add(call_id)
                call: JsonObject = {"type": "custom_tool_call", "call_id": call_id, "name": name}
                yield {**call, "input": text}
            case Asked(call_id, name, text):
                call = {"type": "function_call", "call_id": call_id, "name": name}
                yield {**call, "arguments": text}
            case _:
                kind = "custom_tool_call" if entry.call_id in custom else "function_call"
                output = responses_parts(entry.parts) or entry.text
                yield {"type": f"{kind}_output", "call_id": entry.call_id, "output": output}


def write_messages(entries: Sequence[Entry]) -> Iterator[JsonObject]:
    """The messages of Messages, where a custom call's text becomes a member `input`."""
    for message in rounds(entries):
        first = message[0]
        role = "assistant" if isinstance(first, Asked) else "user"
        if isinstance(first, Said):
            role = first.role
        content = [block for entry in message for block in _blocks(entry)]
        if content:
            yield {"role": role, "content": content}


def _blocks(entry: Entry) -> list[JsonObject]:
    match entry:
        case Said(_, text, parts):
            return messages_parts(parts or (TextPart(text),))
        case Asked(call_id, name, text, kind):
            given = {"input": text} if kind == "custom" else json.loads(text)
            return [{"type": "tool_use", "id": call_id, "name": name, "input": given}]
    answer: JsonObject = {
        "type": "tool_result",
        "tool_use_id": entry.call_id,
        "content": messages_parts(entry.parts) or entry.text,
    }
    return [{**answer, "is_error": True} if is_error(entry.text) else answer]
