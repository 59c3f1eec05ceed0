"""What evidence a journal is read into."""

from __future__ import annotations

import pytest
from journals import Json, Written, call, scenario

from loopcheck.fake_providers.wire import Item, OfferedTool
from loopcheck.harness.checks.evidence import (
    Broken,
    Decided,
    Effect,
    Ended,
    Execution,
    Issued,
    Lookup,
    Refused,
    Request,
    Response,
    Thought,
)
from loopcheck.harness.checks.reading import continued_from, read
from loopcheck.harness.journal import Entry


def two_attempts(*held: str, results: tuple[str, ...] = ()) -> Written:
    """Two attempts of a turn, with calls under id1 and id2, and a request with these calls."""
    journal = Written()
    for attempt in (1, 2):
        journal.ask(1, attempt)
        journal.answer(call("book", call_id=f"id{attempt}"))
    if held:
        journal.carry(*(call("book", call_id=one) for one in held))
    for one in results:
        journal.result(one, "ok")
    journal.ask(2)
    return journal


@pytest.mark.parametrize(
    ("held", "results", "attempt"),
    [
        (("id1",), (), 1),
        (("id2",), (), 2),
        (("id1", "id2"), (), 2),
        (("other",), (), 2),
        ((), (), 2),
        (("id1",), ("id2",), 1),
    ],
)
def test_a_request_continues_the_attempt_whose_calls_it_holds(
    held: tuple[str, ...], results: tuple[str, ...], attempt: int
) -> None:
    evidence = two_attempts(*held, results=results).evidence()
    assert [one.attempt for one in evidence.responses if one.accepted] == [attempt]


def test_it_continues_the_turn_that_was_recognised() -> None:
    journal = two_attempts("id1")
    journal.answer(text="Done.")
    journal.ask(2, 2)
    evidence = journal.evidence()
    latest = continued_from(evidence.requests[-1], evidence.responses)
    assert latest is not None
    assert (latest.turn, latest.attempt) == (1, 1)
    journal.entries[-1]["recognised"] = {"turn": 0, "by": "none"}
    evidence = journal.evidence()
    assert continued_from(evidence.requests[-1], evidence.responses) is None


def test_what_is_given_later_is_not_continued() -> None:
    journal = Written()
    journal.ask()
    journal.entries[-1]["recognised"] = {"turn": 1, "by": "count"}
    journal.answer(text="Done.")
    assert [one.accepted for one in journal.evidence().responses] == [False]


CONVERSATION: list[Json] = [
    {
        "kind": "result",
        "path": "input[1]",
        "origin": "stored",
        "text": "ok",
        "call_id": "id1",
        "name": "book",
        "arguments": "{}",
        "is_error": True,
        "reply": 2,
        "item_id": "fc_1",
        "seal": "s1",
    }
]
CALL: Json = {
    "label": "book",
    "tool": "book",
    "arguments": "{}",
    "call_id": "id1",
    "sent": "cut",
    "position": 3,
}
THOUGHT: Json = {"kind": "redacted", "text": "t", "item_id": "rs_1", "seal": "s1", "position": 1}
ENTRIES: list[Entry] = [
    {"n": 1, "kind": "case", "dialect": "messages", "mode": "stream"},
    {
        "n": 2,
        "kind": "request",
        "request": 1,
        "role": "turn",
        "turn": 1,
        "attempt": 4,
        "recognised": {"turn": 0, "by": "none"},
        "conversation": CONVERSATION,
        "tools": [{"name": "book", "schema": {"type": "object"}}],
        "tool_choice": "auto",
        "body": {"stream": True},
        "why": "because",
    },
    {
        "n": 3,
        "kind": "response",
        "request": 1,
        "turn": 1,
        "attempt": 4,
        "status": 200,
        "calls": [CALL],
        "carry": [THOUGHT],
        "usage": {"input": 5, "output": 6},
        "text": "Hello.",
        "refusal": "no",
        "stop": "length",
        "fault": "reset",
        "ends": "failed",
        "odd": True,
    },
    {"n": 4, "kind": "sent", "request": 1, "frames": ["one", "two"]},
    {
        "n": 5,
        "kind": "execution",
        "execution": 1,
        "tool": "book",
        "arguments": {"seat": 1},
        "label": "book",
        "call_id": "id1",
        "operation_id": "op-1",
        "token": "tok-1",
    },
    {
        "n": 6,
        "kind": "effect",
        "execution": 1,
        "tool": "book",
        "arguments": {"seat": 1},
        "operation": {"seat": 1},
        "deduplicated": True,
    },
    {"n": 7, "kind": "ended", "execution": 1, "how": "result", "result": "tok-1"},
    {"n": 8, "kind": "lookup", "tool": "book", "operation_id": "op-1", "answer": "found"},
    {
        "n": 9,
        "kind": "refused",
        "request": 2,
        "rule": "R1",
        "grade": "I",
        "status": 400,
        "message": "No.",
        "param": "input",
    },
    {
        "n": 10,
        "kind": "decision",
        "decide": "answer",
        "label": "book",
        "call_id": "id1",
        "tool": "book",
        "arguments": {"seat": 2},
        "pending": True,
        "value": "yes",
    },
    {"n": 11, "kind": "gate", "gate": "a waits for b", "how": "forced"},
    {"n": 12, "kind": "gate", "gate": "c waits for d", "how": "opened"},
    {
        "n": 13,
        "kind": "outcome",
        "state": "failed",
        "reason": "why",
        "text": "Sorry.",
        "exception": "KeyError",
    },
    {"n": 14, "kind": "broken", "fault": "hung", "what": "it did not end"},
    {"n": 15, "kind": "request", "request": 3, "role": "side"},
]


