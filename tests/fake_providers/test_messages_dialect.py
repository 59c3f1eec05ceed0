from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import groupby

import anthropic
import httpx2
import pytest
from anthropic.types import Message, RawMessageStreamEvent
from anthropic.types.beta import BetaMessage
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter
from sample_answers import (
    MAIL,
    SEAT,
    answer,
    call,
    contents,
    deliveries,
    objects,
    rendered,
    two_calls,
)
from syrupy.assertion import SnapshotAssertion

from loopcheck.fake_providers import delivery
from loopcheck.fake_providers.dialects.messages import DIALECT
from loopcheck.fake_providers.faults import Rendered
from loopcheck.fake_providers.ids import digest
from loopcheck.fake_providers.script import (
    Delivery,
    ErrorName,
    Fault,
    Place,
    Refuse,
    Say,
    Stop,
    Usage,
)
from loopcheck.fake_providers.wire import (
    Answer,
    Frame,
    HttpRequest,
    Piece,
)

EVENT: TypeAdapter[object] = TypeAdapter(RawMessageStreamEvent)
STOPS: list[Stop] = ["end", "calls", "length", "filter", "refusal", "context", "pause"]
argument_objects = objects.map(lambda value: json.dumps(value, ensure_ascii=False))


def client(response: Rendered) -> anthropic.Anthropic:
    """The official client, which gets this response, write by write."""

    def respond(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(
            response.status, headers=list(response.headers), content=iter(response.segments)
        )

    transport = httpx2.MockTransport(respond)
    return anthropic.Anthropic(
        api_key="test", max_retries=0, http_client=httpx2.Client(transport=transport)
    )


def streamed(response: Rendered) -> Message:
    with (
        client(response) as sdk,
        sdk.messages.stream(
            model="m", max_tokens=9, messages=[{"role": "user", "content": "x"}]
        ) as stream,
    ):
        return stream.get_final_message()


def created(response: Rendered) -> Message:
    with client(response) as sdk:
        return sdk.messages.create(
            model="m", max_tokens=9, messages=[{"role": "user", "content": "x"}]
        )


def scripted(content: Sequence[Piece], order: Sequence[int] | None = None) -> list[object]:
    """What a client should have at the end: text, and name, id and input of each call."""
    expected: list[object] = []
    for index in order or range(len(content)):
        piece = content[index]
        if isinstance(piece, Say | Refuse):
            expected += [piece.text] if piece.text else []
        else:
            expected.append((piece.tool, piece.call_id, json.loads(piece.arguments)))
    return expected


def received(message: Message) -> list[object]:
    content: list[object] = []
    for block in message.content:
        if block.type == "text":
            content.append(block.text)
        elif block.type == "tool_use":
            content.append((block.name, block.id, block.input))
    return content


# Answers


answers = st.builds(
    lambda content, stop, usage: answer(content, stop=stop, usage=usage),
    contents(arguments=argument_objects),
    st.sampled_from(STOPS),
    st.builds(
        Usage, input=st.integers(0, 999), output=st.integers(0, 999), reasoning=st.integers(0, 9)
    ),
)


@given(answers, deliveries())
def test_every_event_is_one_the_official_types_accept(to: Answer, how: Delivery) -> None:
    frames = DIALECT.frames(to, delivery.steps(to.content, how, seed=1))
    for frame in frames:
        assert isinstance(frame.data, dict)
        assert frame.event == frame.data["type"]
        if frame.event != "ping":
            EVENT.validate_python(frame.data, strict=True)
    names = [str(frame.event) for frame in frames]
    assert (names[0], names[-2], names[-1]) == ("message_start", "message_delta", "message_stop")
    assert names.count("ping") == (1 if "content_block_start" in names else 0)


@given(answers)
def test_blocks_follow_one_another_and_count_from_0(to: Answer) -> None:
    frames = DIALECT.frames(to, delivery.steps(to.content, Delivery(), seed=1))
    data = [frame.data for frame in frames if isinstance(frame.data, dict)]
    events = [event for event in data if "index" in event]
    grouped = [list(own) for _, own in groupby(events, lambda event: event["index"])]
    assert [own[0]["index"] for own in grouped] == list(range(len(grouped)))
    for own in grouped:
        kinds = [event["type"] for event in own]
        assert kinds[0] == "content_block_start"
        assert kinds[-1] == "content_block_stop"
        assert set(kinds[1:-1]) <= {"content_block_delta"}


@given(answers)
def test_the_first_fragment_of_a_call_is_empty(to: Answer) -> None:
    frames = DIALECT.frames(to, delivery.steps(to.content, Delivery(), seed=1))
    for piece in to.calls:
        texts = [f.text for f in frames if f.label == piece.label and f.part == "fragment"]
        assert texts[0] == ""
        assert all(texts[1:])
        assert "".join(texts) == piece.arguments


@given(answers)
def test_a_whole_message_is_one_the_official_types_accept(to: Answer) -> None:
    body = DIALECT.whole(to)
    Message.model_validate(body, strict=True)
    BetaMessage.model_validate(body, strict=True)


@given(answers, deliveries(), st.integers(0, 99))
def test_the_official_accumulator_gives_back_what_was_scripted(
    to: Answer, how: Delivery, seed: int
) -> None:
    response = rendered(to=to, how=how, seed=seed)
    message = streamed(response)
    opened = [step.index for step in delivery.steps(to.content, how, seed=seed)]
    assert received(message) == scripted(to.content, list(dict.fromkeys(opened)))
    assert message.id == to.response_id
    assert message.model == to.model
    assert message.stop_reason == DIALECT.whole(to)["stop_reason"]
    assert message.usage.input_tokens == to.usage.input
    assert message.usage.output_tokens == to.usage.output


@given(answers)
def test_a_whole_message_gives_back_what_was_scripted(to: Answer) -> None:
    message = created(rendered(to=to, mode="whole"))
    assert received(message) == scripted(to.content)
    assert message.usage.output_tokens == to.usage.output


@pytest.mark.parametrize(
    ("stop", "reason"),
    [
        ("end", "end_turn"),
        ("calls", "tool_use"),
        ("length", "max_tokens"),
        ("filter", "refusal"),
        ("refusal", "refusal"),
        ("context", "model_context_window_exceeded"),
        ("pause", "pause_turn"),
    ],
)
def test_stop_reasons_are_the_same_whole_and_streamed(stop: Stop, reason: str) -> None:
    to = answer([Say("Well.")], stop=stop)
    details = {"type": "refusal", "category": None, "explanation": None}
    for message in (streamed(rendered(to=to)), created(rendered(to=to, mode="whole"))):
        assert message.stop_reason == reason
        assert message.stop_sequence is None
        expected = details if reason == "refusal" else None
        assert (message.stop_details and message.stop_details.model_dump()) == expected


def test_an_empty_refusal_has_no_content() -> None:
    to = answer([Refuse("")], stop="refusal")
    assert DIALECT.whole(to)["content"] == []
    assert streamed(rendered(to=to)).content == []


def test_a_call_without_arguments_has_only_the_empty_fragment() -> None:
    to = answer([call("look", "", tool="look_around")])
    frames = DIALECT.frames(to, delivery.steps(to.content, Delivery(), seed=1))
    assert [frame.text for frame in frames if frame.part == "fragment"] == [""]
    [block] = streamed(rendered(to=to)).content
    assert block.model_dump()["input"] == {}


@pytest.mark.parametrize("arguments", ['{"seat":1', "[1,2]", '{"a":'])
def test_wrong_arguments_are_streamed_as_they_are(arguments: str) -> None:
    to = answer([call("book", arguments)], stop="length")
    frames = DIALECT.frames(to, delivery.steps(to.content, Delivery(), seed=1))
    assert "".join(frame.text for frame in frames if frame.label == "book") == arguments


def as_text(frames: Sequence[Frame]) -> str:
    return "\n".join(f"{f.event} {f.label} {json.dumps(f.data)}" for f in frames)


def test_a_stream_of_two_calls(snapshot: SnapshotAssertion) -> None:
    assert "".join(rendered(how=Delivery(fragments=16)).frame_texts) == snapshot


def test_a_stream_of_two_interleaved_calls(snapshot: SnapshotAssertion) -> None:
    how = Delivery(fragments=16, interleave=True)
    to = answer([call("book", SEAT), call("mail", MAIL, tool="send_mail")])
    assert as_text(DIALECT.frames(to, delivery.steps(to.content, how, seed=1))) == snapshot


def test_a_refusal(snapshot: SnapshotAssertion) -> None:
    to = answer([Refuse("I cannot help with that.")], stop="refusal")
    assert "".join(rendered(to=to, how=Delivery(fragments="whole")).frame_texts) == snapshot
    assert DIALECT.whole(to) == snapshot(name="whole")


def test_a_truncated_call(snapshot: SnapshotAssertion) -> None:
    to = answer([call("book", '{"event":"E1","seat":1')], stop="length")
    assert "".join(rendered(to=to, how=Delivery(fragments=16)).frame_texts) == snapshot
    assert DIALECT.whole(to) == snapshot(name="whole")


def test_a_whole_answer_with_two_calls(snapshot: SnapshotAssertion) -> None:
    assert DIALECT.whole(two_calls()) == snapshot


# The rest of the dialect


def test_where_it_is_served() -> None:
    assert DIALECT.base_url("http://127.0.0.1:1/c/k") == "http://127.0.0.1:1/c/k"
    for method, path, kind in [
        ("POST", "/v1/messages", "generate"),
        ("POST", "/v1/messages/count_tokens", "side"),
        ("GET", "/v1/models", "side"),
        ("GET", "/v1/models/claude-sonnet-5", "side"),
        ("GET", "/v1/messages", None),
        ("POST", "/v1/models", None),
        ("POST", "/messages", None),
    ]:
        assert DIALECT.serves(method, path) == kind


@pytest.mark.parametrize(
    ("headers", "key"),
    [
        ({"x-api-key": "old"}, "old"),
        ({"authorization": "Bearer new"}, "new"),
        ({"authorization": "bearer new"}, "new"),
        ({"authorization": "Basic new"}, None),
        ({"authorization": "Bearer "}, None),
        ({"x-api-key": ""}, None),
        ({}, None),
    ],
)
def test_both_generations_of_keys(headers: dict[str, str], key: str | None) -> None:
    assert DIALECT.authenticate(headers) == key


def side(method: str, path: str, body: bytes = b"") -> Rendered:
    request = HttpRequest(method=method, path=path, body=body)
    text = json.dumps(DIALECT.side(request))
    return Rendered(
        status=200,
        headers=(("content-type", "application/json"),),
        body_frames=(),
        segments=(text.encode(),),
        streamed=False,
        ending="complete",
        keep_alive=True,
        sent={},
        ends="well",
        frame_texts=(text,),
    )


def test_side_requests_get_answers_the_official_client_reads() -> None:
    short, long = (
        DIALECT.side(HttpRequest(method="POST", path="/v1/messages/count_tokens", body=body))
        for body in (b"{}", b"{}" * 400)
    )
    assert short["input_tokens"] == 1
    assert long["input_tokens"] == 201
    with client(side("GET", "/v1/models")) as sdk:
        assert [model.id for model in sdk.models.list()][-1] == "claude-haiku-4-5"
    with client(side("GET", "/v1/models/claude-x")) as sdk:
        assert sdk.models.retrieve("claude-x").display_name == "claude-x"


@pytest.mark.parametrize(
    ("name", "status", "kind", "message"),
    [
        ("invalid", 400, "invalid_request_error", "Invalid request"),
        ("auth", 401, "authentication_error", "invalid x-api-key"),
        ("quota", 402, "billing_error", "Your credit balance is too low"),
        ("not_found", 404, "not_found_error", "model: claude-sonnet-5"),
        ("conflict", 409, "conflict_error", "The request conflicts"),
        ("rate_limit", 429, "rate_limit_error", "This request would exceed your organization's"),
        ("server", 500, "api_error", "Internal server error"),
        ("unavailable", 503, "api_error", "Service unavailable"),
        ("timeout", 504, "timeout_error", "Request timed out"),
        ("overloaded", 529, "overloaded_error", "Overloaded"),
    ],
)
def test_errors_reach_the_official_client(
    name: ErrorName, status: int, kind: str, message: str
) -> None:
    response = rendered(Fault(kind="http", error=name))
    with pytest.raises(anthropic.APIStatusError) as caught:
        created(response)
    error = caught.value
    assert (error.status_code, error.type) == (status, kind)
    assert error.api_message is not None
    assert error.api_message.startswith(message)
    assert error.request_id == json.loads(response.segments[0])["request_id"]


def test_an_error_event_reaches_the_official_client() -> None:
    fault = Fault(kind="error-event", error="overloaded", at=Place(before="mail"))
    response = rendered(fault)
    with pytest.raises(anthropic.APIStatusError) as caught:
        streamed(response)
    assert (caught.value.status_code, caught.value.type) == (200, "overloaded_error")


def test_headers() -> None:
    headers = dict(DIALECT.headers("req_1", streamed=True))
    assert headers["request-id"] == "req_1"
    assert headers["cache-control"] == "no-cache"
    assert headers["anthropic-ratelimit-input-tokens-limit"] == "400000"
    assert headers["anthropic-ratelimit-requests-reset"] == "2026-11-30T12:00:00Z"
    assert "cache-control" not in dict(DIALECT.headers("req_1", streamed=False))
    assert "content-type" not in headers


@given(st.text(max_size=40), st.integers())
def test_a_call_id_shows_its_label_in_the_service_s_shape(label: str, seed: int) -> None:
    call_id = DIALECT.call_id(label, digest(seed))
    assert re.fullmatch(r"toolu_01[a-zA-Z0-9_-]{22}", call_id)
    assert call_id != DIALECT.call_id(label, digest(seed, "again"))


def test_ids() -> None:
    mark = digest(1, "x")
    assert DIALECT.call_id("book seat!", mark).startswith("toolu_01bookseat")
    assert re.fullmatch(r"msg_01[1-9A-HJ-NP-Za-km-z]{22}", DIALECT.response_id(mark))
    assert re.fullmatch(r"req_01[1-9A-HJ-NP-Za-km-z]{22}", DIALECT.request_id(mark))
    assert DIALECT.item_id("call", mark) == ""
