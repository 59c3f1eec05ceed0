"""What a recorded request holds: what the user said, what was said before, and the tools."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final

from loopcheck.fake_providers.dialects import Memory, dialect
from loopcheck.fake_providers.recordings import Recording
from loopcheck.fake_providers.script import Call, Content, Refuse, Say, Think
from loopcheck.fake_providers.wire import Item, JsonObject, OfferedTool, ServiceError
from loopcheck.harness.importing.values import mapping, mappings, text

# What the service had stored is not in the file.
_STORED: Final = ("previous_response_id", "conversation")


@dataclass(frozen=True, slots=True)
class Asked:
    """A conversation as a request tells it: the user's messages, each with what the model
    answered to it in turns. `stored` says that the service knows what came before."""

    messages: tuple[tuple[str, tuple[tuple[Content, ...], ...]], ...] = ()
    tools: tuple[OfferedTool, ...] = ()
    descriptions: tuple[tuple[str, str], ...] = ()
    stored: bool = False
    left_out: tuple[str, ...] = ()


def asked(recording: Recording) -> Asked:
    """What the request holds; of one that is malformed, nothing."""
    body = recording.request_body
    if body is None:
        return Asked(left_out=("the request, which was not kept",))
    kept = {key: value for key, value in body.items() if key not in _STORED}
    request = replace(recording, request_body=kept, path=_PATHS[recording.protocol]).request()
    try:
        reading = dialect(recording.protocol).read(request, Memory())
    except ServiceError as error:
        return Asked(left_out=(f"the request, which is malformed: {error.message}",))
    lost = ["the system prompt"] if any(item.kind == "system" for item in reading.items) else []
    lost += ["what is neither text, thinking nor a call"] * any(map(_is_other, reading.items))
    return Asked(
        messages=tuple(_messages(reading.items)),
        tools=reading.tools,
        descriptions=tuple(_descriptions(body)),
        stored=any(body.get(key) for key in _STORED),
        left_out=tuple(lost),
    )


_PATHS: Final = {
    "chat": "/v1/chat/completions",
    "responses": "/v1/responses",
    "messages": "/v1/messages",
}


def _is_other(item: Item) -> bool:
    return item.kind == "other" or (item.kind == "user" and not item.text)


def _messages(
    items: Iterable[Item],
) -> Iterator[tuple[str, tuple[tuple[Content, ...], ...]]]:
    """The user's messages with the turns behind each. What the user says beside a result begins
    no message: the run goes on."""
    said: list[str] = []
    turns: list[tuple[Content, ...]] = []
    for reply, run in groupby(items, key=lambda item: item.reply):
        entries = list(run)
        if reply is not None:
            turns.append(tuple(_content(entries)))
        elif not any(item.kind == "result" for item in entries):
            words = [item.text for item in entries if item.kind == "user" and item.text]
            if words and said:
                yield "\n\n".join(said), tuple(turns)
                said, turns = [], []
            said += words
    if said:
        yield "\n\n".join(said), tuple(turns)


def _content(items: Iterable[Item]) -> Iterator[Content]:
    for item in items:
        match item.kind:
            case "say" if item.text:
                yield Say(item.text)
            case "refusal":
                yield Refuse(item.text)
            case "think" if item.text:
                yield Think(item.text)
            case "call":
                yield Call(label="", tool=item.name or "", arguments=item.arguments or "")


def _descriptions(body: JsonObject) -> Iterator[tuple[str, str]]:
    for tool in mappings(body.get("tools")):
        holder = mapping(tool.get("function")) or tool
        if told := text(holder.get("description")):
            yield text(holder.get("name")), told
