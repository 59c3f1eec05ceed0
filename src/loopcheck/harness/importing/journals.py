"""The exchanges in a journal of loopcheck: what the fake provider was asked and has sent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, get_args

from loopcheck.fake_providers.recordings import Recording, parse_events
from loopcheck.fake_providers.script import DIALECTS, DialectName, FaultKind
from loopcheck.fake_providers.wire import JsonObject
from loopcheck.harness.importing.exchanges import (
    Exchange,
    Source,
    SourceError,
    cleaned,
    parsed_json,
)
from loopcheck.harness.importing.values import mapping, text
from loopcheck.harness.journal import Entry, JournalError, load

_DIALECTS: Final[Mapping[object, DialectName]] = {name: name for name in DIALECTS}
_FAULTS: Final[Mapping[object, FaultKind]] = {kind: kind for kind in get_args(FaultKind)}


def exchanges(path: Path) -> Source:
    """The exchanges of the case; requests that asked for no turn are counted. Raises
    SourceError."""
    try:
        entries = load(path)
    except JournalError as error:
        raise SourceError(str(error)) from None
    spoken = _DIALECTS.get(entries[0].get("dialect"))
    if spoken is None:
        raise SourceError(f"{path}:1: the dialect is not one of {', '.join(DIALECTS)}")
    asked = {entry.get("request"): entry for entry in _of("request", entries)}
    frames = {entry.get("request"): entry for entry in _of("sent", entries)}
    found = [
        _exchange(spoken, asked[number], entry, frames.get(number, {}))
        for entry in _of("response", entries)
        if (number := entry.get("request")) in asked
    ]
    others = len(asked) - len(found)
    return Source(tuple(found), (f"{others} other requests",) if others else ())


def _of(kind: str, entries: Iterable[Entry]) -> list[Entry]:
    return [entry for entry in entries if entry["kind"] == kind]


def _exchange(spoken: DialectName, asked: Entry, answered: Entry, sent: Entry) -> Exchange:
    status, fault = answered.get("status"), answered.get("fault")
    body: JsonObject = mapping(asked.get("body"))
    told = _told(sent)
    streamed = body.get("stream") is True and status == 200
    recording = Recording(
        name=f"request {asked.get('request')}",
        protocol=spoken,
        stream=streamed,
        path=text(asked.get("path")),
        request_headers={},
        request_body=body,
        status=status if isinstance(status, int) else 0,
        headers={},
        body=None if streamed else parsed_json(told),
        events=parse_events(told) if streamed else None,
    )
    return cleaned(recording.document(), recording.name, _FAULTS.get(fault))


def _told(sent: Entry) -> str:
    frames = sent.get("frames")
    return "".join(map(str, frames)) if isinstance(frames, list) else ""
