"""Responses that a scenario writes out itself."""

from __future__ import annotations

import json

import pytest
from sample_answers import answer, call

from loopcheck.fake_providers import faults
from loopcheck.fake_providers.dialects import dialect
from loopcheck.fake_providers.places import FaultError
from loopcheck.fake_providers.script import Attempt, DialectName, Fault, Mode, Place
from loopcheck.fake_providers.wire import JsonObject

SEAT = call("seat", '{"seat":12}')
STOP: JsonObject = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}


def written(
    speaks: DialectName,
    *events: object,
    raw: bytes | None = None,
    body: object = None,
    fault: Fault | None = None,
) -> faults.Rendered:
    to = answer([SEAT], speaks=speaks)
    attempt = Attempt(stop="calls", raw=raw or events, raw_body=body, fault=fault)
    mode: Mode = "stream" if body is None else "whole"
    return faults.render(dialect(speaks), to, attempt, mode, seed=1)


def datas(response: faults.Rendered) -> list[object]:
    return [frame.data for frame in response.body_frames]


def test_chat_events_get_the_envelope_of_their_stream() -> None:
    response = written("chat", {"choices": []}, {"id": "x", **STOP}, "[DONE]")
    to = answer([SEAT], speaks="chat")
    first, second, last = response.body_frames

    assert isinstance(first.data, dict)
    assert isinstance(second.data, dict)
    assert (first.data["id"], first.data["choices"]) == (to.response_id, [])
    assert first.data["object"] == "chat.completion.chunk"
    assert second.data["id"] == "x"
    assert (last.data, last.part, second.part) == ("[DONE]", "terminal", "finish")
    assert (response.ends, response.odd, response.sent) == ("well", True, {"seat": "whole"})


def test_a_bare_event_is_sent_as_it_is() -> None:
    bare = {"event": {"choices": []}, "bare": True}

    assert datas(written("chat", bare)) == [{"choices": []}]
    assert datas(written("messages", {"event": "not json", "bare": True})) == ["not json"]
    assert written("chat", bare).frame_texts == ('data: {"choices":[]}\n\n',)


def test_responses_events_get_numbers_and_the_response_object() -> None:
    response = written(
        "responses",
        {"type": "response.created", "response": {}},
        {"type": "response.output_item.added", "output_index": 0, "item": {}},
        {"type": "response.completed", "response": {"output": [{"type": "odd"}]}},
    )
    created, added, completed = response.body_frames
    to = answer([SEAT], speaks="responses")

    assert added.data == {
        "type": "response.output_item.added",
        "sequence_number": 1,
        "output_index": 0,
        "item": {},
    }
    assert isinstance(created.data, dict)
    assert isinstance(completed.data, dict)
    begun, ended = created.data["response"], completed.data["response"]
    assert isinstance(begun, dict)
    assert isinstance(ended, dict)
    assert (begun["id"], begun["status"], begun["output"]) == (to.response_id, "in_progress", [])
    assert (ended["status"], ended["output"]) == ("completed", [{"type": "odd"}])
    assert [f.event for f in response.body_frames][2] == "response.completed"
    assert response.ends == "well"


def test_messages_events_get_the_message() -> None:
    response = written("messages", {"type": "message_start"}, {"type": "message_stop"})
    start, stop = response.body_frames

    assert isinstance(start.data, dict)
    assert isinstance(start.data["message"], dict)
    assert start.data["message"]["id"] == answer([SEAT]).response_id
    assert (stop.data, stop.event, stop.part) == (
        {"type": "message_stop"},
        "message_stop",
        "terminal",
    )


@pytest.mark.parametrize(
    ("speaks", "events"),
    [
        ("chat", [{"choices": []}]),
        ("responses", [{"type": "response.created", "response": {}}]),
        ("messages", [{"type": "message_start"}]),
    ],
)
def test_raw_events_without_an_end_are_unmarked(speaks: DialectName, events: list[object]) -> None:
    assert written(speaks, *events).ends == "unmarked"


def test_raw_bytes_are_the_body() -> None:
    response = written("chat", raw=b"data: {\xff\n\ndata: [DONE]\n\n")

    assert b"".join(response.segments) == b"data: {\xff\n\ndata: [DONE]\n\n"
    assert (response.ends, response.streamed) == ("well", True)
    assert written("chat", raw=b"nonsense").ends == "unmarked"


def test_a_raw_stream_can_be_cut() -> None:
    cut = written("chat", raw=b"0123456789", fault=Fault(kind="reset", at=Place(size=4)))
    assert (b"".join(cut.segments), cut.sent, cut.ends) == (b"0123", {"seat": "cut"}, "failed")

    events = written("chat", STOP, "[DONE]", fault=Fault(kind="eof", at=Place(frame=1)))
    assert (events.segments, events.sent) == ((), {"seat": "none"})

    inside = Place(inside="seat", after="12")
    with pytest.raises(FaultError, match="no fragment ends at"):
        written("chat", {"choices": []}, fault=Fault(kind="eof", at=inside))


def test_a_raw_body_gets_the_envelope_but_not_the_content() -> None:
    response = written("messages", body={"stop_reason": "odd"})
    parsed = json.loads(b"".join(response.segments))

    assert (parsed["stop_reason"], "content" in parsed) == ("odd", False)
    assert parsed["id"] == answer([SEAT]).response_id
    assert (response.odd, response.streamed) == (True, False)


@pytest.mark.parametrize(
    ("body", "sent"),
    [
        ({"event": {"a": 1}, "bare": True}, b'{"a":1}'),
        (b"<html>", b"<html>"),
    ],
)
def test_a_raw_body_as_it_is(body: object, sent: bytes) -> None:
    assert b"".join(written("chat", body=body).segments) == sent
