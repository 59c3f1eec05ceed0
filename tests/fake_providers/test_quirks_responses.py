"""The quirks of the Responses protocol, event by event."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from quirky_streams import NOTHING, ORDER, body, data, inner, rendered, stream
from sample_answers import answer, call

from loopcheck.fake_providers.wire import Frame, JsonObject

DONE: JsonObject = {
    "id": "fc_order",
    "type": "function_call",
    "status": "completed",
    "arguments": ORDER,
    "call_id": "toolu_order",
    "name": "get_order",
}
ADDED: JsonObject = {**DONE, "status": "in_progress", "arguments": ""}
PLAIN = [
    "created",
    "in_progress",
    "item.added",
    "args.delta",
    "args.delta",
    "args.done",
    "item.done",
    "completed",
]


def kinds(frames: Sequence[Frame]) -> list[str]:
    return [
        (frame.event or "")
        .removeprefix("response.")
        .replace("function_call_arguments", "args")
        .replace("output_item", "item")
        for frame in frames
    ]


def named(frames: Sequence[Frame], kind: str) -> list[JsonObject]:
    return [data(frame) for frame, name in zip(frames, kinds(frames), strict=True) if name == kind]


def output(frames: Sequence[Frame]) -> object:
    return inner(frames[-1].data, "response", "output")


def test_without_a_quirk() -> None:
    frames = stream("responses")

    assert kinds(frames) == PLAIN
    assert named(frames, "item.added")[0]["item"] == ADDED
    assert named(frames, "item.done")[0]["item"] == DONE
    assert output(frames) == [DONE]


@pytest.mark.parametrize(
    ("dropped", "left"),
    [
        ("args-delta", [k for k in PLAIN if k != "args.delta"]),
        ("item-added", [k for k in PLAIN if k != "item.added"]),
        (["args-done", "item-done"], [k for k in PLAIN if k not in ("args.done", "item.done")]),
        ("final-output", PLAIN),
    ],
)
def test_drop(dropped: object, left: list[str]) -> None:
    response = rendered("responses", {"drop": dropped})
    frames = response.body_frames

    assert kinds(frames) == left
    assert output(frames) == ([] if dropped == "final-output" else [DONE])
    assert [data(frame)["sequence_number"] for frame in frames] == list(range(len(left)))
    assert response.sent == {"order": "whole"}


def test_arguments_without_deltas_come_with_the_first_event_that_states_them() -> None:
    def carriers(dropped: list[str]) -> list[tuple[str, str]]:
        frames = stream("responses", {"drop": dropped})
        named = zip(kinds(frames), frames, strict=True)
        return [(kind, frame.text) for kind, frame in named if frame.text]

    assert carriers(["args-delta"]) == [("args.done", ORDER)]
    assert carriers(["args-delta", "args-done"]) == [("item.done", ORDER)]
    assert carriers(["args-delta", "args-done", "item-done"]) == []


@pytest.mark.parametrize(
    ("value", "item_id"), [(None, None), ("absent", "-"), ("call-id", "toolu_order")]
)
def test_item_id(value: object, item_id: object) -> None:
    quirk: JsonObject = {"item-id": value}
    frames = stream("responses", quirk)
    items = [*(inner(d, "item") for k in ("item.added", "item.done") for d in named(frames, k))]
    whole = inner(body("responses", quirk), "output", 0)

    for item in (*items, inner(output(frames), 0), whole):
        assert isinstance(item, dict)
        assert item.get("id", "-") == item_id
        assert item["call_id"] == "toolu_order"
    assert [d.get("item_id", "-") for d in named(frames, "args.delta")] == [item_id] * 2


def test_repeat_item() -> None:
    twice = [*PLAIN[:3], "item.added", *PLAIN[3:7], "item.done", PLAIN[7]]

    frames = stream("responses", "repeat-item")
    assert kinds(frames) == twice
    assert [d["item"] for d in named(frames, "item.done")] == [DONE, DONE]
    bare = stream("responses", {"repeat-item": "empty"})
    assert kinds(bare) == twice
    assert [d["item"] for d in named(bare, "item.done")] == [DONE, {**DONE, "arguments": ""}]
    assert output(bare) == [DONE]


def test_bare_terminal() -> None:
    expected = {"status": "completed", "output": [DONE]}

    assert inner(stream("responses", "bare-terminal")[-1].data, "response") == expected
    assert body("responses", "bare-terminal") == expected
    cut = answer([call("order", '{"or', tool="get_order")], speaks="responses", stop="length")
    ended = rendered("responses", "bare-terminal", to=cut).body_frames[-1]
    assert inner(ended.data, "response", "status") == "incomplete"
    assert inner(ended.data, "response", "incomplete_details") == {"reason": "max_output_tokens"}


def test_item_status() -> None:
    cut = answer([call("order", '{"or', tool="get_order")], speaks="responses", stop="length")
    frames = rendered("responses", {"item-status": "completed"}, to=cut).body_frames

    assert inner(named(frames, "item.done"), 0, "item", "status") == "completed"
    assert inner(named(frames, "item.added"), 0, "item", "status") == "in_progress"
    assert inner(output(frames), 0, "status") == "completed"
    odd = body("responses", {"item-status": "in_progress"})
    assert inner(odd, "output", 0, "status") == "in_progress"


def test_arguments_as_an_object() -> None:
    frames = stream("responses", {"arguments": "object"})

    assert kinds(frames) == [kind for kind in PLAIN if kind != "args.delta"]
    assert named(frames, "item.added")[0]["item"] == ADDED
    assert named(frames, "args.done")[0]["arguments"] == {"order": "A-1"}
    assert output(frames) == [{**DONE, "arguments": {"order": "A-1"}}]
    whole = body("responses", {"arguments": "object"})
    assert inner(whole, "output", 0, "arguments") == {"order": "A-1"}


def test_of_calls_that_share_an_id_each_keeps_its_own_arguments() -> None:
    twins = [replace(one, call_id="call_1") for one in (call("a", "[]"), call("b", ORDER))]
    output = inner(body("responses", {"arguments": "object"}, content=twins), "output")

    assert [inner(output, place, "arguments") for place in range(2)] == ["[]", {"order": "A-1"}]


@pytest.mark.parametrize(("value", "expected"), [(None, None), ("absent", "-"), ("empty", "")])
def test_arguments_of_a_call_without_arguments(value: object, expected: object) -> None:
    quirk: JsonObject = {"arguments": value}
    frames = stream("responses", quirk, content=NOTHING)

    assert "args.delta" not in kinds(frames)
    assert named(frames, "args.done")[0].get("arguments", "-") == expected
    for item in (
        inner(named(frames, "item.done"), 0, "item"),
        inner(output(frames), 0),
        inner(body("responses", quirk, content=NOTHING), "output", 0),
    ):
        assert isinstance(item, dict)
        assert item.get("arguments", "-") == expected
    assert kinds(stream("responses", quirk)) == PLAIN


def test_repeat_args() -> None:
    frames = stream("responses", "repeat-args")

    assert [d["delta"] for d in named(frames, "args.delta")] == ['{"order":', '"A-1"}', ORDER]
    assert [data(frame)["sequence_number"] for frame in frames] == list(range(9))
    assert "".join(frame.text for frame in frames) == ORDER


def test_odd_field() -> None:
    frames = stream("responses", "odd-field")

    assert [data(frame).get("obfuscation") for frame in frames[3:6]] == [[0], [0], None]
    assert inner(body("responses", "odd-field"), "metadata") == "none"


def test_unknown_event() -> None:
    frames = stream("responses", "unknown-event")

    assert kinds(frames) == [PLAIN[0], "notice", *PLAIN[1:3], "notice", *PLAIN[3:]]
    assert data(frames[4]) == {
        "type": "response.notice",
        "sequence_number": 4,
        "notice": "still here",
    }
