from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_answers import (
    PLAIN,
    answer,
    body,
    contents,
    cut,
    deliveries,
    objects,
    rendered,
    two_calls,
    undisturbed,
)

from loopcheck.fake_providers import faults
from loopcheck.fake_providers.dialects import dialect
from loopcheck.fake_providers.faults import FaultError
from loopcheck.fake_providers.script import (
    DIALECTS,
    Attempt,
    Delivery,
    DialectName,
    ErrorForm,
    ErrorName,
    Fault,
    FaultKind,
    Mode,
    Place,
    Stop,
)
from loopcheck.fake_providers.wire import Frame

STRIKING: tuple[FaultKind, ...] = ("eof", "half-chunk", "reset", "stall")
every_dialect = pytest.mark.parametrize("speaks", DIALECTS)


# An answer without a fault


@every_dialect
@given(st.data())
def test_frame_texts_are_the_body_of_a_stream(speaks: DialectName, data: st.DataObject) -> None:
    content = data.draw(contents(arguments=objects.map(json.dumps)))
    how, seed = data.draw(deliveries()), data.draw(st.integers(0, 99))
    response = rendered(to=answer(content, speaks=speaks), how=how, seed=seed)
    assert "".join(response.frame_texts).encode() == body(response)
    assert len(response.frame_texts) == len(response.body_frames)
    assert response.streamed
    assert set(response.sent.values()) <= {"whole"}


@every_dialect
@pytest.mark.parametrize("mode", ["whole", "stream"])
def test_an_undisturbed_answer(speaks: DialectName, mode: Mode) -> None:
    response = rendered(to=two_calls(speaks), mode=mode)
    assert (response.status, response.ending, response.ends) == (200, "complete", "well")
    assert response.sent == {"book": "whole", "mail": "whole"}
    assert response.streamed == (mode == "stream")
    kinds = {"whole": "application/json", "stream": "text/event-stream; charset=utf-8"}
    assert dict(response.headers)["content-type"] == kinds[mode]
    if mode == "whole":
        assert json.loads(body(response))["model"] == two_calls(speaks).model
        assert response.frame_texts == (body(response).decode(),)


@every_dialect
@pytest.mark.parametrize("mode", ["whole", "stream"])
@pytest.mark.parametrize(
    ("stop", "ends"),
    [
        ("end", "well"),
        ("calls", "well"),
        ("pause", "well"),
        ("length", "marked"),
        ("filter", "marked"),
        ("refusal", "marked"),
        ("context", "marked"),
    ],
)
def test_the_stop_says_how_a_complete_answer_ends(
    speaks: DialectName, mode: Mode, stop: Stop, ends: str
) -> None:
    assert rendered(to=replace(two_calls(speaks), stop=stop), mode=mode).ends == ends


def test_segments_and_keep_alive_are_the_delivery_s() -> None:
    how = Delivery(segments=50, keep_alive=False)
    for mode in ("whole", "stream"):
        response = rendered(mode=mode, how=how)
        assert {len(write) for write in response.segments[:-1]} == {50}
        assert not response.keep_alive


def test_pings_only_where_the_dialect_has_them() -> None:
    for speaks in DIALECTS:
        text = body(rendered(to=two_calls(speaks), how=Delivery(pings=1))).decode()
        assert (text.count("event: ping") > 5) == (speaks == "messages")


# Instead of the response


@every_dialect
@pytest.mark.parametrize("mode", ["whole", "stream"])
def test_an_http_error_in_the_dialect_s_words(speaks: DialectName, mode: Mode) -> None:
    to = two_calls(speaks)
    fault = Fault(kind="http", error="rate_limit", retry_after_ms=1500)
    response = rendered(fault, to=to, mode=mode)
    headers = dict(response.headers)
    expected = dialect(speaks).named_error("rate_limit", to.reading)
    assert (response.status, response.ends, response.streamed) == (429, "failed", False)
    assert headers["content-type"] == "application/json"
    assert (headers["retry-after-ms"], headers["retry-after"]) == ("1500", "2")
    assert json.loads(body(response))["error"]["message"] == expected.message
    assert response.sent == {"book": "none", "mail": "none"}


