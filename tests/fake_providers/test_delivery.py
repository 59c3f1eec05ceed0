from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_answers import MAIL, SEAT, argument_texts, call, contents, deliveries

from loopcheck.fake_providers import delivery
from loopcheck.fake_providers.script import Delivery, Fragments, Say
from loopcheck.fake_providers.wire import Close, Fragment, Open, Piece, Step

ANYTHING = argument_texts() | st.text(max_size=30)


def texts(steps: Sequence[Step], index: int) -> list[str]:
    return [step.text for step in steps if isinstance(step, Fragment) and step.index == index]


def shape(steps: Sequence[Step], names: str) -> str:
    """Each step as a letter: the call's name, upper case where it opens or closes."""
    letters = []
    for step in steps:
        name = names[step.index]
        letters.append(name if isinstance(step, Fragment) else name.upper())
    return "".join(letters)


def pieces_of(text: str, fragments: Fragments) -> list[str]:
    return texts(delivery.steps([call("a", text)], Delivery(fragments=fragments), seed=1), 0)


@given(contents(arguments=ANYTHING), deliveries(), st.integers(0, 99))
def test_fragments_join_to_the_piece_between_one_open_and_one_close(
    content: list[Piece], how: Delivery, seed: int
) -> None:
    steps = delivery.steps(content, how, seed=seed)
    for index, piece in enumerate(content):
        own = [step for step in steps if step.index == index]
        assert own[0] == Open(index)
        assert own[-1] == Close(index)
        assert all(isinstance(step, Fragment) and step.text for step in own[1:-1])
        assert "".join(texts(steps, index)) == delivery.wire_text(piece)


@given(contents(arguments=ANYTHING), deliveries(), st.integers(0, 99))
def test_same_seed_same_steps(content: list[Piece], how: Delivery, seed: int) -> None:
    assert delivery.steps(content, how, seed=seed) == delivery.steps(content, how, seed=seed)


@given(contents(arguments=ANYTHING), deliveries())
def test_pieces_are_contiguous_unless_neighbouring_calls_interleave(
    content: list[Piece], how: Delivery
) -> None:
    order = [index for index, _ in groupby(s.index for s in delivery.steps(content, how, seed=1))]
    if how.interleave is False:
        assert order == list(range(len(content)))
    for index, piece in enumerate(content):
        if isinstance(piece, Say):
            assert order.count(index) == 1
            assert set(order[: order.index(index)]) == set(range(index))


@given(contents(arguments=ANYTHING), st.data())
def test_cuts_are_fragment_boundaries_and_change_nothing_else(
    content: list[Piece], data: st.DataObject
) -> None:
    how = data.draw(deliveries())
    cuts = {
        index: data.draw(st.sets(st.integers(0, len(delivery.wire_text(piece))), max_size=3))
        for index, piece in enumerate(content)
    }
    steps = delivery.steps(content, how, seed=1, cuts=cuts)
    for index, piece in enumerate(content):
        fragments = texts(steps, index)
        bounds = [len("".join(fragments[:n])) for n in range(len(fragments) + 1)]
        assert cuts[index] <= set(bounds)
        assert "".join(fragments) == delivery.wire_text(piece)


def test_fragment_sizes() -> None:
    assert pieces_of("abcdefg", "whole") == ["abcdefg"]
    assert pieces_of("abc", "char") == ["a", "b", "c"]
    assert pieces_of("abcdefg", 3) == ["abc", "def", "g"]
    assert all(1 <= len(piece) <= 12 for piece in pieces_of(MAIL * 9, "seeded"))
    assert len(set(map(len, pieces_of(MAIL * 9, "seeded")))) > 5


def test_empty_arguments_have_no_fragment() -> None:
    assert pieces_of("", "char") == []
    assert pieces_of("", "whole") == []


def test_escapes_are_cut_inside() -> None:
    assert pieces_of(r'{"a":"\n\\é\u00e9\""}', "escapes") == [
        '{"a":"' + "\\",
        "n\\",
        "\\é\\",
        "u00",
        "e9\\",
        '""}',
    ]


@given(argument_texts())
def test_every_escape_is_cut(text: str) -> None:
    fragments = pieces_of(text, "escapes")
    escapes = re.findall(r"\\(?:u....|.)", text)
    units = sum(2 if len(escape) > 2 else 1 for escape in escapes)
    assert len(fragments) == units + 1


def test_listed_pieces_win_over_the_fragments() -> None:
    how = Delivery(fragments="char", pieces=(("a", ("{", '"x"', ":1}")), ("other", ("?",))))
    steps = delivery.steps([call("a", '{"x":1}'), call("b", "{}")], how, seed=1)
    assert texts(steps, 0) == ["{", '"x"', ":1}"]
    assert texts(steps, 1) == ["{", "}"]


def test_listed_pieces_must_join_to_the_arguments() -> None:
    how = Delivery(pieces=(("a", ("{", ":1}")),))
    with pytest.raises(ValueError, match=r"pieces of 'a' join to '\{:1\}'"):
        delivery.steps([call("a", '{"x":1}')], how, seed=1)


@pytest.mark.parametrize("size", [0, -1])
def test_fragments_have_at_least_one_character(size: int) -> None:
    with pytest.raises(ValueError, match=f"fragments of {size} characters"):
        pieces_of("abc", size)


def woven(how: Delivery, content: Sequence[Piece], names: str) -> str:
    return shape(delivery.steps(content, how, seed=1), names)


def test_calls_take_turns_event_by_event() -> None:
    content: list[Piece] = [Say("hi"), call("a", "123"), call("b", "1"), Say("ho"), call("c", "12")]
    how = Delivery(fragments="char", interleave=True)
    assert woven(how, content, "sabtc") == "SssS" + "ABabaBaA" + "TttT" + "CccC"


def test_named_calls_send_their_next_step_and_the_rest_follows() -> None:
    content = [call("a", "123"), call("b", "12")]
    how = Delivery(fragments="char", interleave=("b", "b", "a", "nobody", "b"))
    assert woven(how, content, "ab") == "BbAb" + "aaaA" + "B"


def test_seeded_interleaving_mixes_the_calls_and_opens_them_in_order() -> None:
    content = [call("a", SEAT), call("b", SEAT), call("c", SEAT)]
    shapes = set()
    for seed in range(20):
        steps = delivery.steps(content, Delivery(fragments=2, interleave="seeded"), seed=seed)
        assert [step.index for step in steps if isinstance(step, Open)] == [0, 1, 2]
        assert len(list(groupby(step.index for step in steps))) > 6
        shapes.add(shape(steps, "abc"))
    assert len(shapes) == 20
