"""Recordings answer the requests that they fit: by protocol, by streaming, by turn."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from improvised import HEADERS, answered, auto, exchange, post, question, recorded, with_result

from loopcheck.fake_providers.recordings import Recording, read
from loopcheck.fake_providers.replay import Replay
from loopcheck.fake_providers.script import DIALECTS, DialectName
from loopcheck.fake_providers.wire import HttpRequest, JsonObject

OWN = Path(__file__).parents[1] / "recordings"


def body_of(recording: Recording) -> JsonObject:
    assert recording.request_body is not None
    return recording.request_body


@pytest.mark.parametrize("name", [file.stem for file in sorted(OWN.glob("*.json"))])
def test_a_recorded_request_gets_its_recorded_response(name: str) -> None:
    recording = read(OWN / f"{name}.json")
    reply = Replay([recording]).handle(post(recording.protocol, body_of(recording)))
    assert reply.status == recording.status
    again = recorded(post(recording.protocol, body_of(recording)), reply)
    assert (again.body, again.events) == (recording.body, recording.events)
    assert dict(reply.headers)["content-type"] == recording.headers["content-type"]


@pytest.mark.parametrize("name", DIALECTS)
def test_the_turn_says_which_recording_it_is(name: DialectName) -> None:
    first = question(name, "One")
    body = question(name, "One")
    one = exchange(auto(name), name, first)
    key = "input" if name == "responses" else "messages"
    history = [
        {"role": "user", "content": "One"},
        {"role": "assistant", "content": "Yes"},
        {"role": "user", "content": "Two"},
    ]
    two = exchange(auto(name), name, {**body, key: history})
    replay = Replay([two, one])
    assert recorded(post(name, body), replay.handle(post(name, body))).body == one.body
    later = {**body, key: [*history[:2], {"role": "user", "content": "Something else"}]}
    assert recorded(post(name, later), replay.handle(post(name, later))).body == two.body


def test_a_turn_recorded_twice_is_given_in_order_and_the_last_for_ever() -> None:
    body = question("chat")
    provider = auto("chat")
    recordings = [exchange(provider, "chat", body) for _ in range(2)]
    replay = Replay(recordings)
    given = [recorded(post("chat", body), replay.handle(post("chat", body))) for _ in range(3)]
    assert [one.body for one in given] == [
        recordings[0].body,
        recordings[1].body,
        recordings[1].body,
    ]


def test_recordings_from_the_middle_of_a_conversation_begin_one() -> None:
    recording = read(OWN / "chat_after_result.json")
    reply = Replay([recording]).handle(post("chat", question("chat")))
    assert reply.status == 200


def test_a_recording_without_request_counts_by_its_place() -> None:
    first, second = (
        replace(exchange(auto("chat"), "chat", question("chat", words)), request_body=None)
        for words in ("One", "Two")
    )
    replay = Replay([first, second])
    body = question("chat", "One")
    body["messages"] = [
        {"role": "user", "content": "One"},
        {"role": "assistant", "content": "Yes"},
        {"role": "user", "content": "Two"},
    ]
    assert recorded(post("chat", body), replay.handle(post("chat", body))).body == second.body


def test_a_continued_response_gets_the_recording_behind_it() -> None:
    provider = auto("responses")
    one = exchange(provider, "responses", question("responses", "One"))
    assert isinstance(one.body, dict)
    more = question("responses", "Two", previous_response_id=one.body["id"])
    two = exchange(provider, "responses", more)
    reply = Replay([one, two]).handle(post("responses", more))
    assert recorded(post("responses", more), reply).body == two.body


def test_what_was_not_recorded_is_told() -> None:
    replay = Replay([read(OWN / "chat_call.json")])
    reply = replay.handle(post("chat", question("chat", stream=True)))
    assert reply.status == 404
    message = json.loads(reply.segments[0])["error"]["message"]
    assert message == "no recording fits chat streamed turn 1; there are chat whole turn 1"


def test_other_paths_are_not_replayed() -> None:
    replay = Replay([read(OWN / "chat_call.json")])
    reply = replay.handle(HttpRequest(method="GET", path="/v1/models", headers=HEADERS))
    assert reply.status == 404


def test_a_conversation_is_replayed_to_its_end() -> None:
    call, result = (read(OWN / f"{name}.json") for name in ("chat_call", "chat_after_result"))
    replay = Replay([call, result])
    body = body_of(call)
    first = recorded(post("chat", body), replay.handle(post("chat", body)))
    assert first.body == call.body
    after = with_result("chat", body, answered("chat", body))
    assert recorded(post("chat", after), replay.handle(post("chat", after))).body == result.body
