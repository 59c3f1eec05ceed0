"""What the conversation has to hold when a turn is asked for."""

from __future__ import annotations

from base64 import b64encode

import pytest
from journals import Json, Written, call, levels, one_round, scenario

from loopcheck.harness.results import Finding
from loopcheck.harness.world.images import png

pytestmark = pytest.mark.usefixtures("every_word")


def expecting(history: Json, *, level: str = "must") -> Json:
    """A scenario's expectation of what turn 2 is asked for with."""
    return {"expect": {level: {"history": {"turn2": history}}}}


def asked(journal: Written, body: Json | None = None) -> list[Finding]:
    """The findings of a run that carried its calls out and asked for turn 2."""
    journal.ask(2)
    journal.entries[-1] = {**journal.entries[-1], "body": body or {}}
    journal.answer(text="Done.")
    journal.end()
    return list(journal.check("scenario.expects").findings)


def two_calls(**history: object) -> Written:
    """A conversation of the prompt, calls a and b, and their results."""
    journal = one_round(call("a"), call("b"), scenario_=scenario(**expecting(history)))
    journal.carry()
    for one in ("a", "b"):
        journal.result(f"call_{one}", journal.execute(call_id=f"call_{one}"))
    return journal


@pytest.mark.parametrize(
    ("history", "met"),
    [
        ({"calls": ["b", "a"]}, True),
        ({"calls": ["a"]}, False),
        ({"calls": ["a", "b", "b"]}, False),
        ({"calls": ["a/1", "b/2"]}, False),
        ({"results": ["a", "b"]}, True),
        ({"results": []}, False),
        ({"order": ["user", "call b", "result b"]}, True),
        ({"order": ["result a", "call a"]}, False),
        ({"order": ["result b", "result b"]}, False),
        ({"last": "result b/1"}, True),
        ({"last": "result a"}, False),
        ({"lacks": ["say", "think", "redacted", "call a/2"]}, True),
        ({"lacks": ["say", "call a"]}, False),
        ({"sent": ["user", "call a", "call b", "result b", "result a"]}, True),
        ({"sent": ["result a", "result b"]}, False),
        ({"images": []}, True),
        ({"images": ["a"]}, False),
    ],
)
def test_each_key(history: Json, met: bool) -> None:
    assert (asked(two_calls(**history)) == []) is met


def test_a_finding_says_what_stands_there_and_where() -> None:
    journal = two_calls(order=["result b", "result a"])
    (found,) = asked(journal)

    assert found.expected == "turn2 is asked for with result b, result a in this order"
    assert found.seen == "user, call a, call b, result a, result b"
    (number,) = [e["n"] for e in journal.entries if e["kind"] == "request" and e["turn"] == 2]
    assert found.entries == (number,)


def test_one_of_several_conversations_will_do() -> None:
    def journal(*alternatives: Json) -> Written:
        history: Json = {"any_of": list(alternatives)}
        journal = one_round(scenario_=scenario(**expecting(history)))
        journal.carry()
        journal.result("call_book", journal.execute())
        return journal

    assert asked(journal({"calls": []}, {"calls": ["book"]})) == []
    (found,) = asked(journal({"calls": []}, {"last": "user"}))
    assert found.expected == "turn2 is asked for with calls none or user at its end"


def test_turns_that_were_not_asked_for_are_left_out() -> None:
    journal = one_round(scenario_=scenario(**expecting({"calls": []})))
    journal.end()

    assert journal.check("scenario.expects").findings == ()


def test_what_comes_of_an_attempt_is_told_from_what_comes_of_the_next() -> None:
    def journal(kept: str) -> Written:
        journal = Written(scenario(**expecting({"lacks": ["call book/1", "result book/1"]})))
        for attempt in (1, 2):
            journal.ask(1, attempt)
            journal.answer(call("book", call_id=f"id{attempt}"))
        journal.carry(call("book", call_id=kept))
        journal.result(kept, journal.execute())
        return journal

    assert asked(journal("id2")) == []
    (found,) = asked(journal("id1"))
    assert (found.expected, found.seen) == (
        "turn2 is asked for with no call book/1",
        "user, call book, result book",
    )


def test_thinking_is_told_from_what_nobody_can_read() -> None:
    def journal(**history: object) -> Written:
        journal = Written(scenario(**expecting(history)), "messages")
        journal.ask()
        carry = [{"kind": "redacted", "text": "", "item_id": "", "seal": "s1", "position": 0}]
        journal.answer(call("book"))
        journal.entries[-1] = {**journal.entries[-1], "carry": carry}
        for seal in ("s1", "s2"):
            journal.items.append(
                {"kind": "think", "path": "m", "origin": "sent", "seal": seal, "text": ""}
            )
        journal.carry()
        journal.result("call_book", journal.execute())
        return journal

    assert asked(journal(order=["redacted", "think", "call book"])) == []
    assert len(asked(journal(lacks=["redacted"]))) == 1


