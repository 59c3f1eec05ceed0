"""What holds for all quirks, whatever they do."""

from __future__ import annotations

import json
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from quirky_streams import NOTHING, ORDER, TWO, quirks, rendered
from sample_answers import PLAIN, answer, call, deliveries, two_calls

from loopcheck.fake_providers import faults
from loopcheck.fake_providers.dialects import dialect
from loopcheck.fake_providers.quirks import QUIRKS, apply, apply_whole, wrong_value
from loopcheck.fake_providers.script import (
    DIALECTS,
    MODES,
    Attempt,
    Delivery,
    DialectName,
    Fault,
    Mode,
    Place,
    Quirk,
)

VALUES: dict[str, list[object]] = {
    "index": ["absent", None, 0, 5, {"from": 2}, [1, 0], "growing", "mixed"],
    "continuation": [{"id": ""}, {"id": "same", "name": "same", "type": "same"}, {"name": None}],
    "late-id": [2, 3],
    "batch-deltas": [2, 3, [1, 2]],
    "split-name": [2, 4, ["reserve", "_seat"]],
    "drop": ["args-delta", ["args-delta", "args-done"], ["item-added", "final-output"]],
    "item-id": [None, "absent", "call-id"],
    "repeat-item": [True, "empty"],
    "item-status": ["completed"],
    "arguments": ["object", None, "absent", "empty"],
    "finish": ["stop", "eos", None, "none"],
    "filter-frames": ["first", ["first", "between", "after"]],
}
WRONG: dict[str, list[object]] = {
    "index": [True, "abs", -1, [], {"at": 1}, 1.5],
    "continuation": [True, {}, {"arguments": ""}, "id"],
    "late-id": [True, 1, "2"],
    "batch-deltas": [True, 1, [], [0], ["a"]],
    "split-name": [True, 1, ["get_order"], ["a", ""]],
    "drop": [
        True,
        "args",
        [],
        ["args-delta", "args-done", "item-done", "final-output"],
        ["item-added", "item-done", "final-output"],
    ],
    "item-id": [True, "none", 1],
    "repeat-item": [False, "all", None],
    "item-status": [True, "", None],
    "arguments": [True, "null", "list", 1],
    "finish": [True, "", 1],
    "filter-frames": [True, "last", [], ["first", "last"]],
}


def values(name: str) -> list[object]:
    return VALUES.get(name, [True])


def cases(mode: Mode) -> list[tuple[DialectName, Quirk]]:
    every = [Quirk(name, value) for name in QUIRKS for value in values(name)]
    return [
        (speaks, quirk)
        for speaks, quirk in product(DIALECTS, every)
        if QUIRKS[quirk.name].strikes(speaks, mode, quirk.value)
    ]


def test_the_registry_has_every_quirk_of_the_format() -> None:
    assert sorted(QUIRKS) == [
        "args-in-head",
        "arguments",
        "bare-ping",
        "bare-terminal",
        "batch-deltas",
        "continuation",
        "drop",
        "filter-frames",
        "finish",
        "finish-on-last-delta",
        "id-in-function",
        "index",
        "item-id",
        "item-status",
        "late-id",
        "odd-field",
        "repeat-args",
        "repeat-item",
        "split-name",
        "unknown-block",
        "unknown-event",
        "usage-frame",
    ]


@pytest.mark.parametrize("name", QUIRKS)
def test_every_entry_says_what_it_is(name: str) -> None:
    entry = QUIRKS[name]

    assert entry.name == name
    assert entry.sentence.endswith(".")
    assert entry.grounds
    assert entry.frames
    assert all(entry.accepts(value) for value in values(name))
    assert [v for v in WRONG.get(name, ["x", None, 1, False]) if entry.accepts(v)] == []


def test_a_wrong_value_is_named_with_what_would_be_right() -> None:
    assert wrong_value(Quirk("late-id", 3)) is None
    assert wrong_value(Quirk("late-id", 1)) == "the quirk 'late-id' takes a number from 2; not 1"
    assert wrong_value(Quirk("late-id")) == (
        "the quirk 'late-id' takes a number from 2; not no value"
    )


