"""How far the fake is from a recorded response: which events and fields one has and not the other.

What was said is taken from the recording and rendered again, so that only the form can differ. Of
events the order of their types is compared, a run of the same type as one; of fields the paths.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

from loopcheck.fake_providers import faults
from loopcheck.fake_providers.amending import amended
from loopcheck.fake_providers.answers import prepare
from loopcheck.fake_providers.derive import NotDerivedError, derive, whole
from loopcheck.fake_providers.dialects import Memory, dialect
from loopcheck.fake_providers.recordings import Event, Recording, parse_events
from loopcheck.fake_providers.script import Attempt, ErrorName, Mode
from loopcheck.fake_providers.sse import compact
from loopcheck.fake_providers.wire import HttpRequest, JsonObject, Reading, Reply, ServiceError
from loopcheck.fake_providers.wishes import wish

# What the user's own words stand in; its fields are no part of the protocol.
_FREE: Final = frozenset(
    {"input", "input_schema", "metadata", "parameters", "properties", "schema"}
)
_ERRORS: Final[tuple[ErrorName, ...]] = get_args(ErrorName)
_NO_REQUEST: Final[JsonObject] = {
    "model": "model",
    "messages": [{"role": "user", "content": "Hello"}],
    "input": "Hello",
    "max_tokens": 1024,
}


Side: TypeAlias = Literal["recorded only", "ours only", "not compared"]


@dataclass(frozen=True, slots=True, order=True)
class Difference:
    """Something that only one side has. `where` is the type of the event, or `body`."""

    side: Side
    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.side}: {self.where} {self.what}".rstrip()


def drift(recording: Recording) -> list[Difference]:
    """Every difference between this recording and what the fake makes of it."""
    if recording.status >= 400:
        return _fields(_error_bodies(recording))
    try:
        attempt = derive(recording)
        reading = _reading(recording)
    except NotDerivedError as error:
        return [Difference("not compared", str(error), "")]
    except ServiceError as error:
        return [Difference("not compared", f"the request is refused: {error.message}", "")]
    ours = _rendered(attempt, reading)
    if recording.events is None:
        return _fields([("body", recording.body, ours[0].data)])
    recorded = [event for event in recording.events if _kind(event) != "ping"]
    return [*_order(recorded, ours), *_event_fields(recorded, ours)]


def _reading(recording: Recording) -> Reading:
    request = recording.request()
    if recording.request_body is None:
        request = _invented(recording)
    return dialect(recording.protocol).read(request, Memory())


def _invented(recording: Recording) -> HttpRequest:
    """The least request that asks for such a response, where the recorded one was not kept."""
    events = [event.data for event in recording.events or () if isinstance(event.data, dict)]
    options: JsonObject = {
        "include_usage": any("usage" in event for event in events),
        "include_obfuscation": any("obfuscation" in event for event in events),
    }
    said = whole(recording)
    choices = list(_choices([recording.body, *events]))
    body = {**_NO_REQUEST, "stream": recording.events is not None, "stream_options": options}
    if isinstance(model := said.get("model"), str):
        body["model"] = model
    if any(choice.get("logprobs") for choice in choices):
        body["logprobs"] = True
    if len(numbers := {choice.get("index") for choice in choices}) > 1:
        body["n"] = len(numbers)
    if isinstance(tools := said.get("tools"), list) and tools:
        body["tools"] = tools
    return HttpRequest(method="POST", path=recording.path, body=compact(body).encode())


def _choices(bodies: Iterable[object]) -> Iterator[JsonObject]:
    for body in bodies:
        listed = body.get("choices") if isinstance(body, dict) else None
        yield from (choice for choice in listed or () if isinstance(choice, dict))


def _rendered(attempt: Attempt, reading: Reading) -> list[Event]:
    spoken = dialect(reading.dialect)
    answer = prepare(reading, attempt, turn=1, asked=1, seed=0, number=1)
    mode: Mode = "stream" if reading.stream else "whole"
    rendered = faults.render(spoken, answer, attempt, mode, seed=0)
    frames = [Event(frame.event, frame.data) for frame in rendered.body_frames]
    parts = tuple(frame.encoded() for frame in frames) if reading.stream else rendered.segments
    # What `serve --auto` adds where the request asks for it.
    plain = Reply(status=200, headers=(), segments=parts)
    told = b"".join(amended(plain, wish(reading), None, reading.dialect).segments).decode()
    if not reading.stream:
        return [Event(None, json.loads(told))]
    return [event for event in parse_events(told) if _kind(event) != "ping"]


def _error_bodies(recording: Recording) -> list[tuple[str, object, object]]:
    spoken = dialect(recording.protocol)
    named = [spoken.named_error(name, None) for name in _ERRORS]
    error = next((e for e in named if e.status == recording.status), named[0])
    return [("body", recording.body, spoken.error_body(error, "req_1"))]


def _order(recorded: Sequence[Event], ours: Sequence[Event]) -> Iterator[Difference]:
    theirs, own = _kinds(recorded), _kinds(ours)
    matcher = difflib.SequenceMatcher(None, theirs, own, autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag != "equal":
            yield from (Difference("recorded only", kind, "(event)") for kind in theirs[a:b])
            yield from (Difference("ours only", kind, "(event)") for kind in own[c:d])


def _kinds(events: Iterable[Event]) -> list[str]:
    """Of several choices, those of the first: which one speaks next is up to the service."""
    kinds: list[str] = []
    for event in events:
        if any(choice.get("index", 0) for choice in _choices([event.data])):
            continue
        kind = _kind(event)
        if kinds[-1:] != [kind]:
            kinds.append(kind)
    return kinds


def _kind(event: Event) -> str:
    """The type of an event, with the type of what it is about."""
    data = event.data
    if not isinstance(data, dict):
        return str(data)
    if "object" in data or "choices" in data:
        return _chunk_kind(data)
    about = next(
        (data[key] for key in ("item", "content_block", "delta", "part") if key in data), 0
    )
    inner = about.get("type") if isinstance(about, dict) else None
    return f"{data.get('type')}{f' {inner}' if inner else ''}"


def _chunk_kind(chunk: JsonObject) -> str:
    choices = chunk.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(choice, dict):
        return "usage"
    delta = choice.get("delta")
    said = delta if isinstance(delta, dict) else {}
    if choice.get("finish_reason"):
        return "finish"
    if "role" in said:
        return "first"
    calls = said.get("tool_calls")
    if isinstance(calls, list) and calls:
        return "call" if "id" in calls[0] else "arguments"
    return " ".join(sorted(said)) or "empty"


def _event_fields(recorded: Sequence[Event], ours: Sequence[Event]) -> list[Difference]:
    """Events that one side lacks altogether are told once, by their order."""
    kinds = sorted({_kind(event) for event in recorded} & {_kind(event) for event in ours})
    found: list[Difference] = []
    for kind in kinds:
        theirs, own = (
            {path for e in events if _kind(e) == kind for path in _paths(e.data)}
            for events in (recorded, ours)
        )
        found += _compared(kind, theirs, own)
    return found


def _fields(bodies: Iterable[tuple[str, object, object]]) -> list[Difference]:
    return [
        difference
        for where, recorded, ours in bodies
        for difference in _compared(where, set(_paths(recorded)), set(_paths(ours)))
    ]


def _compared(where: str, recorded: set[str], ours: set[str]) -> Iterator[Difference]:
    for path in _outermost(recorded - ours):
        yield Difference("recorded only", where, path)
    for path in _outermost(ours - recorded):
        yield Difference("ours only", where, path)


def _outermost(paths: set[str]) -> list[str]:
    """Paths below another one of the same set say nothing new."""
    return sorted(
        path for path in paths if not any(path.startswith((f"{p}.", f"{p}[")) for p in paths)
    )


def _paths(value: object, at: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for key, entry in value.items():
            path = f"{at}.{key}" if at else key
            yield path
            if key not in _FREE:
                yield from _paths(entry, path)
    elif isinstance(value, list):
        for entry in value:
            yield from _paths(entry, f"{at}[]")