@pytest.mark.parametrize(("milliseconds", "announced"), [(None, {}), (0, {"retry-after-ms": "0"})])
def test_a_delay_below_a_second_is_announced_in_milliseconds_alone(
    milliseconds: int | None, announced: dict[str, str]
) -> None:
    response = rendered(Fault(kind="http", retry_after_ms=milliseconds))
    headers = {n: v for n, v in response.headers if n.startswith("retry-after")}
    assert headers == announced


def test_a_delay_may_be_announced_as_a_date() -> None:
    fault = Fault(kind="http", retry_after_ms=1500, retry_after_date=True)
    to = two_calls()
    response = faults.render(
        dialect("messages"), to, Attempt(fault=fault), "whole", seed=1, now=lambda: 1_780_000_000.2
    )
    announced = [(n, v) for n, v in response.headers if n.startswith("retry-after")]
    assert announced == [("retry-after", "Thu, 28 May 2026 20:26:42 GMT")]


def test_a_status_picks_the_words_that_go_with_it() -> None:
    response = rendered(Fault(kind="http", status=529))
    assert response.status == 529
    assert json.loads(body(response))["error"] == {
        "type": "overloaded_error",
        "message": "Overloaded",
    }


def test_a_status_that_no_error_has_keeps_the_named_words() -> None:
    response = rendered(Fault(kind="http", status=418, error="conflict"))
    assert response.status == 418
    assert json.loads(body(response))["error"]["type"] == "conflict_error"


def test_headers_and_body_of_an_http_error_may_be_given() -> None:
    fault = Fault(
        kind="http",
        status=502,
        headers=(("Content-Type", "text/html"), ("x-should-retry", "true")),
        body="<h1>Bad gateway</h1>",
    )
    response = rendered(fault)
    assert body(response) == b"<h1>Bad gateway</h1>"
    named = [value for name, value in response.headers if name.lower() == "content-type"]
    assert named == ["text/html"]
    assert ("x-should-retry", "true") in response.headers


@pytest.mark.parametrize("mode", ["whole", "stream"])
def test_a_connection_that_is_closed_at_once(mode: Mode) -> None:
    response = rendered(Fault(kind="close"), mode=mode)
    assert (response.status, response.headers, response.segments) == (0, (), ())
    assert (response.ending, response.ends) == ("close", "failed")
    assert response.sent == {"book": "none", "mail": "none"}


@pytest.mark.parametrize("mode", ["whole", "stream"])
@pytest.mark.parametrize(
    ("then", "ending", "ends"),
    [("eof", "complete", "unmarked"), ("reset", "reset", "failed"), ("stall", "stall", "failed")],
)
def test_headers_and_nothing_more(mode: Mode, then: str, ending: str, ends: str) -> None:
    faults = {kind: Fault(kind="headers-only", then=kind) for kind in ("eof", "reset", "stall")}
    response = rendered(faults[then], mode=mode)
    assert (response.status, response.segments) == (200, ())
    assert (response.ending, response.ends) == (ending, ends)
    assert response.streamed
    assert response.headers == rendered(mode=mode).headers


def test_an_empty_answer() -> None:
    response = rendered(Fault(kind="empty"))
    assert (response.segments, response.ending, response.ends) == ((), "complete", "unmarked")


@every_dialect
def test_an_empty_answer_with_its_terminal_event(speaks: DialectName) -> None:
    response = rendered(Fault(kind="empty", terminal=True), to=two_calls(speaks))
    (frame,) = response.body_frames
    # Only on responses is that event a whole response, if an empty one.
    said = {"chat": "[DONE]", "messages": {"type": "message_stop"}}
    if speaks == "responses":
        assert isinstance(frame.data, dict)
        assert isinstance(frame.data["response"], dict)
        assert (frame.event, frame.data["response"]["output"]) == ("response.completed", [])
    else:
        assert frame.data == said[speaks]
    assert response.ends == ("well" if speaks == "responses" else "unmarked")
    assert response.sent == {"book": "none", "mail": "none"}
    whole = rendered(Fault(kind="empty", terminal=True), to=two_calls(speaks), mode="whole")
    assert (whole.segments, whole.ends) == ((), "unmarked")


@every_dialect
def test_an_error_object_as_the_body_of_a_success(speaks: DialectName) -> None:
    response = rendered(Fault(kind="error-body", error="server"), to=two_calls(speaks))
    assert (response.status, response.streamed, response.ends) == (200, False, "failed")
    assert dict(response.headers)["content-type"] == "application/json"
    assert json.loads(body(response))["error"]["message"]


