"""Recorded exchanges with real services: a request and its response, one JSON file each.

A file has `protocol` and `stream`; `request` with method, path, headers and JSON body (null where
it was not kept); `response` with status and headers, and either `body`, the whole JSON, or `sse`,
the events as a list of `{"event": name or null, "data": JSON or text}`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from loopcheck.fake_providers.script import DIALECTS, DialectName
from loopcheck.fake_providers.sse import compact
from loopcheck.fake_providers.wire import HttpRequest, JsonObject

INDEX: Final = "index.json"


class RecordingError(Exception):
    """A file is no recording. Says which, and what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Event:
    """A server-sent event; `data` is JSON, or text such as `[DONE]`."""

    name: str | None
    data: object

    def encoded(self) -> bytes:
        """The event as it stands in a stream."""
        data = self.data if isinstance(self.data, str) else compact(self.data)
        head = "" if self.name is None else f"event: {self.name}\n"
        lines = "".join(f"data: {line}\n" for line in data.split("\n"))
        return f"{head}{lines}\n".encode()


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """One exchange. `body` is that of a whole response, `events` are those of a stream."""

    name: str
    protocol: DialectName
    stream: bool
    method: str = "POST"
    path: str
    request_headers: Mapping[str, str]
    request_body: JsonObject | None
    status: int
    headers: Mapping[str, str]
    body: object = None
    events: tuple[Event, ...] | None = None
    raw_head: str | None = None

    def request(self) -> HttpRequest:
        """The request as it came, without its secrets."""
        path, _, query = self.path.partition("?")
        body = b"" if self.request_body is None else compact(self.request_body).encode()
        return HttpRequest(
            method=self.method, path=path, query=query, headers=self.request_headers, body=body
        )

    def document(self) -> JsonObject:
        """What is written to a file."""
        request: JsonObject = {
            "method": self.method,
            "path": self.path,
            "headers": dict(self.request_headers),
            "body": self.request_body,
        }
        response: JsonObject = {"status": self.status, "headers": dict(self.headers)}
        if self.events is None:
            response["body"] = self.body
        else:
            response["sse"] = [{"event": event.name, "data": event.data} for event in self.events]
            response["raw_head"] = self.raw_head
        return {
            "source": {"tool": "loopcheck serve --record"},
            "provenance": "recorded",
            "protocol": self.protocol,
            "stream": self.stream,
            "request": request,
            "response": response,
            "note": "",
        }


def read_all(places: Iterable[Path]) -> list[Recording]:
    """The recordings in these files and folders, in order. Raises RecordingError."""
    return [read(file) for place in places for file in _files(place)]


def _files(place: Path) -> Iterator[Path]:
    if not place.is_dir():
        yield place
        return
    found = [file for file in sorted(place.glob("*.json")) if file.name != INDEX]
    if not found:
        raise RecordingError(f"{place}: no recordings in this folder")
    yield from found


def read(file: Path) -> Recording:
    """The recording in this file. Raises RecordingError."""
    try:
        document: object = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise RecordingError(f"{file}: {error.strerror or error}") from None
    except ValueError as error:
        raise RecordingError(f"{file}: no JSON: {error}") from None
    try:
        return recording_from(file.stem, document)
    except RecordingError as wrong:
        raise RecordingError(f"{file}: no recording: {wrong}") from None


def recording_from(name: str, document: object) -> Recording:
    """The recording that this JSON is. Raises RecordingError, which names the field."""
    try:
        return _recording(name, document)
    except _Wrong as wrong:
        raise RecordingError(str(wrong)) from None


class _Wrong(Exception):
    """Says which field is wrong."""


def _recording(name: str, document: object) -> Recording:
    whole = _object(document, "the document")
    protocol = whole.get("protocol")
    if protocol not in DIALECTS:
        raise _Wrong(f"protocol is {protocol!r}, not one of {', '.join(DIALECTS)}")
    request = _object(whole.get("request"), "request")
    response = _object(whole.get("response"), "response")
    status = response.get("status")
    if not isinstance(status, int):
        raise _Wrong("response.status is no number")
    sent = request.get("body")
    events = response.get("sse")
    if events is None and "body" not in response:
        raise _Wrong("response has neither body nor sse")
    head = response.get("raw_head")
    return Recording(
        name=name,
        protocol=protocol,
        stream=whole.get("stream") is True,
        method=str(request.get("method", "POST")),
        path=str(request.get("path", "")),
        request_headers=_headers(request.get("headers")),
        request_body=sent if isinstance(sent, dict) else None,
        status=status,
        headers=_headers(response.get("headers")),
        body=response.get("body"),
        events=None if events is None else tuple(_events(events)),
        raw_head=head if isinstance(head, str) else None,
    )


def _events(listed: object) -> Iterator[Event]:
    if not isinstance(listed, list):
        raise _Wrong("response.sse is no list")
    for position, entry in enumerate(listed):
        event = _object(entry, f"response.sse[{position}]")
        if "data" not in event:
            raise _Wrong(f"response.sse[{position}] has no data")
        name = event.get("event")
        yield Event(name if isinstance(name, str) else None, event["data"])


def _object(value: object, what: str) -> JsonObject:
    if not isinstance(value, dict):
        raise _Wrong(f"{what} is no object")
    return value


def _headers(value: object) -> dict[str, str]:
    given = value if isinstance(value, dict) else {}
    return {str(name).lower(): str(text) for name, text in given.items()}


def parse_events(body: str) -> tuple[Event, ...]:
    """The events of a recorded stream; comments are left out."""
    return tuple(_parsed(block) for block in _blocks(body.splitlines()))


def _blocks(lines: Sequence[str]) -> Iterator[list[str]]:
    block: list[str] = []
    for line in (*lines, ""):
        if line:
            block.append(line)
            continue
        if any(entry.startswith("data:") for entry in block):
            yield block
        block = []


def _parsed(block: Sequence[str]) -> Event:
    fields: dict[str, list[str]] = {}
    for line in block:
        key, _, value = line.partition(":")
        fields.setdefault(key, []).append(value.removeprefix(" "))
    text = "\n".join(fields["data"])
    name = fields.get("event", [None])[0]
    try:
        data: object = json.loads(text)
    except ValueError:
        data = text
    return Event(name, data)
