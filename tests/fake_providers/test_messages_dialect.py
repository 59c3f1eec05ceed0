from __future__ import annotations

import json
from collections.abc import Sequence

import messages_grammar
import pytest
from anthropic.types.beta import BetaMessage, BetaRawMessageStreamEvent
from hypothesis import given, settings
from hypothesis import strategies as st
from messages_client import created, streamed
from pydantic import TypeAdapter
from sample_answers import (
    MAIL,
    SEAT,
    answer,
    call,
    deliveries,
    objects,
    rendered,
    rich_contents,
    two_calls,
)
from syrupy.assertion import SnapshotAssertion

from loopcheck.fake_providers import delivery
from loopcheck.fake_providers.dialects.messages import DIALECT
from loopcheck.fake_providers.script import (
    Delivery,
    Refuse,
    Say,
    Stop,
    Usage,
)
from loopcheck.fake_providers.wire import (
    Answer,
    Frame,
    IssuedCall,
    IssuedHosted,
    IssuedThought,
    Piece,
)

EVENT: TypeAdapter[object] = TypeAdapter(BetaRawMessageStreamEvent)
STOPS: list[Stop] = ["end", "calls", "length", "filter", "refusal", "context", "pause"]
argument_objects = objects.map(lambda value: json.dumps(value, ensure_ascii=False))


def scripted(content: Sequence[Piece], order: Sequence[int] | None = None) -> list[object]:
    """What a client should have at the end of each piece, in the order of the blocks."""
    expected: list[object] = []
    for index in order or range(len(content)):
        piece = content[index]
        match piece:
            case Say() | Refuse():
                expected += [piece.text] if piece.text else []
            case IssuedThought():
                expected.append((piece.text, piece.seal))
            case IssuedCall():
                expected.append((piece.tool, piece.call_id, json.loads(piece.arguments)))
            case IssuedHosted():
                prefix = "mcp" if piece.kind == "mcp" else "srv"
                if piece.of is None:
                    name, arguments = piece.name, json.loads(piece.arguments)
                    expected.append((name, f"{prefix}{piece.call_id}", arguments))
                if piece.result is not None:
                    expected.append(("result", f"{prefix}{piece.call_id}"))
    return expected


def received(message: BetaMessage) -> list[object]:
    content: list[object] = []
    for block in message.content:
        match block.type:
            case "text":
                content.append(block.text)
            case "thinking":
                content.append((block.thinking, block.signature))
            case "redacted_thinking":
                content.append(("", block.data))
            case "tool_use" | "server_tool_use" | "mcp_tool_use":
                content.append((block.name, block.id, block.input))
            case _:
                content.append(("result", block.model_dump()["tool_use_id"]))
    return content


# Answers


answers = st.builds(
    lambda content, stop, usage: answer(content, stop=stop, usage=usage),
    rich_contents(arguments=argument_objects),
    st.sampled_from(STOPS),
    st.builds(
        Usage, input=st.integers(0, 999), output=st.integers(0, 999), reasoning=st.integers(0, 9)
    ),
)


@given(answers, deliveries())
@settings(max_examples=50)
def test_every_event_is_one_the_official_types_accept(to: Answer, how: Delivery) -> None:
    frames = DIALECT.frames(to, delivery.steps(to.content, how, seed=1))
    for frame in frames:
        if frame.event != "ping":
            EVENT.validate_json(json.dumps(frame.data), strict=True)
    names = [frame.event for frame in frames]
    assert names.count("ping") == (1 if "content_block_start" in names else 0)


@given(answers)
@settings(max_examples=50)
def test_events_come_in_the_order_of_the_service(to: Answer) -> None:
    frames = DIALECT.frames(to, delivery.steps(to.content, Delivery(), seed=1))
    messages_grammar.check([(frame.event, frame.data) for frame in frames])


@given(answers)
@settings(max_examples=50)
def test_the_first_fragment_of_a_call_is_empty(to: Answer) -> None:
    frames = DIALECT.frames(to, delivery.steps(to.content, Delivery(), seed=1))
    for piece in to.calls:
        texts = [f.text for f in frames if f.label == piece.label and f.part == "fragment"]
        assert texts[0] == ""
        assert all(texts[1:])
        assert "".join(texts) == piece.arguments


@given(answers)
@settings(max_examples=50)
def test_a_whole_message_is_one_the_official_types_accept(to: Answer) -> None:
    body = DIALECT.whole(to)
    BetaMessage.model_validate_json(json.dumps(body), strict=True)


@given(answers, deliveries(), st.integers(0, 99))
@settings(max_examples=50)
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
@settings(max_examples=50)
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
    content: list[Piece] = [Refuse("No.") if stop == "refusal" else Say("Well.")]
    to = answer(content, stop=stop)
    explanation = "No." if stop == "refusal" else None
    details = {"type": "refusal", "category": None, "explanation": explanation}
    for message in (streamed(rendered(to=to)), created(rendered(to=to, mode="whole"))):
        assert message.stop_reason == reason
        assert message.stop_sequence is None
        expected = details if reason == "refusal" else None
        assert (
            message.stop_details and message.stop_details.model_dump(exclude_unset=True)
        ) == expected


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
