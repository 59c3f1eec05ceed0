"""Recorded exchanges of the real services: what they accepted, and the shape of what they sent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import cast

import pytest
from openai_answers import (
    OpenAIName,
    at,
    call,
    hosted,
    in_order,
    judged,
    material,
    question,
    refusal,
    reply,
    thought,
)

from loopcheck.fake_providers.dialects import Memory, dialect
from loopcheck.fake_providers.dialects.kept import Kept
from loopcheck.fake_providers.script import Say
from loopcheck.fake_providers.wire import IssuedCall, JsonObject, Piece

# Accepted for what the service had stored before, which was not recorded.
CONTINUED = ("resp_conversation_tool_r2", "resp_previous_response_id")


def recording(name: str) -> JsonObject:
    loaded: JsonObject = json.loads((folder() / f"{name}.json").read_text(encoding="utf-8"))
    return loaded


def folder() -> Path:
    return material("recordings")


def keys(value: object, *path: str | int) -> set[str]:
    found = at(value, *path)
    assert isinstance(found, dict)
    return set(found)


@pytest.mark.parametrize("name", ["chat", "responses"])
def test_what_was_accepted_is_accepted(name: OpenAIName) -> None:
    accepted = 0
    for file in sorted(folder().glob("*.json")):
        exchange = json.loads(file.read_text(encoding="utf-8"))
        if exchange.get("protocol") != name or exchange["response"]["status"] != 200:
            continue
        body = exchange["request"].get("body")
        if body is None or file.stem.startswith(CONTINUED):
            continue
        assert dialect(name).serves("POST", exchange["request"]["path"]) == "generate"
        assert judged(name, body, Memory()).model == body["model"]
        accepted += 1
    assert accepted > 10


@pytest.mark.parametrize("name", ["chat", "responses"])
def test_an_unknown_model_is_refused_as_recorded(name: OpenAIName) -> None:
    file = {"chat": "chat_err_404_model", "responses": "resp_err_400_model_not_found"}[name]
    exchange = recording(file)
    reading = judged(name, at(exchange, "request", "body"))
    error = dialect(name).named_error("not_found", reading)
    assert error.status == at(exchange, "response", "status")
    assert dialect(name).error_body(error, "req_1") == at(exchange, "response", "body")


@pytest.mark.parametrize(
    ("file", "rule"),
    [
        ("chat_err_400_content_block_in_tool_round", "C17"),
        ("resp_err_400_invalid_file_data_in_tool_output", "R17"),
        ("resp_err_400_unsupported_file_in_tool_output", "R18"),
    ],
)
def test_a_recorded_request_is_refused_as_recorded(file: str, rule: str) -> None:
    exchange = recording(file)
    name = cast("OpenAIName", exchange["protocol"])
    error = refusal(name, at(exchange, "request", "body"))
    assert (error.rule, error.status) == (rule, at(exchange, "response", "status"))
    assert dialect(name).error_body(error, "req_1") == at(exchange, "response", "body")


def test_reasoning_before_other_words_is_refused_as_recorded() -> None:
    first, second = (recording(f"resp_reasoning_history_r{n}") for n in range(2))
    told = at(first, "response", "body")
    memory = Memory(responses=Kept({str(at(told, "id")): cast("JsonObject", told)}))
    error = refusal("responses", at(second, "request", "body"), memory)
    assert error.rule == "R5"
    assert dialect("responses").error_body(error, "req_1") == at(second, "response", "body")


CUT_CALL = {"type": "function_call", "call_id": "c", "name": "f"}


@pytest.mark.parametrize(
    ("file", "rule", "body"),
    [
        ("chat_err_400_max_tokens_param", "C19", question("chat", model="o1", max_tokens=9)),
        (
            "resp_err_400_unsupported_temperature",
            "R24",
            question("responses", model="gpt-5", temperature=1),
        ),
        ("resp_err_missing_arguments", "R13", question("responses") | {"input": [CUT_CALL]}),
    ],
)
def test_a_request_like_the_recorded_one_is_refused_as_recorded(
    file: str, rule: str, body: JsonObject
) -> None:
    exchange = recording(file)
    name: OpenAIName = "chat" if file.startswith("chat") else "responses"
    error = refusal(name, body, on={rule})
    assert error.rule == rule
    assert dialect(name).error_body(error, "req_1") == at(exchange, "response", "body")


def test_an_exhausted_quota_is_reported_as_recorded() -> None:
    error = dialect("responses").named_error("quota", None)
    body = at(recording("resp_err_429_insufficient_quota"), "response", "body")
    assert dialect("responses").error_body(error, "req_1") == body


def test_an_output_without_call_is_refused_as_recorded() -> None:
    recorded = at(recording("resp_err_no_tool_call_for_output"), "response", "body")
    call_id = "call_SjdIRQnfceiXp0D5eZCcjlxW"
    history: list[JsonObject] = [{"type": "function_call_output", "call_id": call_id, "output": ""}]
    rule = next(rule for rule in dialect("responses").rules if rule.id == "R2")
    error = rule.check(history, {}, Memory())
    assert error is not None
    assert dialect("responses").error_body(error, "req_1") == recorded


def calls(name: OpenAIName) -> list[IssuedCall]:
    return [call(name, "a", "book", "{}"), call(name, "b", "book", "{}")]


def test_a_whole_chat_response_has_the_recorded_fields() -> None:
    recorded = at(recording("chat_parallel_calls_nano"), "response", "body")
    whole = dialect("chat").whole(reply("chat", calls("chat"), "calls"))
    places: list[tuple[str | int, ...]] = [
        (),
        ("choices", 0),
        ("choices", 0, "message"),
        ("choices", 0, "message", "tool_calls", 1),
        ("choices", 0, "message", "tool_calls", 1, "function"),
        ("usage",),
        ("usage", "prompt_tokens_details"),
        ("usage", "completion_tokens_details"),
    ]
    for place in places:
        assert keys(whole, *place) == keys(recorded, *place)


def test_chat_chunks_have_the_recorded_fields() -> None:
    events = at(recording("chat_stream_single_call_agno"), "response", "sse")
    recorded = [event["data"] for event in cast("list[JsonObject]", events)]
    options = {"include_usage": True}
    answer = reply("chat", calls("chat")[:1], "calls", stream=True, stream_options=options)
    frames = [f.data for f in dialect("chat").frames(answer, in_order(answer.content, 9))]
    assert frames[-1] == recorded[-1] == "[DONE]"
    # The recorded head rides on the first chunk; ours follows it, as in streams of several calls.
    for ours, theirs in ((0, 1), (2, 1), (-3, -3), (-2, -2)):
        assert keys(frames[ours]) == keys(recorded[theirs])
    fragment = ("choices", 0, "delta", "tool_calls", 0)
    assert keys(frames[2], *fragment) == keys(recorded[1], *fragment)
    assert keys(frames[1], *fragment) == keys(recorded[0], *fragment)


def test_a_response_object_has_the_recorded_fields() -> None:
    events = at(recording("resp_stream_reasoning_commentary_call_r1"), "response", "sse")
    recorded = at(events, -1, "data", "response")
    whole = dialect("responses").whole(reply("responses", calls("responses"), "calls"))
    for place in ((), ("usage",), ("usage", "input_tokens_details"), ("tool_usage", "image_gen")):
        assert keys(whole, *place) == keys(recorded, *place)
    assert keys(whole, "output", 0) == keys(recorded, "output", -1)


def test_events_have_the_recorded_fields() -> None:
    recorded: dict[object, set[str]] = {}
    for name in ("resp_stream_plain_text", "resp_stream_reasoning_forced_call"):
        events = at(recording(name), "response", "sse")
        for event in cast("list[JsonObject]", events):
            recorded[event["event"]] = keys(event, "data")
    answer = reply("responses", [Say("Hi"), *calls("responses")], "calls", stream=True)
    frames = dialect("responses").frames(answer, in_order(answer.content, 9))
    assert {frame.event: keys(frame.data) for frame in frames} == recorded


@pytest.mark.parametrize(
    ("file", "piece", "kind"),
    [
        ("mcp_hosted", hosted("mcp_list_tools", "{}", []), "mcp_list_tools"),
        ("mcp_hosted", hosted("mcp_call", "{}", "Found."), "mcp_call"),
        ("file_search", hosted("file_search_call", "{}", None), "file_search_call"),
        ("web_search", hosted("web_search_call", "{}", []), "web_search_call"),
        ("programmatic_tool_calling", hosted("program", "1", None), "program"),
        ("tool_search_hosted_r1", hosted("tool_search_call", "{}", None), "tool_search_call"),
        ("tool_search_hosted_r1", hosted("tool_search_output", "{}", []), "tool_search_output"),
        (
            "mcp_approval_request",
            hosted("mcp_approval_request", "{}", None),
            "mcp_approval_request",
        ),
        ("reasoning_commentary_call_r1", thought("", redacted=True), "reasoning"),
    ],
)
def test_items_and_their_events_are_as_recorded(file: str, piece: Piece, kind: str) -> None:
    events = cast("list[JsonObject]", at(recording(f"resp_stream_{file}"), "response", "sse"))
    recorded = [cast("JsonObject", event["data"]) for event in events[2:-1]]
    begun = next(e for e in recorded if "item" in e and at(e, "item", "type") == kind)
    theirs = [event for event in recorded if event["output_index"] == begun["output_index"]]
    answer = reply("responses", [piece], stream=True)
    frames = dialect("responses").frames(answer, in_order(answer.content, 99))[2:-1]
    ours = [cast("JsonObject", frame.data) for frame in frames]
    assert [event["type"] for event in ours] == [event["type"] for event in theirs]
    for our, their in zip(ours, theirs, strict=True):
        assert keys(our) == keys(their)
        if "item" in our:
            assert keys(our, "item") == keys(their, "item")
            prefixes = {str(at(event, "item", "id")).split("_")[0] for event in (our, their)}
            assert len(prefixes) == 1
