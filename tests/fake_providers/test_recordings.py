"""Recordings are read back as they were written, and what is none is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from loopcheck.fake_providers.recordings import (
    Event,
    Recording,
    RecordingError,
    parse_events,
    read,
    read_all,
)

OWN = Path(__file__).parents[1] / "recordings"


@pytest.mark.parametrize("file", sorted(OWN.glob("*.json")), ids=lambda file: file.stem)
def test_what_is_read_can_be_written_again(file: Path, tmp_path: Path) -> None:
    recording = read(file)
    again = tmp_path / file.name
    again.write_text(json.dumps(recording.document()))
    assert read(again) == recording


def test_events_are_parsed_as_they_are_sent() -> None:
    events = (
        Event("message_start", {"type": "message_start", "text": "é"}),
        Event(None, "[DONE]"),
        Event("lines", "one\ntwo"),
    )
    body = b"".join(event.encoded() for event in events).decode()
    assert parse_events(body) == events
    assert parse_events(": a comment\n\n" + body.replace("\n", "\r\n")) == events


def test_a_folder_holds_its_recordings_in_order(tmp_path: Path) -> None:
    document = (OWN / "chat_call.json").read_text()
    for name in ("002.json", "001.json", "index.json", "notes.txt"):
        (tmp_path / name).write_text(document)
    assert [recording.name for recording in read_all([tmp_path])] == ["001", "002"]


def test_the_request_is_as_it_came() -> None:
    recording = read(OWN / "messages_thinking_call.json")
    request = recording.request()
    assert (request.method, request.path) == ("POST", "/v1/messages")
    assert json.loads(request.body) == recording.request_body


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "no JSON"),
        ("[]", "the document is no object"),
        ('{"protocol": "smtp"}', "protocol is 'smtp', not one of responses, chat, messages"),
        ('{"protocol": "chat"}', "request is no object"),
        ('{"protocol": "chat", "request": {}, "response": {}}', "response.status is no number"),
        (
            '{"protocol": "chat", "request": {}, "response": {"status": 200}}',
            "response has neither body nor sse",
        ),
        (
            '{"protocol": "chat", "request": {}, "response": {"status": 200, "sse": [{}]}}',
            r"response.sse\[0\] has no data",
        ),
    ],
)
def test_what_is_no_recording_is_told(tmp_path: Path, text: str, why: str) -> None:
    file = tmp_path / "x.json"
    file.write_text(text)
    with pytest.raises(RecordingError, match=f"x.json: .*{why}"):
        read(file)


def test_a_missing_file_and_an_empty_folder_are_told(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match=r"gone\.json: No such file"):
        read_all([tmp_path / "gone.json"])
    with pytest.raises(RecordingError, match="no recordings in this folder"):
        read_all([tmp_path])


def test_a_recording_without_stream_has_a_body() -> None:
    recording = read(OWN / "chat_call.json")
    assert isinstance(recording, Recording)
    assert recording.events is None
    assert isinstance(recording.body, dict)