@pytest.mark.parametrize(("speaks", "quirk"), cases("stream"))
def test_every_quirk_changes_a_stream(speaks: DialectName, quirk: Quirk) -> None:
    content = NOTHING if quirk.name == "arguments" and quirk.value != "object" else TWO
    if isinstance(quirk.value, list) and quirk.name == "split-name":
        content = [call("book", ORDER, tool="reserve_seat")]
    plain = rendered(speaks, content=content)
    odd = rendered(speaks, {quirk.name: quirk.value}, content=content)

    # The service itself answers so, where nothing is to be left out.
    same = quirk.name == "finish" and quirk.value == "stop" and speaks == "messages"
    repeats = quirk in (Quirk("index", [1, 0]), Quirk("item-status", "completed"))
    assert (odd.segments != plain.segments) or same or repeats
    assert (plain.odd, odd.odd) == (False, True)


@pytest.mark.parametrize(("speaks", "quirk"), cases("whole"))
def test_every_quirk_of_whole_responses_changes_one(speaks: DialectName, quirk: Quirk) -> None:
    content = NOTHING if quirk.name == "arguments" and quirk.value != "object" else TWO
    plain = rendered(speaks, content=content, mode="whole")
    odd = rendered(speaks, {quirk.name: quirk.value}, content=content, mode="whole")

    assert odd.segments != plain.segments or quirk.name == "item-status"
    assert (plain.odd, odd.odd) == (False, True)
    assert (odd.ends == "unmarked") == (quirk.name == "finish" and quirk.value in (None, "none"))


@st.composite
def chosen(draw: st.DrawFn, speaks: DialectName) -> tuple[Quirk, ...]:
    mine = [quirk for name, quirk in cases("stream") if name == speaks]
    return tuple(draw(st.lists(st.sampled_from(mine), min_size=1, max_size=4)))


@pytest.mark.parametrize("speaks", DIALECTS)
@settings(max_examples=60)
@given(data=st.data())
def test_no_quirk_loses_or_doubles_the_text_of_arguments(
    speaks: DialectName, data: st.DataObject
) -> None:
    """Not in what the events say that they carry; two things may hide whose text it is."""
    to = two_calls(speaks)
    written = data.draw(chosen(speaks))
    how = data.draw(deliveries())
    attempt = Attempt(stop=to.stop, delivery=how, quirks=written)
    response = faults.render(dialect(speaks), to, attempt, "stream", seed=3)
    names = {quirk.name for quirk in written}

    assert set(response.sent.values()) == {"whole"}
    for piece in to.calls:
        text = "".join(f.text for f in response.body_frames if f.label == piece.label)
        assert text == piece.arguments or (names & {"batch-deltas", "drop"} and len(text) < 90)
        assert len(text) <= len(piece.arguments)


@pytest.mark.parametrize(("speaks", "mode"), list(product(DIALECTS, MODES)))
def test_quirks_leave_what_they_are_given_as_it_is(speaks: DialectName, mode: Mode) -> None:
    to = two_calls(speaks)
    mine = [quirk for name, quirk in cases(mode) if name == speaks]
    if mode == "whole":
        body = dialect(speaks).whole(to)
        before = json.dumps(body)
        apply_whole(body, to, mine)
        assert json.dumps(body) == before
    else:
        frames = rendered(speaks, to=to).body_frames
        before = repr(frames)
        apply(frames, to, mine)
        assert repr(frames) == before


def test_a_quirk_of_another_dialect_does_nothing() -> None:
    plain = rendered("messages")

    assert rendered("messages", {"index": "absent"}).segments == plain.segments


def test_a_fault_strikes_the_changed_stream() -> None:
    to = answer(TWO, speaks="chat")
    fault = Fault(kind="reset", at=Place(inside="order", after='"A-1'))
    attempt = Attempt(
        stop="calls",
        delivery=PLAIN,
        fault=fault,
        quirks=quirks("args-in-head", {"index": "absent"}),
    )
    response = faults.render(dialect("chat"), to, attempt, "stream", seed=1)

    assert response.sent == {"order": "cut", "mail": "none"}
    assert [f.text for f in response.body_frames] == ["", '{"order":', '"A-1']
    assert '"index":0,"id"' not in "".join(response.frame_texts)


@pytest.mark.parametrize(
    ("speaks", "how", "odd"),
    [
        ("messages", Delivery(interleave=True), True),
        ("chat", Delivery(interleave=True), False),
        ("responses", Delivery(interleave="seeded"), False),
        ("responses", Delivery(bom=True), True),
        ("messages", Delivery(pings=1, comments=2, newline="crlf"), False),
    ],
)
def test_what_else_is_odd(speaks: DialectName, how: Delivery, odd: bool) -> None:
    assert rendered(speaks, content=TWO, how=how).odd is odd
