from __future__ import annotations

import json
from collections.abc import Sequence

import anthropic._streaming
import openai._streaming
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_answers import deliveries, objects

from loopcheck.fake_providers import sse
from loopcheck.fake_providers.script import Delivery, Segments
from loopcheck.fake_providers.wire import Frame, JsonObject

PING = Frame(event="ping", data={"type": "ping"}, part="ping")
HELLO = Frame(event="hello", data={"a": [1, {"b": "x,y"}], "é": "z"})
DONE = Frame(data="[DONE]", part="terminal")


def decoded_by_openai(writes: Sequence[bytes]) -> list[tuple[str | None, str]]:
    events = openai._streaming.SSEDecoder().iter_bytes(iter(writes))
    return [(event.event, event.data) for event in events]


def decoded_by_anthropic(writes: Sequence[bytes]) -> list[tuple[str | None, str]]:
    events = anthropic._streaming.SSEDecoder().iter_bytes(iter(writes))
    return [(event.event, event.data) for event in events]


def meaning(data: str) -> object:
    return data if data == "[DONE]" else json.loads(data)


named = st.none() | st.sampled_from(["message_start", "response.created"])
frames = st.lists(st.builds(lambda e, d: Frame(event=e, data=d), named, objects), max_size=5)


@given(frames, deliveries(), st.integers(0, 99))
def test_independent_decoders_read_the_same_events_from_every_delivery(
    sent: list[Frame], how: Delivery, seed: int
) -> None:
    sent = [*sent, DONE]
    writes = sse.segments(sse.encode(sent, how), how, seed)
    expected = [(frame.event, frame.data) for frame in sent]
    for decode in (decoded_by_openai, decoded_by_anthropic):
        assert [(event, meaning(data)) for event, data in decode(writes)] == expected


@given(frames, deliveries(), st.integers(0, 99))
def test_segments_are_the_body_in_writes_that_are_never_empty(
    sent: list[Frame], how: Delivery, seed: int
) -> None:
    encoded = sse.encode(sent, how, PING)
    writes = sse.segments(encoded, how, seed)
    assert len(encoded) == len(sent)
    assert b"".join(writes) == b"".join(encoded)
    assert all(writes)


@given(frames, st.integers(1, 3))
def test_pings_are_extra_events_and_none_follows_the_terminal_one(
    sent: list[Frame], every: int
) -> None:
    sent = [*sent, DONE]
    how = Delivery(pings=every)
    events = decoded_by_anthropic(sse.encode(sent, how, PING))
    pings = [event for event, _ in events if event == "ping"]
    assert len(pings) == (len(sent) - 1) // every
    assert [meaning(d) for e, d in events if e != "ping"] == [frame.data for frame in sent]
    assert events[-1] == (None, "[DONE]")


@given(frames, deliveries(), st.sets(st.integers(0, 500), max_size=4))
def test_a_write_ends_at_each_break(sent: list[Frame], how: Delivery, breaks: set[int]) -> None:
    encoded = sse.encode([*sent, DONE], how)
    writes = sse.segments(encoded, how, 1, breaks)
    size = sum(map(len, encoded))
    ends = {sum(map(len, writes[:n])) for n in range(len(writes) + 1)}
    assert b"".join(writes) == b"".join(encoded)
    assert {at for at in breaks if at <= size} <= ends


def test_an_event_without_data_has_no_data_line() -> None:
    assert written(Delivery(data_lines=3), Frame(event="ping", data="")) == b"event: ping\n\n"


def written(how: Delivery, *sent: Frame) -> bytes:
    return b"".join(sse.encode(sent, how, PING))


def test_plain_framing() -> None:
    assert written(Delivery(), HELLO, DONE).decode() == (
        'event: hello\ndata: {"a":[1,{"b":"x,y"}],"é":"z"}\n\ndata: [DONE]\n\n'
    )


def test_crlf_without_space_with_comments_and_pings() -> None:
    how = Delivery(newline="crlf", space=False, comments=2, pings=1)
    assert written(how, HELLO, DONE).decode() == (
        'event:hello\r\ndata:{"a":[1,{"b":"x,y"}],"é":"z"}\r\n\r\n'
        'event:ping\r\ndata:{"type":"ping"}\r\n\r\n'
        "data:[DONE]\r\n\r\n"
        ": keep-alive\r\n\r\n"
    )


def test_dialects_without_pings_send_none() -> None:
    assert sse.encode([HELLO], Delivery(pings=1)) == sse.encode([HELLO], Delivery())


def test_data_lines_are_cut_between_tokens_only() -> None:
    assert written(Delivery(data_lines=4), HELLO).decode() == (
        'event: hello\ndata: {"a":[\ndata: 1,{"b"\ndata: :"x,y"}]\ndata: ,"é":"z"}\n\n'
    )
    assert written(Delivery(data_lines=9), DONE) == b"data: [DONE]\n\n"
    assert written(Delivery(data_lines=9), Frame(data={})) == b"data: {\ndata: }\n\n"


def test_a_bom_stands_before_the_first_event() -> None:
    assert sse.encode([DONE, DONE], Delivery(bom=True)) == [
        b"\xef\xbb\xbfdata: [DONE]\n\n",
        b"data: [DONE]\n\n",
    ]
    assert sse.encode([], Delivery(bom=True)) == []


def writes(how: Segments, *encoded: bytes) -> list[bytes]:
    return sse.segments(encoded, Delivery(segments=how), 1)


def test_segment_sizes() -> None:
    assert writes("frame", b"ab", b"", b"c") == [b"ab", b"c"]
    assert writes("all", b"ab", b"c") == [b"abc"]
    assert writes("byte", b"ab", b"c") == [b"a", b"b", b"c"]
    assert writes(2, b"abc", b"de") == [b"ab", b"cd", b"e"]
    assert all(1 <= len(write) <= 64 for write in writes("seeded", b"x" * 999))


def test_segments_inside_characters_and_line_ends() -> None:
    assert writes("utf8", "aé🎉".encode(), b"b") == [b"a\xc3", b"\xa9\xf0", b"\x9f\x8e\x89", b"b"]
    assert writes("crlf", b"a\r\n\r\n", b"b") == [b"a\r", b"\n\r", b"\n", b"b"]


@pytest.mark.parametrize("how", ["frame", "all", "byte", "seeded", "utf8", "crlf", 3])
def test_an_empty_body_has_no_writes(how: Segments) -> None:
    assert writes(how) == []


def test_segments_have_at_least_one_byte() -> None:
    with pytest.raises(ValueError, match="segments of 0 bytes"):
        writes(0, b"abc")


@given(objects, deliveries(), st.booleans())
def test_every_byte_of_the_data_has_its_offset(value: JsonObject, how: Delivery, bom: bool) -> None:
    how = Delivery(
        newline=how.newline, space=how.space, data_lines=how.data_lines, bom=bom, comments=1
    )
    [encoded] = sse.encode([Frame(event="e", data=value)], how)
    data = sse.compact(value).encode()
    start = sse.data_offset(encoded, 0)
    assert start is not None
    assert encoded[:start].endswith(b"data: " if how.space else b"data:")
    for size in range(1, len(data) + 1):
        end = sse.data_offset(encoded, size)
        assert end is not None
        assert encoded[end - 1 : end] == data[size - 1 : size]
    assert sse.data_offset(encoded, len(data) + 1) is None