def test_everything_that_a_journal_tells_is_read() -> None:
    evidence = read(ENTRIES, scenario(), frozenset({"limits"}), "requests")
    ended = Ended(n=13, state="failed", reason="why", text="Sorry.", exception="KeyError")
    assert (evidence.dialect, evidence.mode) == ("messages", "stream")
    assert (evidence.can, evidence.limit_unit) == (frozenset({"limits"}), "requests")
    assert evidence.requests == (REQUEST,)
    assert [one.number for one in evidence.side] == [3]
    assert evidence.responses == (RESPONSE,)
    assert evidence.executions == (EXECUTION,)
    assert evidence.effects == (EFFECT,)
    assert evidence.lookups == (Lookup(n=8, tool="book", operation_id="op-1", answer="found"),)
    assert evidence.refused == (
        Refused(n=9, request=2, rule="R1", grade="I", status=400, message="No.", param="input"),
    )
    assert evidence.decisions == (DECIDED,)
    assert evidence.forced == ("a waits for b",)
    assert (evidence.outcome, evidence.told, evidence.ends) == (ended, (ended,), ((ended,),))
    assert evidence.broken == (Broken(n=14, fault="hung", what="it did not end"),)


REQUEST = Request(
    n=2,
    number=1,
    role="turn",
    turn=1,
    attempt=4,
    recognised={"turn": 0, "by": "none"},
    items=(
        Item(
            kind="result",
            path="input[1]",
            origin="stored",
            text="ok",
            call_id="id1",
            name="book",
            arguments="{}",
            is_error=True,
            reply=2,
            item_id="fc_1",
            seal="s1",
        ),
    ),
    tools=(OfferedTool(name="book", schema={"type": "object"}),),
    tool_choice="auto",
    body={"stream": True},
    why="because",
)
ISSUED = Issued(
    attempt=4,
    ordinal=0,
    label="book",
    tool="book",
    arguments="{}",
    call_id="id1",
    sent="cut",
    n=3,
    position=3,
)
RESPONSE = Response(
    n=3,
    request=1,
    turn=1,
    attempt=4,
    status=200,
    calls=(ISSUED,),
    text="Hello.",
    refusal="no",
    stop="length",
    fault="reset",
    ends="failed",
    accepted=False,
    carry=(Thought(text="t", item_id="rs_1", seal="s1", position=1, redacted=True),),
    usage=(5, 6),
    odd=True,
)
EXECUTION = Execution(
    n=5,
    number=1,
    tool="book",
    arguments={"seat": 1},
    label="book",
    call_id="id1",
    operation_id="op-1",
    token="tok-1",
    response=3,
    ended="result",
    ended_n=7,
    result="tok-1",
)
EFFECT = Effect(
    n=6,
    execution=1,
    tool="book",
    arguments={"seat": 1},
    operation={"seat": 1},
    deduplicated=True,
)
DECIDED = Decided(
    n=10,
    decide="answer",
    label="book",
    call_id="id1",
    tool="book",
    arguments={"seat": 2},
    pending=True,
    value="yes",
)


def test_a_response_to_no_turn_is_left_out() -> None:
    entries: list[Entry] = [{"n": 2, "kind": "response", "turn": 0}, {**ENTRIES[2], "n": 3}]
    evidence = read(entries, scenario(), frozenset())
    assert evidence.responses == (RESPONSE,)