# A stream that is cut


@every_dialect
@pytest.mark.parametrize("kind", ["half-chunk", "reset", "stall"])
@pytest.mark.parametrize(("stop", "ends"), [("calls", "well"), ("length", "marked")])
def test_a_fault_behind_the_terminal_event_leaves_the_answer_what_it_was(
    speaks: DialectName, kind: FaultKind, stop: Stop, ends: str
) -> None:
    to = replace(two_calls(speaks), stop=stop)
    response = cut(Place(edge="end"), kind, to=to)
    assert list(response.frame_texts) == undisturbed(to)
    assert (response.ending, response.ends) == (kind, ends)


@every_dialect
@pytest.mark.parametrize(
    ("kind", "ending", "ends"),
    [
        ("eof", "complete", "unmarked"),
        ("half-chunk", "half-chunk", "failed"),
        ("reset", "reset", "failed"),
        ("stall", "stall", "failed"),
        ("error-event", "complete", "failed"),
    ],
)
def test_how_a_cut_stream_ends(
    speaks: DialectName, kind: FaultKind, ending: str, ends: str
) -> None:
    response = cut(Place(inside="book", after="seat"), kind, to=two_calls(speaks))
    assert (response.status, response.streamed) == (200, True)
    assert (response.ending, response.ends) == (ending, ends)


# The error event


@every_dialect
def test_an_error_event_follows_what_was_sent(speaks: DialectName) -> None:
    to = two_calls(speaks)
    fault = Fault(kind="error-event", error="overloaded", at=Place(behind="book"))
    response = rendered(fault, to=to)
    before = cut(Place(behind="book"), to=to)
    error = dialect(speaks).named_error("overloaded", to.reading)
    events = dialect(speaks).error_frames(error, len(before.body_frames), answer=to)
    assert response.body_frames == (*before.body_frames, *events)
    assert response.frame_texts[: len(before.frame_texts)] == before.frame_texts
    assert error.message in response.frame_texts[len(before.frame_texts)]


def test_an_error_event_inside_a_frame_begins_on_a_new_line() -> None:
    fault = Fault(kind="error-event", error="overloaded", at=Place(frame=1, size=9))
    for newline, end in (("lf", "\n"), ("crlf", "\r\n")):
        how = replace(PLAIN, newline="crlf") if newline == "crlf" else PLAIN
        assert body(rendered(fault, how=how)).decode().split(end) == [
            "event: message_start",
            'data: {"type":"',
            "event: error",
            'data: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
            "",
            "",
        ]


def events(speaks: DialectName, form: ErrorForm) -> list[Frame]:
    """The frames of an error in this form behind the first two of the response."""
    fault = Fault(kind="error-event", error="server", at=Place(frame=3), form=form)
    response = rendered(fault, to=two_calls(speaks))
    assert response.ends == "failed"
    return list(response.body_frames[2:])


def test_the_forms_of_an_error_on_chat() -> None:
    to = two_calls("chat")
    (own,) = events("chat", "error")
    (beside,) = events("chat", "with-choices")
    (finish,) = events("chat", "finish")
    assert isinstance(own.data, dict)
    envelope = {
        "id": to.response_id,
        "object": "chat.completion.chunk",
        "created": to.created,
        "model": to.model,
    }
    last = {"index": 0, "delta": {}, "finish_reason": "error"}
    assert set(own.data) == {"error"}
    assert beside.data == {**envelope, "choices": [], **own.data}
    assert finish.data == {**envelope, "choices": [last], **own.data}


def test_the_forms_of_an_error_on_responses() -> None:
    for form, kind in (("error", "error"), ("failed", "response.failed")):
        (event,) = events("responses", "error" if form == "error" else "failed")
        assert isinstance(event.data, dict)
        assert (event.event, event.data["sequence_number"]) == (kind, 2)
    own = rendered(Fault(kind="error-event", at=Place(frame=3)), to=two_calls("responses"))
    assert [f.event for f in own.body_frames[2:]] == ["error", "response.failed"]


def test_messages_has_one_form_of_an_error() -> None:
    fault = Fault(kind="error-event", at=Place(frame=3))
    assert events("messages", "error") == list(rendered(fault).body_frames[2:])