def test_what_one_message_says_in_parts_is_one_entry() -> None:
    calls = ["call a", "call b", "result a", "result b"]
    journal = two_calls(sent=["user", "user", "user", "say", *calls])
    for path in ("m[5].content[0]", "m[5].content[1]", "m[6].content[0]"):
        journal.items.append({"kind": "user", "path": path, "origin": "sent", "text": "and"})
    journal.items.append({"kind": "system", "path": "system", "origin": "sent", "text": "Be kind."})
    for text in ("It", "is"):
        journal.items.append(
            {"kind": "say", "path": "m[7]", "origin": "sent", "text": text, "reply": 4}
        )

    assert asked(journal) == []


def test_what_the_service_has_stored_was_not_sent() -> None:
    journal = two_calls(sent=["result a", "result b"], calls=["a", "b"])
    for item in journal.items[:3]:
        item["origin"] = "stored"

    assert asked(journal) == []


def test_a_loop_that_tells_calls_as_text_is_not_held_to_them() -> None:
    journal = one_round(scenario_=scenario(**expecting({"calls": ["book"]})))
    journal.items.append({"kind": "user", "path": "m", "origin": "sent", "text": "I booked."})

    assert asked(journal) == []


@pytest.mark.parametrize("url", [True, False])
def test_images_are_known_by_their_token_or_by_their_pixels(url: bool) -> None:
    def image(token: str) -> str:
        text = b64encode(png(token)).decode()
        return f"data:image/png;base64,{text}" if url else text

    journal = two_calls(images=["b"])
    assert (
        asked(journal, body={"input": [{"image": image("tok-002")}, {"x": "iVBORw0KGgoA"}]}) == []
    )
    (found,) = asked(two_calls(images=["b"]), body={"images": [image("tok-001")]})
    assert (found.expected, found.seen) == ("turn2 is asked for with images b", "a")


def test_expectations_keep_their_level() -> None:
    journal = one_round(scenario_=scenario(**expecting({"calls": []}, level="should")))
    journal.carry()
    journal.result("call_book", journal.execute())
    journal.ask(2)
    journal.answer(text="Done.")
    journal.end()

    assert levels(journal.check("scenario.expects")) == ["should"]


def test_a_call_that_was_never_issued_is_told_by_its_id() -> None:
    journal = two_calls(calls=["a", "b"], results=["a", "b"])
    journal.carry(call("?", call_id="made up"))
    journal.result("made up", "ok")
    journal.result("nobody's", "ok")
    (found,) = asked(journal)
    assert (found.expected, found.seen) == (
        "turn2 is asked for with calls a, b",
        "a, b, 'made up'",
    )
    journal.scenario = scenario(**expecting({"results": ["a", "b"]}))
    (found,) = journal.check("scenario.expects").findings
    assert found.seen == "a, b, 'made up', \"nobody's\""


def test_a_later_attempt_is_told_with_its_number() -> None:
    journal = Written(scenario(**expecting({"lacks": ["call book"]})))
    for attempt in (1, 2):
        journal.ask(1, attempt)
        journal.answer(call("book", call_id=f"id{attempt}"))
    journal.carry(call("book", call_id="id2"))
    (found,) = asked(journal)
    assert found.seen == "user, call book/2"


def test_each_turn_has_its_own_history() -> None:
    history: Json = {"turn2": {"last": "user"}, "turn3": {"lacks": ["call book"]}}
    journal = one_round(scenario_=scenario(expect={"must": {"history": history}}))
    journal.carry()
    journal.result("call_book", journal.execute())
    journal.ask(2)
    journal.ask(3)
    found = journal.check("scenario.expects").findings
    assert [(one.expected, one.entries) for one in found] == [
        ("turn2 is asked for with user at its end", (7,)),
        ("turn3 is asked for with no call book", (8,)),
    ]


def test_one_finding_for_a_turn_however_often_it_is_asked_for() -> None:
    journal = two_calls(last="user")
    journal.ask(2)
    (found,) = asked(journal)
    assert (found.seen, found.entries) == ("result b", (10,))


def test_an_empty_conversation_ends_with_nothing() -> None:
    journal = Written(scenario(**expecting({"last": "user"})))
    journal.ask()
    journal.answer(text="Done.")
    journal.items.clear()
    (found,) = asked(journal)
    assert (found.expected, found.seen) == ("turn2 is asked for with user at its end", "nothing")


def test_a_conversation_without_calls_is_held_to_its_texts() -> None:
    journal = Written(scenario(**expecting({"last": "say"})))
    journal.ask()
    journal.answer(text="Which day?")
    assert len(asked(journal)) == 1


def test_parts_of_one_message_are_one_however_many() -> None:
    journal = Written(scenario(**expecting({"sent": ["user", "user", "user"]})))
    journal.ask()
    journal.answer(text="Hello.")
    for path, origin in (
        ("m[1].content[0]", "sent"),
        ("m[1].content[1]", "sent"),
        ("m[1].content[2]", "sent"),
        ("m[2].content[0]", "stored"),
        ("m[2].content[1]", "sent"),
    ):
        journal.items.append({"kind": "user", "path": path, "origin": origin, "text": "and"})
    assert asked(journal) == []


def test_two_messages_without_parts_are_two() -> None:
    journal = Written(scenario(**expecting({"sent": ["user", "user"]})))
    journal.ask()
    journal.answer(text="Hello.")
    journal.items.append({"kind": "user", "path": "m[1]", "origin": "sent", "text": "Monday."})
    assert asked(journal) == []
