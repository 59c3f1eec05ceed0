"""Drift between the fake and recordings: none with our own, and every kind is found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from improvised import auto, exchange, question
from openai_answers import material

from loopcheck.fake_providers.derive import derive, whole
from loopcheck.fake_providers.drift import Difference, drift
from loopcheck.fake_providers.known_drift import NEWER, reason_for
from loopcheck.fake_providers.recordings import Event, Recording, read, read_all
from loopcheck.fake_providers.script import Call, DialectName, Fault, Place, Say, Think
from loopcheck.fake_providers.wire import JsonObject

OWN = Path(__file__).parents[1] / "recordings"


def own(name: str) -> Recording:
    return read(OWN / f"{name}.json")


@pytest.mark.parametrize("name", [file.stem for file in sorted(OWN.glob("*.json"))])
def test_our_own_recordings_do_not_drift(name: str) -> None:
    assert drift(own(name)) == []


def test_what_was_said_is_taken_from_a_stream() -> None:
    attempt = derive(own("chat_stream_two_calls"))
    assert attempt.content == (
        Call(label="c0", tool="seat", arguments='{"n":1}', wire_id="call_a1"),
        Call(label="c1", tool="seat", arguments='{"n":2}', wire_id="call_b2"),
    )
    assert attempt.stop == "calls"


def test_a_cut_call_is_taken_as_it_was_cut() -> None:
    attempt = derive(own("messages_stream_cut_call"))
    assert attempt.content == (
        Say("Let me see."),
        Call(label="c0", tool="seat", arguments='{"n": 1', wire_id="toolu_01XyZ"),
    )
    assert attempt.stop == "length"


@pytest.mark.parametrize("name", ["responses_stream_reasoning", "messages_stream_thinking_call"])
def test_thinking_is_taken(name: str) -> None:
    assert isinstance(derive(own(name)).content[0], Think)


def test_a_response_that_waits_says_nothing_yet() -> None:
    assert derive(own("responses_background_queued")).content == ()


def test_an_error_behind_the_head_of_a_stream_is_taken() -> None:
    attempt = derive(own("responses_stream_error"))
    assert (attempt.content, attempt.stop) == ((), "end")
    assert attempt.fault == Fault(kind="error-event", at=Place(frame=3), error="quota")


def test_an_error_behind_a_part_of_the_answer_is_not_compared() -> None:
    recording = own("responses_stream_reasoning")
    error = next(
        event for event in own("responses_stream_error").events or () if event.name == "error"
    )
    events = (recording.events or ())[:5]
    (found,) = drift(replace(recording, events=(*events, error)))
    assert str(found) == "not compared: an error behind a part of the answer"


def changed(recording: Recording, change: Callable[[Event], list[Event]]) -> Recording:
    events = recording.events or ()
    return replace(recording, events=tuple(made for event in events for made in change(event)))


def with_field(event: Event, kind: str, field: str) -> list[Event]:
    data = event.data
    if event.name != kind or not isinstance(data, dict):
        return [event]
    return [Event(event.name, {**data, field: {"inner": 1}})]


def test_a_field_that_only_the_service_sends_is_found() -> None:
    recording = changed(
        own("messages_stream_cut_call"), lambda event: with_field(event, "message_delta", "novel")
    )
    assert drift(recording) == [Difference("recorded only", "message_delta", "novel")]


def test_a_field_that_only_we_send_is_found() -> None:
    def without(event: Event) -> list[Event]:
        data = event.data
        assert isinstance(data, dict)
        return [Event(event.name, {key: data[key] for key in data if key != "index"})]

    found = drift(changed(own("messages_stream_cut_call"), without))
    assert found == [
        Difference("ours only", where, "index")
        for where in (
            "content_block_delta input_json_delta",
            "content_block_delta text_delta",
            "content_block_start text",
            "content_block_start tool_use",
            "content_block_stop",
        )
    ]


def test_events_in_another_order_are_found() -> None:
    novel = Event("novel", {"type": "novel"})
    recording = changed(
        own("messages_stream_cut_call"),
        lambda event: [novel, event] if event.name == "message_stop" else [event],
    )
    assert drift(recording) == [Difference("recorded only", "novel", "(event)")]
    shorter = changed(recording, lambda event: [] if event.name == "novel" else [event])
    shorter = replace(shorter, events=(shorter.events or ())[:-1])
    assert drift(shorter) == [Difference("ours only", "message_stop", "(event)")]


def test_a_field_of_an_error_is_found() -> None:
    recording = own("chat_err_orphan_result")
    body: JsonObject = {"error": {"message": "?", "type": "?", "param": None, "novel": 1}}
    assert drift(replace(recording, body=body)) == [
        Difference("recorded only", "body", "error.novel"),
        Difference("ours only", "body", "error.code"),
    ]


def test_what_no_script_can_say_is_told() -> None:
    recording = own("chat_call")
    (found,) = drift(replace(recording, body={**whole(recording), "choices": []}))
    assert str(found) == "not compared: no choice"
    assert reason_for("chat", found) == "an error is no answer"


def test_several_choices_are_compared_with_as_many() -> None:
    body: JsonObject = {**question("chat"), "n": 3, "stream": True, "logprobs": True}
    recording = exchange(auto("chat"), "chat", body)
    assert drift(recording) == []
    assert drift(replace(recording, request_body=None)) == []
    lone = [event for event in recording.events or () if "'index': 0" in str(event.data)]
    assert drift(replace(recording, events=(*lone, *(recording.events or ())[-1:]))) == []


@pytest.mark.parametrize("name", ["chat", "responses"])
@pytest.mark.parametrize("stream", [False, True])
def test_log_probabilities_are_compared(name: DialectName, stream: bool) -> None:
    wanted: JsonObject = {"logprobs": True} if name == "chat" else {"top_logprobs": 2}
    recording = exchange(auto(name), name, {**question(name), **wanted, "stream": stream})
    assert drift(recording) == []
    silent = drift(replace(recording, request_body={**question(name), "stream": stream}))
    assert {difference.side for difference in silent} == {"recorded only"}
    assert all("logprobs" in difference.what for difference in silent)


@pytest.mark.parametrize(
    ("difference", "is_known"),
    [
        (Difference("ours only", "finish", "service_tier"), True),
        (Difference("recorded only", "finish", "service_tier"), False),
        (Difference("ours only", "finish", "tier"), False),
        (Difference("ours only", "finish", "service_tier.more"), False),
        (Difference("ours only", "call", "(event)"), True),
        (Difference("ours only", "finish", "(event)"), False),
    ],
)
def test_only_listed_differences_are_known(difference: Difference, is_known: bool) -> None:
    assert (reason_for("chat", difference) is not None) is is_known


def test_recordings_of_the_services_show_known_differences_only() -> None:
    unknown = [
        f"{recording.name}: {difference}"
        for recording in read_all([material("recordings")])
        for difference in drift(recording)
        if reason_for(recording.protocol, difference) is None
    ]
    assert unknown == []


def keys(value: object) -> set[str]:
    if isinstance(value, dict):
        return set(value).union(*map(keys, value.values()))
    return set().union(*map(keys, value)) if isinstance(value, list) else set()


def test_what_counts_as_newer_was_recorded_somewhere() -> None:
    recordings = read_all([material("recordings")])
    for protocol, fields in NEWER.items():
        bodies = [
            body
            for recording in recordings
            if recording.protocol == protocol
            for body in (recording.body, *(event.data for event in recording.events or ()))
        ]
        seen = set().union(*map(keys, bodies))
        assert {field.rpartition(".")[2] for field in fields} <= seen
