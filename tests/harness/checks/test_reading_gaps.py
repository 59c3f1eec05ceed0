"""Journals that are old or were edited by hand: what is missing, or of another type, is empty."""

from __future__ import annotations

import pytest
from journals import Json, Written, scenario

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
from loopcheck.harness.checks.reading import read
from loopcheck.harness.journal import Entry

BLANK_RESPONSE = Response(
    n=2,
    request=0,
    turn=1,
    attempt=0,
    status=0,
    calls=(),
    text="",
    refusal=None,
    stop="",
    fault=None,
    ends="",
    accepted=False,
)
BLANK_REQUEST = Request(
    n=2,
    number=0,
    role="",
    turn=None,
    attempt=None,
    recognised={},
    items=(),
    tools=(),
    tool_choice=None,
    body=None,
    why=None,
)
BLANK_EXECUTION = Execution(
    n=2,
    number=0,
    tool="",
    arguments={},
    label=None,
    call_id=None,
    operation_id=None,
    token="",
)


def test_a_response_of_which_nothing_is_known() -> None:
    evidence = read([{"n": 2, "kind": "response", "turn": 1}], scenario(), frozenset())
    assert evidence.responses == (BLANK_RESPONSE,)


@pytest.mark.parametrize(
    ("kind", "blank"),
    [
        ("execution", BLANK_EXECUTION),
        (
            "effect",
            Effect(n=2, execution=0, tool="", arguments={}, operation=None, deduplicated=False),
        ),
        ("lookup", Lookup(n=2, tool="", operation_id=None, answer="")),
        (
            "refused",
            Refused(n=2, request=0, rule=None, grade=None, status=0, message="", param=None),
        ),
        ("outcome", Ended(n=2, state="", reason="", text="", exception=None)),
        ("broken", Broken(n=2, fault="", what="")),
    ],
)
@pytest.mark.parametrize("value", [..., None, [7], 1.5], ids=str)
def test_an_entry_of_which_nothing_is_known(kind: str, blank: object, value: object) -> None:
    fields = ["tool", "arguments", "label", "call_id", "operation_id", "token", "operation"]
    fields += ["deduplicated", "answer", "rule", "grade", "status", "message", "param"]
    fields += ["state", "reason", "text", "exception", "fault", "what"]
    entry: Entry = {"n": 2, "kind": kind, "execution": 0}
    entry.update({} if value is ... else dict.fromkeys(fields, value))
    evidence = read([entry], scenario(), frozenset())
    found = {
        "execution": evidence.executions,
        "effect": evidence.effects,
        "lookup": evidence.lookups,
        "refused": evidence.refused,
        "outcome": evidence.told,
        "broken": evidence.broken,
    }
    assert found[kind] == (blank,)


def test_a_decision_of_which_little_is_known() -> None:
    entry: Entry = {"n": 2, "kind": "decision", "decide": "approve", "label": ""}
    assert read([entry], scenario(), frozenset()).decisions == (
        Decided(n=2, decide="approve", label="", call_id="", tool="", arguments={}, pending=False),
    )


@pytest.mark.parametrize("value", [None, [7], {"a": 1}, 1.5], ids=str)
def test_a_request_of_another_making(value: object) -> None:
    entry: Entry = {"n": 2, "kind": "request"}
    entry.update(dict.fromkeys(("role", "turn", "attempt", "conversation", "tools", "why"), value))
    evidence = read([{"n": 1, "kind": "case", "dialect": value}, entry], scenario(), frozenset())
    assert (evidence.dialect, evidence.mode) == ("chat", "whole")
    assert evidence.requests == (BLANK_REQUEST,)


def test_calls_and_thinking_of_which_nothing_is_known() -> None:
    entry: Entry = {"n": 2, "kind": "response", "turn": 1}
    entry.update(calls=[{"label": ""}, 7], carry=[{}])
    (response,) = read([entry], scenario(), frozenset()).responses
    assert response.carry == (Thought(text="", item_id="", seal="", position=0),)
    assert response.calls == (
        Issued(attempt=0, ordinal=0, label="", tool="", arguments="", call_id="", sent="", n=2),
    )


@pytest.mark.parametrize(
    ("usage", "expected", "tokens"),
    [
        ({"input": 7, "output": 3}, (7, 3), 10),
        ({"output": 3}, (0, 3), 3),
        ({}, None, 0),
        (None, None, 0),
    ],
)
def test_what_a_response_costs(
    usage: object, expected: tuple[int, int] | None, tokens: int
) -> None:
    entry: Entry = {"n": 2, "kind": "response", "turn": 1, "usage": usage}
    (response,) = read([entry], scenario(), frozenset()).responses
    assert (response.usage, response.tokens) == (expected, tokens)


@pytest.mark.parametrize(
    ("item", "field", "value"),
    [
        ({"kind": "say"}, "kind", "say"),
        ({"kind": "new"}, "kind", "other"),
        ({"kind": 7}, "kind", "other"),
        ({"is_error": False}, "is_error", False),
        ({"is_error": "yes"}, "is_error", None),
        ({"origin": "kept"}, "origin", "sent"),
        ({"reply": "1"}, "reply", None),
    ],
)
def test_items_of_another_making(item: Json, field: str, value: object) -> None:
    journal = Written()
    journal.items.append({"path": "m[1]", **item})
    journal.ask()
    assert getattr(journal.evidence().requests[0].items[-1], field) == value


def test_an_empty_journal() -> None:
    evidence = read([], scenario(), frozenset())
    assert (evidence.dialect, evidence.mode, evidence.last_n) == ("chat", "whole", 0)
