from __future__ import annotations

from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_answers import (
    MAIL,
    SEAT,
    answer,
    body,
    call,
    cut,
    rendered,
    two_calls,
    undisturbed,
)

from loopcheck.fake_providers.faults import FaultError, Rendered
from loopcheck.fake_providers.script import (
    DIALECTS,
    Delivery,
    DialectName,
    Fault,
    Place,
    Say,
)
from loopcheck.fake_providers.wire import Piece

every_dialect = pytest.mark.parametrize("speaks", DIALECTS)


def test_the_place_before_the_first_event() -> None:
    response = cut(Place(edge="start"))
    assert (response.segments, response.ends) == ((), "unmarked")
    assert response.sent == {"book": "none", "mail": "none"}


@every_dialect
def test_the_place_before_the_nth_frame(speaks: DialectName) -> None:
    whole = undisturbed(two_calls(speaks))
    for number in range(1, len(whole) + 1):
        response = cut(Place(frame=number), to=two_calls(speaks))
        assert list(response.frame_texts) == whole[: number - 1]


@every_dialect
def test_the_place_before_the_stop_reason(speaks: DialectName) -> None:
    response = rendered(Fault(kind="eof"), to=two_calls(speaks))
    assert (
        response.frame_texts == tuple(undisturbed(two_calls(speaks)))[: len(response.frame_texts)]
    )
    assert response.sent == {"book": "whole", "mail": "whole"}
    assert response.ends == "unmarked"
    for sign in ('"stop_reason":"tool_use"', '"finish_reason":"tool_calls"', "response.completed"):
        assert sign not in body(response).decode()


@pytest.mark.parametrize(
    ("speaks", "ends"), [("messages", "unmarked"), ("responses", "unmarked"), ("chat", "well")]
)
def test_only_a_bare_word_may_be_missing_from_an_answer_that_ends_well(
    speaks: DialectName, ends: str
) -> None:
    response = cut(Place(frame="terminal"), to=two_calls(speaks))
    assert list(response.frame_texts) == undisturbed(two_calls(speaks))[:-1]
    assert response.ends == ends
    broken = cut(Place(frame="terminal"), "reset", to=two_calls(speaks))
    assert broken.ends == "failed"


@every_dialect
@given(st.data())
def test_a_place_inside_a_frame_counts_the_bytes_of_its_data(
    speaks: DialectName, data: st.DataObject
) -> None:
    whole = undisturbed(two_calls(speaks))
    number = data.draw(st.integers(1, len(whole)))
    line = next(line for line in whole[number - 1].splitlines() if line.startswith("data: "))
    payload = line.removeprefix("data: ").encode()
    size = data.draw(st.integers(0, len(payload)))
    response = cut(Place(frame=number, size=size), to=two_calls(speaks))
    before = "".join(whole[: number - 1]).encode()
    head = whole[number - 1].split("data: ")[0].encode() + b"data: "
    assert body(response) == before + head + payload[:size]
    assert len(response.frame_texts) == number
    with pytest.raises(FaultError, match="the data of the frame is shorter than"):
        cut(Place(frame=number, size=len(payload) + 1), to=two_calls(speaks))


def sent_arguments(response: Rendered, label: str) -> str:
    return "".join(f.text for f in response.body_frames if f.label == label)


@every_dialect
@pytest.mark.parametrize("fragments", ["whole", "char", 9])
def test_a_place_behind_a_text_in_the_arguments(speaks: DialectName, fragments: int) -> None:
    fault = Fault(kind="reset", at=Place(inside="book", after='"seat":1'))
    response = rendered(fault, to=two_calls(speaks), how=Delivery(fragments=fragments))
    assert sent_arguments(response, "book") == '{"event":"E1","seat":1'
    assert response.sent == {"book": "cut", "mail": "none"}
    assert (response.ending, response.ends) == ("reset", "failed")


