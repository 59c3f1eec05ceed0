"""Thinking that the client has to carry: unchanged, in its place, and only where it has to."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from journals import Json, Written, call, levels

from loopcheck.fake_providers.script import DialectName

pytestmark = pytest.mark.usefixtures("every_word")


def thought(
    name: str, *, position: int = 0, text: str | None = None, kind: str = "think", item_id: str = ""
) -> Json:
    """Thinking as a response issues it."""
    return {
        "kind": kind,
        "text": name if text is None else text,
        "item_id": item_id,
        "seal": f"seal-{name}",
        "position": position,
    }


def reasoning(name: str, *, position: int = 0) -> Json:
    """The same where items have ids."""
    return thought(name, position=position, item_id=f"rs_{name}")


def sent(thought: Json, **changes: object) -> Json:
    """The thinking as a request brings it back; None leaves a member out."""
    item = {
        "kind": "think",
        "path": "input[1]",
        "origin": "sent",
        "text": thought["text"],
        "seal": thought["seal"],
        "item_id": thought["item_id"] or None,
        "reply": 0,
        **changes,
    }
    return {name: value for name, value in item.items() if value is not None}


def returned(
    carry: Sequence[Json],
    items: Sequence[Json | str],
    *,
    dialect: DialectName = "messages",
    body: Json | None = None,
    odd: bool = False,
    call_ids: bool = False,
    origin: str = "sent",
    ends: str = "well",
) -> Written:
    """A response with this thinking and calls a and b, and a request with these items: thinking
    as it is, calls by label."""
    journal = Written(dialect=dialect)
    body = body or {"stream": True}
    journal.ask()
    journal.entries[-1]["body"] = body
    places = (index for index in range(9) if index not in [one["position"] for one in carry])
    calls = [{**call(label), "position": next(places)} for label in ("a", "b")]
    journal.answer(*calls, ends=ends)
    journal.entries[-1].update(carry=list(carry), odd=odd)
    for item in items:
        if isinstance(item, str):
            journal.carry(next(one for one in calls if one["label"] == item))
            journal.items[-1].update(reply=0, origin=origin)
            if call_ids:
                journal.items[-1]["item_id"] = f"fc_{item}"
        else:
            journal.items.append(item)
    for label in ("a", "b"):
        journal.result(f"call_{label}", "ok")
    journal.ask(2)
    journal.entries[-1]["body"] = body
    return journal


THINK = thought("one")
HIDDEN = thought("two", position=1, text="", kind="redacted")
REASON = reasoning("one")


def found(journal: Written) -> list[str]:
    result = journal.check("history.carried")
    return [*levels(result), result.status]


def test_what_comes_back_as_it_was_passes() -> None:
    assert found(returned([THINK, HIDDEN], [sent(THINK), sent(HIDDEN), "a", "b"])) == ["pass"]
    same = returned([REASON], [sent(REASON), "a", "b"], dialect="responses", call_ids=True)
    assert found(same) == ["pass"]


@pytest.mark.parametrize(
    "changes",
    [{"text": "on"}, {"seal": "seal-on"}, {"seal": None}, {"seal": ""}],
    ids=str,
)
def test_a_changed_block_is_a_must(changes: Json) -> None:
    assert found(returned([THINK], [sent(THINK, **changes), "a", "b"])) == ["must", "fail"]


@pytest.mark.parametrize(
    ("changes", "level"),
    [
        ({"seal": "seal-on"}, "must"),
        ({"item_id": "rs_other"}, "must"),
        ({"text": "shorter"}, "should"),
        ({"item_id": None}, None),
        ({"seal": None}, None),
    ],
    ids=str,
)
def test_a_changed_item_weighs_what_the_service_says_to_it(
    changes: Json, level: str | None
) -> None:
    journal = returned([REASON], [sent(REASON, **changes), "a", "b"], dialect="responses")
    assert levels(journal.check("history.carried")) == ([level] if level else [])


def test_a_seal_that_is_stored_nowhere_has_to_come_back() -> None:
    items: list[Json | str] = [sent(REASON, seal=None), "a", "b"]
    journal = returned([REASON], items, dialect="responses", body={"store": False})
    assert found(journal) == ["must", "fail"]


@pytest.mark.parametrize(
    ("body", "items", "level"),
    [
        ({}, ["a", "b"], "should"),
        ({"thinking": {"type": "adaptive"}}, ["a", "b"], "should"),
        ({"thinking": {"type": "enabled"}}, ["a", "b"], "must"),
        ({}, [sent(THINK), "a", "b"], "must"),
        ({}, [sent(HIDDEN), "a", "b"], "must"),
    ],
)
def test_all_blocks_may_go_where_thinking_is_not_enabled(
    body: Json, items: list[Json | str], level: str
) -> None:
    journal = returned([THINK, HIDDEN], items, body=body)
    assert levels(journal.check("history.carried")) == [level]


@pytest.mark.parametrize(
    ("call_ids", "store", "level"),
    [(True, True, "must"), (False, True, "should"), (True, False, "should")],
)
def test_items_may_go_together_with_the_ids(call_ids: bool, store: bool, level: str) -> None:
    body: Json = {"store": store}
    journal = returned([REASON], ["a", "b"], dialect="responses", call_ids=call_ids, body=body)
    assert levels(journal.check("history.carried")) == [level]


@pytest.mark.parametrize(
    "items",
    [
        ["a", sent(THINK), "b", sent(HIDDEN)],
        [sent(HIDDEN), sent(THINK), "a", "b"],
        [sent(THINK), sent(THINK), sent(HIDDEN), "a", "b"],
    ],
    ids=["behind a call", "among themselves", "twice"],
)
def test_another_order_is_a_must(items: list[Json | str]) -> None:
    journal = returned([THINK, HIDDEN], items)
    (finding,) = journal.check("history.carried").findings
    assert finding.level == "must"
    assert finding.seen.startswith("another order: ")
    assert finding.expected == (
        "in request 2, in this order: thinking 1, thinking 2, call, call, as in response 3"
    )
    assert finding.entries == (4, 3)


def test_thinking_between_calls_stays_there() -> None:
    between = thought("two", position=2)
    carry = [THINK, between]
    assert found(returned(carry, [sent(THINK), "a", sent(between), "b"])) == ["pass"]
    assert found(returned(carry, [sent(THINK), sent(between), "a", "b"])) == ["must", "fail"]


def test_a_call_that_is_lost_moves_nothing() -> None:
    assert found(returned([THINK], [sent(THINK), "b"])) == ["pass"]


def test_one_finding_for_a_response_however_often_it_comes_back() -> None:
    journal = returned([THINK], [sent(THINK, seal="x"), "a", "b"])
    journal.ask(2, 2)
    assert found(journal) == ["must", "fail"]


def test_a_refused_request_shows_it_too() -> None:
    journal = returned([THINK], [sent(THINK, seal="x"), "a", "b"])
    journal.entries[-1]["role"] = "refused"
    assert found(journal) == ["must", "fail"]


def test_the_service_is_not_asked_what_it_keeps_itself() -> None:
    items: list[Json | str] = [sent(REASON, origin="stored"), "a", "b"]
    journal = returned([REASON], items, dialect="responses", origin="stored")
    result = journal.check("history.carried")
    assert (result.status, result.reason) == (
        "not exercised",
        "the service keeps the conversation, thinking included",
    )
    named = returned([REASON], ["a", "b"], dialect="responses", origin="stored", call_ids=True)
    assert found(named) == ["must", "fail"]


def test_thinking_of_a_turn_that_is_over_may_go() -> None:
    journal = returned([THINK], ["a", "b"], body={"thinking": {"type": "enabled"}})
    journal.entries.pop()
    said = {"kind": "say", "path": "messages[3]", "origin": "sent", "text": "Done.", "reply": 1}
    journal.items.append(said)
    journal.ask(2)
    assert found(journal) == ["not exercised"]


@pytest.mark.parametrize(("odd", "ends"), [(True, "well"), (False, "marked"), (False, "failed")])
def test_what_did_not_come_as_the_service_says_it_binds_nobody(odd: bool, ends: str) -> None:
    journal = returned([THINK], ["a", "b"], odd=odd, ends=ends)
    result = journal.check("history.carried")
    assert (result.status, result.reason) == (
        "not exercised",
        "no response holds both thinking and calls",
    )


def test_a_loop_that_sends_text_alone_cannot_be_seen() -> None:
    journal = returned([THINK], [])
    assert journal.check("history.carried").status == "not observable"
    journal.entries.pop()
    assert journal.check("history.carried").status == "not exercised"


OTHER = reasoning("two", position=1)
LONG = thought("x" * 60, text="y" * 60)


def test_items_are_told_apart_by_their_ids() -> None:
    items: list[Json | str] = [sent(REASON), sent(OTHER), "a", "b"]
    assert found(returned([REASON, OTHER], items, dialect="responses")) == ["pass"]


def test_a_changed_seal_is_that_of_the_thought_with_the_same_text() -> None:
    carry = [THINK, thought("two", position=1)]
    journal = returned(carry, [sent(THINK), sent(carry[1], seal="x", path="m[2]"), "a", "b"])
    (finding,) = journal.check("history.carried").findings
    assert finding.seen == "changed at m[2]: seal 'x' for 'seal-two'"


def test_what_is_left_is_looked_at_where_something_is_lost() -> None:
    carry = [THINK, thought("two", position=1)]
    journal = returned(carry, [sent(carry[1], seal="x"), "a", "b"])
    (finding,) = journal.check("history.carried").findings
    assert finding.seen == "changed at input[1]: seal 'x' for 'seal-two'"
    assert finding.why == (
        "the history is rebuilt from a model of its own instead of what was received"
    )


def test_long_seals_and_texts_are_shown_in_short() -> None:
    journal = returned([LONG], [sent(LONG, seal="z" * 60), "a", "b"])
    (finding,) = journal.check("history.carried").findings
    assert finding.seen == f"changed at input[1]: seal '{'z' * 9} ... {'z' * 9}' for " + (
        f"'seal-{'x' * 4} ... {'x' * 9}'"
    )
    journal = returned([LONG], [sent(LONG, text="z" * 60), "a", "b"])
    (finding,) = journal.check("history.carried").findings
    assert finding.seen == (
        f"changed at input[1]: text '{'z' * 17} ... {'z' * 17}' for '{'y' * 17} ... {'y' * 17}'"
    )


@pytest.mark.parametrize(
    ("changes", "level"),
    [({"seal": None, "item_id": None}, "must"), ({"seal": None, "text": "shorter"}, "should")],
    ids=str,
)
def test_the_service_fills_in_a_seal_by_the_id(changes: Json, level: str) -> None:
    journal = returned([REASON], [sent(REASON, **changes), "a", "b"], dialect="responses")
    assert levels(journal.check("history.carried")) == [level]


def test_each_turn_is_held_to_its_own_thinking() -> None:
    """The calls of the turn before stand in the request, too."""
    journal = returned([THINK], [sent(THINK), "a", "b"])
    journal.answer(call("c"))
    later = thought("three")
    journal.entries[-1].update(carry=[later])
    journal.entries[-1]["calls"] = [{**call("c"), "position": 1}]
    journal.items.append(sent(later, reply=1))
    journal.carry(call("c"))
    journal.items[-1]["reply"] = 1
    journal.result("call_c", "ok")
    journal.ask(3)
    assert found(journal) == ["pass"]


@pytest.mark.parametrize(("kept", "expected"), [(True, ["pass"]), (False, ["should", "pass"])])
def test_what_was_said_before_the_calls_ends_no_turn(kept: bool, expected: list[str]) -> None:
    journal = Written(dialect="messages")
    journal.ask()
    journal.answer(text="Hello.")
    said = {"kind": "say", "path": "m[1]", "origin": "sent", "text": "Hello.", "reply": 0}
    journal.items.append(said)
    journal.ask(2)
    journal.answer(call("a"))
    journal.entries[-1].update(carry=[THINK])
    journal.entries[-1]["calls"] = [{**call("a"), "position": 1}]
    if kept:
        journal.items.append(sent(THINK, reply=1))
    journal.carry(call("a"))
    journal.items[-1]["reply"] = 1
    journal.result("call_a", "ok")
    journal.ask(3)
    assert found(journal) == expected


@pytest.mark.parametrize("kind", ["say", "refusal"])
def test_what_is_said_right_behind_the_calls_ends_the_turn(kind: str) -> None:
    journal = returned([THINK], ["a", "b"], body={"thinking": {"type": "enabled"}})
    journal.entries.pop()
    said = {"kind": kind, "path": "m[3]", "origin": "sent", "text": "Done.", "reply": 1}
    journal.items.insert(3, said)
    journal.ask(2)
    assert found(journal) == ["not exercised"]


def test_calls_alone_carry_nothing() -> None:
    result = returned([], ["a", "b"]).check("history.carried")
    assert result.reason == "no response holds both thinking and calls"


def test_a_body_that_is_none_demands_nothing() -> None:
    journal = returned([THINK], ["a", "b"])
    for entry in journal.entries:
        entry["body"] = None
    assert levels(journal.check("history.carried")) == ["should"]


def test_what_is_stored_is_said_by_the_request_of_the_response() -> None:
    journal = returned([REASON], ["a", "b"], dialect="responses", call_ids=True)
    journal.entries[1]["body"] = {"store": False}
    assert levels(journal.check("history.carried")) == ["should"]


def test_everything_that_changed_is_told() -> None:
    carry = [THINK, thought("two", position=1)]
    changed = [sent(one, seal="x", path=f"m[{place}]") for place, one in enumerate(carry)]
    (finding,) = returned(carry, [*changed, "a", "b"]).check("history.carried").findings
    assert finding.seen == (
        "changed at m[0]: seal 'x' for 'seal-one'; m[1]: seal 'x' for 'seal-two'"
    )
