"""The quirks of chat streams and bodies, event by event."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from quirky_streams import NOTHING, ORDER, TWO, body, data, inner, rendered, stream
from sample_answers import call

from loopcheck.fake_providers.wire import Frame, JsonObject, Piece

HEAD: JsonObject = {
    "index": 0,
    "id": "toolu_order",
    "type": "function",
    "function": {"name": "get_order", "arguments": ""},
}
FIRST = {"index": 0, "function": {"arguments": '{"order":'}}
SECOND = {"index": 0, "function": {"arguments": '"A-1"}'}}


def deltas(frames: Sequence[Frame]) -> list[object]:
    """The list of each chunk that has a list of tool calls."""
    lists = (inner(frame.data, "choices", 0, "delta", "tool_calls") for frame in frames)
    return [entries for entries in lists if entries is not None]


def indexes(frames: Sequence[Frame]) -> list[object]:
    return [entry.get("index", "-") for chunk in deltas(frames) for entry in chunk]  # type: ignore[attr-defined]


def reasons(frames: Sequence[Frame]) -> list[object]:
    return [
        "-"
        if not inner(frame.data, "choices")
        else inner(frame.data, "choices", 0, "finish_reason")
        for frame in frames
    ]


def without(entry: JsonObject, key: str) -> JsonObject:
    return {name: value for name, value in entry.items() if name != key}


def test_without_a_quirk() -> None:
    assert deltas(stream("chat")) == [[HEAD], [FIRST], [SECOND]]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("absent", ["-"] * 6),
        (None, [None] * 6),
        (0, [0] * 6),
        (7, [7] * 6),
        ({"from": 1}, [1, 1, 1, 2, 2, 2]),
        ([3, 0], [3, 3, 3, 0, 0, 0]),
        ([None], [None] * 6),
        ("growing", [0, 1, 2, 3, 4, 5]),
        ("mixed", [0, "-", 0, "-", 1, "-"]),
    ],
)
def test_index(value: object, expected: list[object]) -> None:
    assert indexes(stream("chat", content=TWO)) == [0, 0, 0, 1, 1, 1]
    assert indexes(stream("chat", {"index": value}, content=TWO)) == expected


def test_continuation() -> None:
    assert deltas(stream("chat", {"continuation": {"id": ""}})) == [
        [HEAD],
        [{**FIRST, "id": ""}],
        [{**SECOND, "id": ""}],
    ]
    same: JsonObject = {"continuation": {"id": "same", "type": "same", "name": "same"}}
    assert deltas(stream("chat", same))[1] == [
        {
            "index": 0,
            "id": "toolu_order",
            "type": "function",
            "function": {"name": "get_order", "arguments": '{"order":'},
        }
    ]


@pytest.mark.parametrize(("place", "holder"), [(2, 1), (3, 2), (9, 2)])
def test_late_id(place: int, holder: int) -> None:
    expected = [without(HEAD, "id"), FIRST, SECOND]
    expected[holder] = {**expected[holder], "id": "toolu_order"}

    assert deltas(stream("chat", {"late-id": place})) == [[entry] for entry in expected]


def test_batch_deltas() -> None:
    head, first, second = (chunk[0] for chunk in deltas(stream("chat", content=TWO))[3:])  # type: ignore[index]

    assert deltas(stream("chat", {"batch-deltas": 2})) == [[HEAD, FIRST], [SECOND]]
    assert deltas(stream("chat", {"batch-deltas": [1, 3]}, content=TWO)) == [
        [HEAD],
        [FIRST, SECOND, head],
        [first, second],
    ]
    # A chunk with deltas of two calls is neither's.
    frames = stream("chat", {"batch-deltas": 4}, content=TWO)
    assert [frame.label for frame in frames] == [None, None, "mail", None, None]


def test_split_name() -> None:
    pieces = [["get_", "order"], ["get", "_or", "der"]]
    for value, names in ((["get_", "order"], pieces[0]), (3, pieces[1])):
        first, *others = names
        assert deltas(stream("chat", {"split-name": value})) == [
            [{**HEAD, "function": {"name": first, "arguments": ""}}],
            *([{"index": 0, "function": {"name": name}}] for name in others),
            [FIRST],
            [SECOND],
        ]
    # The listed pieces are those of one tool; other names stay whole.
    named = deltas(stream("chat", {"split-name": ["get_", "order"]}, content=TWO))
    assert inner(named, 4, 0, "function", "name") == "send_mail"


def test_id_in_function() -> None:
    function = {"id": "toolu_order", "name": "get_order", "arguments": ""}

    assert deltas(stream("chat", "id-in-function")) == [
        [{"index": 0, "function": function}],
        [FIRST],
        [SECOND],
    ]
    calls = inner(body("chat", "id-in-function"), "choices", 0, "message", "tool_calls")
    assert calls == [{"function": {**function, "arguments": ORDER}}]


def test_args_in_head() -> None:
    frames = stream("chat", "args-in-head")

    assert deltas(frames) == [
        [{**HEAD, "function": {"name": "get_order", "arguments": '{"order":'}}],
        [SECOND],
    ]
    assert [frame.text for frame in frames if frame.label] == ['{"order":', '"A-1"}']
    assert deltas(stream("chat", "args-in-head", content=[call("list", "")])) == deltas(
        stream("chat", content=[call("list", "")])
    )


def test_repeat_args() -> None:
    frames = stream("chat", "repeat-args")

    assert deltas(frames) == [
        [HEAD],
        [FIRST],
        [SECOND],
        [{"index": 0, "function": {"arguments": ORDER}}],
    ]
    assert "".join(frame.text for frame in frames) == ORDER


@pytest.mark.parametrize(
    ("value", "function"),
    [
        ("object", {"name": "list_orders", "arguments": {}}),
        (None, {"name": "list_orders", "arguments": None}),
        ("absent", {"name": "list_orders"}),
        ("empty", {"name": "list_orders", "arguments": ""}),
    ],
)
def test_arguments_of_a_call_without_arguments(value: object, function: JsonObject) -> None:
    quirk: JsonObject = {"arguments": value}

    (chunk,) = deltas(stream("chat", quirk, content=NOTHING))
    assert inner(chunk, 0, "function") == function
    calls = inner(
        body("chat", quirk, content=NOTHING), "choices", 0, "message", "tool_calls", 0, "function"
    )
    assert calls == function


def test_arguments_of_a_call_that_has_some() -> None:
    assert deltas(stream("chat", {"arguments": "object"})) == [
        [{**HEAD, "function": {"name": "get_order", "arguments": {"order": "A-1"}}}]
    ]
    assert deltas(stream("chat", {"arguments": None})) == [[HEAD], [FIRST], [SECOND]]
    cut: list[Piece] = [call("order", '{"order":', tool="get_order")]
    assert deltas(stream("chat", {"arguments": "object"}, content=cut)) == [[HEAD], [FIRST]]


@pytest.mark.parametrize(
    ("value", "expected", "ends"),
    [
        ("stop", [None, None, None, None, "stop", "-"], "well"),
        ("eos", [None, None, None, None, "eos", "-"], "well"),
        ("length", [None, None, None, None, "length", "-"], "marked"),
        (None, [None, None, None, None, None, "-"], "unmarked"),
        ("none", [None, None, None, None, "-"], "unmarked"),
    ],
)
def test_finish(value: object, expected: list[object], ends: str) -> None:
    response = rendered("chat", {"finish": value})

    assert reasons(response.body_frames) == expected
    assert response.ends == ends


@pytest.mark.parametrize(("value", "reason"), [("eos", "eos"), (None, None), ("none", "absent")])
def test_finish_of_a_whole_response(value: object, reason: object) -> None:
    choice = inner(body("chat", {"finish": value}), "choices", 0)

    assert isinstance(choice, dict)
    assert choice.get("finish_reason", "absent") == reason


def test_finish_on_last_delta() -> None:
    frames = stream("chat", "finish-on-last-delta")

    assert deltas(frames) == [[HEAD], [FIRST], [SECOND]]
    assert reasons(frames) == [None, None, None, "tool_calls", "-"]
    assert [frame.part for frame in frames[-2:]] == ["finish", "terminal"]
    # Where there is no delta, there is nothing to ride on.
    assert reasons(stream("chat", "finish-on-last-delta", content=[])) == [None, "tool_calls", "-"]
    # With the finish reason on it, the delta keeps what else it holds.
    both = stream("chat", "finish-on-last-delta", {"finish": "none"})
    assert deltas(both) == [[HEAD], [FIRST], [SECOND]]


def test_usage_frame() -> None:
    frames = stream("chat", "usage-frame")

    assert [frame.part for frame in frames[-3:]] == ["finish", "usage", "terminal"]
    assert {key: data(frames[-2])[key] for key in ("choices", "usage")} == {
        "choices": [],
        "usage": {"prompt_tokens": 20, "completion_tokens": 7, "total_tokens": 27},
    }
    assert data(frames[-2])["id"] == data(frames[0])["id"]
    assert stream("chat", "usage-frame", "usage-frame") == frames


def test_filter_frames() -> None:
    plain = stream("chat")
    silent: JsonObject = {"index": 0, "finish_reason": None, "content_filter_results": {}}

    first = stream("chat", {"filter-frames": "first"})
    assert first[1:] == plain
    assert (data(first[0])["choices"], "prompt_filter_results" in data(first[0])) == ([], True)
    after = stream("chat", {"filter-frames": "after"})
    assert (*after[:-2], after[-1]) == plain
    choice = inner(after[-2].data, "choices", 0)
    assert isinstance(choice, dict)
    assert without(choice, "content_filter_offsets") == silent
    between = stream("chat", {"filter-frames": ["between", "after"]})
    shapes = ["delta" in (inner(f.data, "choices", 0) or {}) for f in between]  # type: ignore[operator]
    assert shapes == [True, True, False, True, False, True, False, True, False, False]


def test_odd_field() -> None:
    frames = stream("chat", "odd-field")

    assert [inner(frame.data, "choices", 0, "logprobs") for frame in frames] == [
        None,
        "off",
        "off",
        "off",
        None,
        None,
    ]
    assert inner(body("chat", "odd-field"), "choices", 0, "logprobs") == "off"


def test_unknown_event() -> None:
    frames = stream("chat", "unknown-event")
    kinds = [inner(frame.data, "object") for frame in frames]

    assert kinds == [
        "chat.completion.chunk",
        "chat.completion.notice",
        "chat.completion.chunk",
        "chat.completion.notice",
        "chat.completion.chunk",
        "chat.completion.chunk",
        "chat.completion.chunk",
        None,
    ]
    assert data(frames[1])["choices"] == []


def test_quirks_are_applied_in_the_order_written() -> None:
    assert deltas(stream("chat", "args-in-head", {"index": "growing"})) == [
        [{**HEAD, "function": {"name": "get_order", "arguments": '{"order":'}}],
        [{**SECOND, "index": 1}],
    ]
    assert deltas(stream("chat", {"index": "growing"}, "args-in-head")) == [
        [{**HEAD, "function": {"name": "get_order", "arguments": '{"order":'}}],
        [{**SECOND, "index": 2}],
    ]
