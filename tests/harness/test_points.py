from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from loopcheck.harness.journal import Entry
from loopcheck.harness.points import PointTracker


def issued(label: str, call_id: str, sent: str = "whole") -> dict[str, object]:
    return {"label": label, "tool": "t", "arguments": "{}", "call_id": call_id, "sent": sent}


def response(*calls: dict[str, object]) -> Entry:
    return {"kind": "response", "request": 1, "calls": list(calls)}


def request(number: int, *result_ids: str, turn: int = 1, role: str = "turn") -> Entry:
    conversation = [{"kind": "user", "text": "hello"}]
    conversation += [{"kind": "call", "call_id": each} for each in result_ids]
    conversation += [{"kind": "result", "call_id": each, "text": "r"} for each in result_ids]
    entry: Entry = {"kind": "request", "request": number, "role": role}
    return {**entry, "turn": turn, "conversation": conversation}


def execution(number: int, label: str | None) -> Entry:
    return {"kind": "execution", "execution": number, "label": label}


def fed(*entries: Entry) -> list[list[str]]:
    tracker = PointTracker()
    return [tracker.feed(entry) for entry in entries]


def test_a_whole_case() -> None:
    assert fed(
        {"kind": "case"},
        request(1),
        response(issued("book", "call_1")),
        {"kind": "sent", "request": 1, "how": "written"},
        execution(1, "book"),
        {"kind": "effect", "execution": 1},
        {"kind": "ended", "execution": 1, "how": "result"},
        request(2, "call_1", turn=2),
        response(),
        {"kind": "sent", "request": 2, "how": "written"},
        {"kind": "outcome", "state": "completed"},
    ) == [
        ["run.started"],
        ["turn1.asked"],
        ["book.asked"],
        ["turn1.sent"],
        ["book.started"],
        ["book.committed"],
        ["book.ended"],
        ["turn2.asked", "book.sent"],
        [],
        ["turn2.sent"],
        ["run.ended"],
    ]


def test_second_time_is_numbered() -> None:
    assert fed(execution(1, "book"), execution(2, "book"), execution(3, "book")) == [
        ["book.started"],
        ["book.started.2"],
        ["book.started.3"],
    ]


def test_turn_that_is_asked_again_is_numbered() -> None:
    sent: Entry = {"kind": "sent", "request": 2, "how": "written"}
    assert fed(request(1), request(2), sent) == [
        ["turn1.asked"],
        ["turn1.asked.2"],
        ["turn1.sent"],
    ]


def test_call_of_which_nothing_was_sent_is_not_asked() -> None:
    calls = (issued("a", "1", "none"), issued("b", "2", "cut"), issued("c", "3"))
    assert fed(response(*calls)) == [["b.asked", "c.asked"]]


def test_execution_without_a_call_passes_no_point() -> None:
    ended: Entry = {"kind": "ended", "execution": 1, "how": "result"}
    assert fed(execution(1, None), {"kind": "effect", "execution": 1}, ended) == [[], [], []]


def test_side_request_is_no_turn() -> None:
    sent: Entry = {"kind": "sent", "request": 1, "how": "written"}
    assert fed(request(1, role="side"), sent) == [[], []]


def test_result_counts_as_sent_once_however_often_the_history_repeats_it() -> None:
    assert fed(
        response(issued("book", "call_1")),
        request(2, "call_1", turn=2),
        request(3, "call_1", turn=3),
    ) == [["book.asked"], ["turn2.asked", "book.sent"], ["turn3.asked"]]


def test_id_that_was_issued_twice_stands_for_its_labels_in_order() -> None:
    assert fed(
        response(issued("a", "same"), issued("b", "same")),
        request(2, "same", turn=2),
        request(3, "same", "same", turn=3),
    ) == [["a.asked", "b.asked"], ["turn2.asked", "a.sent"], ["turn3.asked", "b.sent"]]


def test_call_asked_again_under_a_fresh_id_is_sent_a_second_time() -> None:
    assert fed(
        response(issued("a", "first")),
        request(2, "first", turn=2),
        response(issued("a", "second")),
        request(3, "first", "second", turn=3),
    ) == [
        ["a.asked"],
        ["turn2.asked", "a.sent"],
        ["a.asked.2"],
        ["turn3.asked", "a.sent.2"],
    ]


def test_unknown_ids_and_odd_entries_pass_no_point() -> None:
    odd: Entry = {"kind": "request", "request": 2, "role": "divergent", "conversation": None}
    assert fed(request(1, "never issued", role="divergent"), odd, {"kind": "gate"}) == [[], [], []]


@given(st.lists(st.sampled_from(["a", "b", None]), max_size=12))
def test_no_point_is_passed_twice_under_one_name(labels: list[str | None]) -> None:
    tracker = PointTracker()
    points: list[str] = []
    for number, label in enumerate(labels):
        points += tracker.feed(execution(number, label))
        points += tracker.feed({"kind": "ended", "execution": number})
    assert len(points) == len(set(points)) == 2 * sum(label is not None for label in labels)


def paused(*pending: dict[str, object]) -> Entry:
    return {"kind": "outcome", "state": "paused", "pending": list(pending)}


def waiting(call_id: str, **arguments: object) -> dict[str, object]:
    return {"call_id": call_id, "tool": "t", "arguments": arguments}


def test_a_stream_that_the_client_leaves_is_closed() -> None:
    assert fed(request(1), {"kind": "sent", "request": 1, "how": "client-closed"}) == [
        ["turn1.asked"],
        ["turn1.sent", "turn1.closed"],
    ]


def test_the_course_of_a_run_that_waits_for_people() -> None:
    decision: Entry = {"kind": "decision", "label": "book"}
    assert fed(
        response(issued("book", "call_1")),
        paused(waiting("call_1")),
        {**decision, "decide": "approve"},
        {"kind": "leg", "how": "resume"},
        paused(waiting("call_1")),
        {**decision, "decide": "deny"},
        {**decision, "decide": "answer"},
        {"kind": "action", "do": "kill"},
        {"kind": "died"},
        {"kind": "action", "do": "cancel"},
        {"kind": "leg", "how": "run"},
        {"kind": "place", "place": "in book after 'x'"},
    ) == [
        ["book.asked"],
        ["run.paused", "book.waiting"],
        ["book.approved"],
        [],
        ["run.paused.2", "book.waiting.2"],
        ["book.denied"],
        ["book.answered"],
        [],
        [],
        ["run.cancelling"],
        ["run.started"],
        ["in book after 'x'"],
    ]


def test_equal_calls_under_ids_of_the_loop_are_told_apart_by_their_order() -> None:
    tracker = PointTracker()
    tracker.feed(response(issued("one", "call_1"), issued("two", "call_2")))
    assert tracker.feed(paused(waiting("x"), waiting("y"))) == [
        "run.paused",
        "one.waiting",
        "two.waiting",
    ]
    assert tracker.labels_of([waiting("z")]) == ["two"]
    assert tracker.labels_of([waiting("call_2"), waiting("call_1")]) == ["two", "one"]
    assert tracker.labels_of([waiting("z", seat=3)]) == [None]


def test_of_calls_that_share_an_id_the_one_that_says_the_same_waits() -> None:
    tracker = PointTracker()
    other = {**issued("other", "same"), "arguments": "null"}
    tracker.feed(response({**issued("one", "same"), "arguments": '{"seat": 1}'}, other))
    assert tracker.labels_of([waiting("same", seat=1)]) == ["one"]
    assert tracker.labels_of([waiting("same", seat=9)]) == ["other"]