def test_pauses_stand_before_the_write_at_their_place() -> None:
    inside = Place(inside="book", after='"seat":1')
    spots = ((Place(edge="start"), 5), (inside, 7), (Place(frame="finish"), 9))
    for segments in ("frame", "all", "byte"):
        how = Delivery(fragments=9, segments=segments, pauses=spots)
        response = rendered(how=how)
        plain = rendered(how=replace(how, pauses=spots[1:2]))
        before = {ms: b"".join(response.segments[:n]) for n, ms in response.pauses.items()}
        assert list(before) == [5, 7, 9]
        assert before[5] == b""
        assert before[7].endswith(b'"partial_json":"t\\":1"}}\n\n')
        assert body(response)[len(before[9]) :].startswith(b"event: message_delta")
        assert body(plain) == body(response)


def test_pauses_whose_place_is_not_sent_are_left_out() -> None:
    spots = ((Place(inside="nobody", after="x"), 5), (Place(frame="finish"), 9))
    fault = Fault(kind="reset", at=Place(behind="book"))
    assert rendered(fault, how=Delivery(pauses=spots)).pauses == {}
    assert list(rendered(how=Delivery(pauses=spots)).pauses.values()) == [9]


def test_no_comment_or_ping_follows_an_error_event() -> None:
    how = Delivery(comments=1, pings=1)
    response = rendered(Fault(kind="error-event", at=Place(frame=2)), how=how)
    assert response.frame_texts[-1].startswith("event: error\n")
    assert ": keep-alive" not in response.frame_texts[-1]
    assert "ping" not in response.frame_texts[-1]


# Whole responses


@every_dialect
@pytest.mark.parametrize("kind", STRIKING)
@given(data=st.data())
def test_a_whole_body_is_cut_after_so_many_bytes(
    speaks: DialectName, kind: FaultKind, data: st.DataObject
) -> None:
    to = two_calls(speaks)
    whole = body(rendered(to=to, mode="whole"))
    size = data.draw(st.integers(0, len(whole) - 1))
    response = rendered(Fault(kind=kind, at=Place(size=size)), to=to, mode="whole")
    assert body(response) == whole[:size]
    assert response.streamed
    assert response.ending == ("complete" if kind == "eof" else kind)
    assert response.ends == ("unmarked" if kind == "eof" else "failed")
    assert set(response.sent.values()) == {"cut" if size else "none"}
    assert response.headers == rendered(to=to, mode="whole").headers


@pytest.mark.parametrize(
    "at", [Place(frame="finish"), Place(inside="book", size=3), Place(before="mail")]
)
def test_a_place_in_a_stream_cuts_a_whole_body_at_two_thirds(at: Place) -> None:
    whole = body(rendered(mode="whole"))
    response = rendered(Fault(kind="reset", at=at), mode="whole")
    assert body(response) == whole[: len(whole) * 2 // 3]


def test_the_edges_of_a_whole_body() -> None:
    whole = body(rendered(mode="whole"))
    start = rendered(Fault(kind="stall", at=Place(edge="start")), mode="whole")
    end = rendered(Fault(kind="reset", at=Place(edge="end")), mode="whole")
    assert (body(start), start.sent["book"]) == (b"", "none")
    assert (body(end), end.sent["book"], end.ends) == (whole, "whole", "failed")


# Faults that cannot strike


def test_a_proper_end_behind_everything_is_no_fault() -> None:
    with pytest.raises(FaultError, match=r"the fault eof at end cannot strike"):
        cut(Place(edge="end"))
    size = len(body(rendered(mode="whole")))
    for at in (Place(size=size), Place(edge="end")):
        with pytest.raises(FaultError, match=f"the body has {size} bytes"):
            rendered(Fault(kind="eof", at=at), mode="whole")
    with pytest.raises(FaultError, match=r"the fault reset at \{bytes: 99999\} cannot strike"):
        rendered(Fault(kind="reset", at=Place(size=99999)), mode="whole")


def test_a_whole_response_has_no_error_event() -> None:
    with pytest.raises(FaultError, match="error-event needs a stream"):
        rendered(Fault(kind="error-event"), mode="whole")


@every_dialect
@pytest.mark.parametrize("error", ["invalid", "auth", "quota", "unavailable", "timeout"])
def test_every_named_error_can_be_an_answer(speaks: DialectName, error: ErrorName) -> None:
    response = rendered(Fault(kind="http", error=error), to=two_calls(speaks))
    assert 400 <= response.status < 600
    assert json.loads(body(response))["error"]["message"]
