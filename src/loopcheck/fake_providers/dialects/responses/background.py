"""Responses that the service works on after it has answered, and their streams.

Time is counted in looks: the first one finds the response in progress, the second one finds it
over. Who has its stream need not look; who comes back after a broken stream finds it over.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from loopcheck.fake_providers.dialects.interface import Memory
from loopcheck.fake_providers.dialects.openai_common import invalid, wrong_type
from loopcheck.fake_providers.dialects.paging import asked
from loopcheck.fake_providers.dialects.responses import body
from loopcheck.fake_providers.wire import Answer, Frame, HttpRequest, JsonObject, ServiceError

_LOOKS: Final = 1
_STORED: Final = re.compile(r"/v1/responses/([^/]+)")


def begin(answer: Answer, memory: Memory) -> None:
    """Notes that this response is not over yet, unless the client is given its stream."""
    if body.in_background(answer.reading.body) and not answer.reading.stream:
        memory.pending[answer.response_id] = _LOOKS


def looked_at(named: str, memory: Memory) -> JsonObject:
    """The stored response of this id as the next look finds it."""
    response = memory.responses[named]
    looks = memory.pending.get(named)
    if looks is None:
        return response
    if looks:
        memory.pending[named] = looks - 1
        return body.unfinished(response, "in_progress")
    del memory.pending[named]
    return response


def cancelled(named: str, memory: Memory) -> JsonObject:
    """The stored response of this id, its end called off where it was not over."""
    response = memory.responses[named]
    if response["background"] is not True:
        raise invalid("Cannot cancel a synchronous response.")
    if memory.pending.pop(named, None) is None:
        return response
    _take_back(response, memory)
    memory.streams.pop(named, None)
    memory.responses[named] = body.unfinished(response, "cancelled")
    return memory.responses[named]


def _take_back(response: JsonObject, memory: Memory) -> None:
    """Takes the output of a response out of the conversations that end with it."""
    output = response["output"]
    made = output if isinstance(output, list) else []
    gone = {item["id"] for item in made}
    for kept in memory.conversations.values():
        while kept and kept[-1].get("id") in gone:
            kept.pop()


def resumed(request: HttpRequest, memory: Memory) -> Sequence[Frame] | None:
    """The events of a stored response that a request asks for, from where it left off."""
    wanted = asked(request.query)
    match = _STORED.fullmatch(request.path)
    if match is None or request.method != "GET" or wanted.get("stream") != "true":
        return None
    response = memory.responses.get(match[1])
    if response is None or response["object"] != "response":
        return None
    if response["background"] is not True:
        raise _unstreamable("background=true")
    if match[1] not in memory.streams:
        raise _unstreamable("stream=true")
    memory.pending.pop(match[1], None)
    plain = wanted.get("include_obfuscation") == "false"
    kept = memory.streams[match[1]][_next_number(wanted) :]
    return [_bare(frame) for frame in kept] if plain else kept


def _next_number(wanted: Mapping[str, str]) -> int:
    after = wanted.get("starting_after")
    if after is None:
        return 0
    try:
        return max(0, int(after) + 1)
    except ValueError:
        raise wrong_type("starting_after", "an integer", after) from None


def _bare(frame: Frame) -> Frame:
    if not isinstance(frame.data, dict):
        return frame
    data = {key: value for key, value in frame.data.items() if key != "obfuscation"}
    return Frame(data=data, event=frame.event, part=frame.part, label=frame.label, text=frame.text)


def _unstreamable(wanting: str) -> ServiceError:
    return invalid(
        f"This response cannot be streamed because it was not created with {wanting}.",
        param="stream",
        code="invalid_request_error",
    )
