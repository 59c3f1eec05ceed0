"""The quirks of the Messages protocol, event by event."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from quirky_streams import NOTHING, ORDER, body, data, inner, rendered, stream

from loopcheck.fake_providers.wire import Frame, JsonObject

START, DELTA, STOP = "content_block_start", "content_block_delta", "content_block_stop"
PLAIN = ["message_start", START, "ping", DELTA, DELTA, DELTA, STOP, "message_delta", "message_stop"]
NOTICE = {"type": "notice", "notice": "still here"}


def kinds(frames: Sequence[Frame]) -> list[str | None]:
    return [frame.event for frame in frames]


def inputs(frames: Sequence[Frame]) -> list[object]:
    return [inner(f.data, "delta", "partial_json") for f in frames if f.event == DELTA]


def test_without_a_quirk() -> None:
    assert kinds(stream("messages")) == PLAIN
    assert inputs(stream("messages")) == ["", '{"order":', '"A-1"}']


def test_repeat_args() -> None:
    frames = stream("messages", "repeat-args")

    assert inputs(frames) == ["", '{"order":', '"A-1"}', ORDER]
    assert inner(frames[6].data, "index") == 0
    assert "".join(frame.text for frame in frames) == ORDER


@pytest.mark.parametrize(("value", "given"), [("absent", "-"), ("empty", {})])
def test_arguments_of_a_call_without_arguments(value: str, given: object) -> None:
    frames = stream("messages", {"arguments": value}, content=NOTHING)

    assert kinds(frames) == [kind for kind in PLAIN if kind != DELTA]
    block = inner(frames[1].data, "content_block")
    assert isinstance(block, dict)
    assert block.get("input", "-") == given
    assert kinds(stream("messages", {"arguments": value})) == PLAIN


def test_arguments_that_a_whole_response_lacks() -> None:
    block = inner(body("messages", {"arguments": "absent"}, content=NOTHING), "content", 0)

    assert isinstance(block, dict)
    assert (block["name"], "input" in block) == ("list_orders", False)
    assert inner(body("messages", {"arguments": "absent"}), "content", 0, "input") == {
        "order": "A-1"
    }


@pytest.mark.parametrize(
    ("value", "ends"), [("eos", "well"), ("max_tokens", "marked"), (None, "unmarked")]
)
def test_finish(value: object, ends: str) -> None:
    response = rendered("messages", {"finish": value})

    assert kinds(response.body_frames) == PLAIN
    assert inner(response.body_frames[-2].data, "delta", "stop_reason") == value
    assert response.ends == ends
    assert inner(body("messages", {"finish": value}), "stop_reason") == value


def test_finish_left_out() -> None:
    response = rendered("messages", {"finish": "none"})
    whole = body("messages", {"finish": "none"})

    assert kinds(response.body_frames) == [kind for kind in PLAIN if kind != "message_delta"]
    assert response.ends == "unmarked"
    assert isinstance(whole, dict)
    assert "stop_reason" not in whole


def test_odd_field() -> None:
    frames = stream("messages", "odd-field")

    assert [data(f).get("usage") for f in frames if f.event == DELTA] == ["none"] * 3
    assert inner(body("messages", "odd-field"), "container") == "none"


def test_unknown_event() -> None:
    frames = stream("messages", "unknown-event")

    assert kinds(frames) == [PLAIN[0], "notice", PLAIN[1], "notice", *PLAIN[2:]]
    assert data(frames[1]) == NOTICE


def test_unknown_block() -> None:
    plain = stream("messages")
    frames = stream("messages", "unknown-block")

    assert kinds(frames) == [PLAIN[0], START, STOP, *PLAIN[1:]]
    expected: JsonObject = {"type": START, "index": 0, "content_block": NOTICE}
    assert data(frames[1]) == expected
    assert inner(frames[3].data, "index") == 1
    assert inner(frames[3].data, "content_block") == inner(plain[1].data, "content_block")
    content = inner(body("messages", "unknown-block"), "content")
    assert isinstance(content, list)
    assert content == [NOTICE, inner(body("messages"), "content", 0)]


def test_bare_ping() -> None:
    response = rendered("messages", "bare-ping")
    pings = [f for f in response.body_frames if f.event == "ping"]

    assert kinds(response.body_frames) == [PLAIN[0], "ping", *PLAIN[1:]]
    assert [frame.data for frame in pings] == ["", ""]
    assert response.frame_texts[1] == "event: ping\n\n"