@every_dialect
def test_a_place_in_bytes_of_the_arguments_is_never_inside_a_character(
    speaks: DialectName,
) -> None:
    for size, expected in [(0, ""), (9, '{"to":"zo'), (10, '{"to":"zo'), (11, '{"to":"zoë')]:
        response = cut(Place(inside="mail", size=size), to=two_calls(speaks))
        assert sent_arguments(response, "mail") == expected
        assert response.sent == {"book": "whole", "mail": "cut"}


@every_dialect
def test_a_place_at_the_end_of_the_arguments_sends_them_whole(speaks: DialectName) -> None:
    response = cut(Place(inside="book", after=SEAT), to=two_calls(speaks))
    assert response.sent == {"book": "whole", "mail": "none"}
    assert not any(
        frame.part == "close" and frame.label == "book" for frame in response.body_frames
    )


@every_dialect
def test_a_place_inside_interleaved_arguments_sends_nothing_behind_it(
    speaks: DialectName,
) -> None:
    how = Delivery(fragments=4, interleave=True)
    fault = Fault(kind="eof", at=Place(inside="book", after="E1"))
    response = rendered(fault, to=two_calls(speaks), how=how)
    everything = rendered(to=two_calls(speaks), how=how)
    assert sent_arguments(response, "book") == '{"event":"E1'
    assert MAIL.startswith(sent_arguments(response, "mail"))
    assert response.sent == {"book": "cut", "mail": "cut"}
    assert len(response.frame_texts) < len(everything.frame_texts)


@every_dialect
def test_a_place_inside_what_is_said(speaks: DialectName) -> None:
    content: list[Piece] = [Say("One."), call("book", SEAT), Say("Two words.")]
    to = answer(content, speaks=speaks)
    response = cut(Place(inside="say", after="Two"), to=to)
    said = "".join(f.text for f in response.body_frames if f.label != "book")
    assert said == "One.Two"
    assert response.sent == {"book": "whole"}


@every_dialect
def test_places_around_a_call(speaks: DialectName) -> None:
    to = two_calls(speaks)
    before = cut(Place(before="mail"), to=to)
    behind = cut(Place(behind="book"), to=to)
    assert before.frame_texts == behind.frame_texts
    assert before.sent == {"book": "whole", "mail": "none"}
    assert {f.label for f in before.body_frames} >= {"book"}
    assert len(cut(Place(behind="mail"), to=to).frame_texts) > len(before.frame_texts)
    assert cut(Place(before="book"), to=to).sent == {"book": "none", "mail": "none"}


@given(st.data())
def test_a_place_in_bytes_of_the_body(data: st.DataObject) -> None:
    whole = body(rendered())
    size = data.draw(st.integers(0, len(whole) - 1))
    response = cut(Place(size=size))
    assert body(response) == whole[:size]
    ends = list(accumulate(len(text.encode()) for text in undisturbed()))
    assert len(response.body_frames) == sum(end <= size for end in ends)


@every_dialect
@pytest.mark.parametrize(
    ("at", "message"),
    [
        (Place(frame=0), "there is no {frame: 0} in"),
        (Place(frame=99), "there is no {frame: 99} in"),
        (Place(frame=99, size=3), "there is no {frame: 99, bytes: 3} in"),
        (Place(inside="book", after="row"), "{in: book, after: 'row'} does not stand in"),
        (Place(inside="book", size=999), "{in: book, bytes: 999} does not stand in"),
        (Place(inside="book"), "{in: book, bytes: None} does not stand in"),
        (Place(inside="nobody", size=1), "there is no 'nobody' in this answer"),
        (Place(before="nobody"), "no frame of 'nobody' was rendered for {before: nobody}"),
        (Place(behind="nobody"), "no frame of 'nobody' was rendered for {after: nobody}"),
        (Place(size=99999), "there is no {bytes: 99999} in a body of"),
    ],
)
def test_a_place_that_does_not_exist_is_named(speaks: DialectName, at: Place, message: str) -> None:
    with pytest.raises(FaultError) as caught:
        cut(at, "reset", to=two_calls(speaks))
    assert str(caught.value).startswith("the fault reset cannot strike: ")
    assert message in str(caught.value)
