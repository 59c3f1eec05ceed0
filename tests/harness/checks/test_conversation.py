"""Which issued call a call in a conversation stems from, and which result stands under it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from journals import Json, Written, call, scenario

from loopcheck.fake_providers.wire import Item
from loopcheck.harness.checks.conversation import (
    Conversation,
    Held,
    conversation,
    conversations,
)
from loopcheck.harness.checks.evidence import Issued
from loopcheck.harness.checks.matching import pair_up


def seat(number: int) -> Json:
    return {"event": "E1", "seat": number}


def booked(label: str, number: int = 1, call_id: str = "same", **more: str) -> Json:
    return call(label, arguments=seat(number), call_id=call_id, **more)


def given(*responses: tuple[int, int, str, list[Json]]) -> Written:
    """A journal with these responses: turn, attempt, how it ends, calls."""
    journal = Written(scenario())
    for turn, attempt, ends, calls in responses:
        journal.ask(turn, attempt)
        journal.answer(*calls, ends=ends)
    return journal


def held(journal: Written, *replies: list[Json]) -> Conversation:
    """The conversation of a last request that holds these calls, each list as one reply."""
    for reply in replies:
        journal.carry(*reply)
    journal.ask(9)
    evidence = journal.evidence()
    return conversation(evidence.requests[-1], evidence)


def names(talk: Conversation) -> list[str]:
    return [one.name for one in talk.calls]


class TestUnderOneId:
    def test_arguments_tell_which_is_which(self) -> None:
        journal = given((1, 1, "well", [booked("one", 1), booked("two", 2)]))
        assert names(held(journal, [booked("?", 2), booked("?", 1)])) == ["two", "one"]

    def test_where_they_are_equal_their_order_does(self) -> None:
        journal = given((1, 1, "well", [booked("one"), booked("two"), booked("three")]))
        assert names(held(journal, [booked("?")] * 3)) == ["one", "two", "three"]

    def test_where_they_were_changed_their_order_does(self) -> None:
        journal = given((1, 1, "well", [booked("one", 1), booked("two", 2)]))
        assert names(held(journal, [booked("?", 8), booked("?", 9)])) == ["one", "two"]

    def test_one_that_is_alike_leaves_its_place_to_the_other(self) -> None:
        journal = given((1, 1, "well", [booked("one", 1), booked("two", 2), booked("three", 3)]))
        talk = held(journal, [booked("?", 3), booked("?", 9), booked("?", 1)])
        assert names(talk) == ["three", "two", "one"]

    def test_other_spaces_change_nothing(self) -> None:
        spaced = call("?", arguments='{ "seat":2, "event":"E1" }', call_id="same")
        journal = given((1, 1, "well", [booked("one", 1), booked("two", 2)]))
        assert names(held(journal, [spaced, booked("?", 1)])) == ["two", "one"]

    def test_what_is_no_json_is_the_same_as_itself(self) -> None:
        broken = [call(label, arguments=f'{{"seat":{label}', call_id="same") for label in "12"]
        journal = given((1, 1, "well", broken))
        assert names(held(journal, broken[::-1])) == ["2", "1"]


@pytest.mark.parametrize(("how", "stems_from"), [("user", "first"), ("run", "second")])
def test_under_a_made_up_id_it_stems_from_the_same_run(how: str, stems_from: str) -> None:
    said = {"say": "Done."}
    journal = Written(scenario(turns=[said, {how: "Once more, please."}, said, said]))
    for turn, label in ((1, "first"), (2, "second")):
        journal.ask(turn)
        journal.answer(booked(label, call_id=""))
    journal.carry(booked("?", call_id="made-up"))
    journal.ask(3)
    evidence = journal.evidence()
    assert names(conversation(evidence.requests[-1], evidence)) == [stems_from]


def test_a_long_history_of_one_id_is_traced_in_one_look_for_each_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks: list[int] = []

    def counting(lefts: Sequence[Any], rights: Sequence[Any], cost: Any) -> dict[int, int]:
        looks.append(len(lefts))
        return pair_up(lefts, rights, cost)

    monkeypatch.setattr("loopcheck.harness.checks.conversation.pair_up", counting)
    journal, rounds = Written(scenario()), 30
    for number in range(rounds):
        journal.ask(1, number + 1)
        journal.answer(booked(f"c{number}"))
        journal.carry(booked("?"))
    evidence = journal.evidence()
    assert len(conversations(evidence)[-1].calls) == rounds - 1
    conversations(evidence)
    # To choose the response, and to choose among its calls, in each conversation once.
    assert len(looks) == 2 * sum(range(rounds))


class TestSeveralResponses:
    def test_it_stems_from_the_one_that_says_the_same(self) -> None:
        journal = given((1, 1, "well", [booked("one", 1)]), (2, 1, "well", [booked("two", 2)]))
        assert names(held(journal, [booked("?", 1)])) == ["one"]

    def test_else_from_the_latest(self) -> None:
        journal = given((1, 1, "well", [booked("one", 1)]), (2, 1, "well", [booked("two", 2)]))
        assert names(held(journal, [booked("?", 9)])) == ["two"]

    def test_the_response_that_says_the_same_most_often_counts(self) -> None:
        journal = given(
            (1, 1, "well", [booked("one", 1), booked("two", 2)]),
            (2, 1, "well", [booked("three", 3), booked("four", 2)]),
        )
        assert names(held(journal, [booked("?", 2), booked("?", 1)])) == ["two", "one"]

    def test_one_that_is_a_little_alike_does_not_end_the_search(self) -> None:
        other = [
            call(name, tool="get_weather", arguments={"city": name}, call_id="same")
            for name in ("five", "six")
        ]
        journal = given(
            (1, 1, "well", [booked("one", 1), booked("two", 2), booked("three", 3)]),
            (2, 1, "well", [booked("four", 4), *other]),
        )
        talk = held(journal, [booked("?", 1), booked("?", 2), booked("?", 3)])
        assert names(talk) == ["one", "two", "three"]

    def test_what_is_alike_in_nothing_stands_in_its_order(self) -> None:
        journal = given((1, 1, "well", [booked("one", 1), booked("two", 2)]))
        odd = call("?", tool="get_weather", arguments={"city": "Bern"}, call_id="same")
        assert names(held(journal, [odd, odd])) == ["one", "two"]

    def test_each_reply_has_its_own(self) -> None:
        journal = given((1, 1, "well", [booked("one", 5)]), (2, 1, "well", [booked("two", 5)]))
        assert names(held(journal, [booked("?", 5)], [booked("?", 5)])) == ["one", "two"]

    def test_what_is_no_object_may_have_been_emptied(self) -> None:
        empty = call("?", arguments="{}", call_id="same")
        issued = [call(label, arguments="{}", call_id="same") for label in ("one", "two")]
        none = call("three", arguments="null", call_id="same")
        journal = given((1, 1, "well", issued), (2, 1, "well", [none]))
        assert names(held(journal, [empty, empty], [empty])) == ["one", "two", "three"]

    @pytest.mark.parametrize(("arguments", "stems_from"), [("", "one"), (seat(9), "two")])
    def test_only_no_arguments_may_stand_for_what_is_no_object(
        self, arguments: Json | str, stems_from: str
    ) -> None:
        none = call("one", arguments="null", call_id="same")
        journal = given((1, 1, "well", [none]), (2, 1, "well", [booked("two", 2)]))
        changed = call("?", arguments=arguments, call_id="same")
        assert names(held(journal, [changed])) == [stems_from]

    def test_of_those_that_say_the_same_it_stems_from_the_one_of_its_tool(self) -> None:
        note = call("note", tool="send_note", call_id="same")
        book = call("book", call_id="same")
        assert names(held(given((1, 1, "well", [note]), (2, 1, "well", [book])), [note])) == [
            "note"
        ]
        journal = given((1, 1, "well", [note]), (2, 1, "marked", [book]))
        assert names(held(journal, [note], [book])) == ["note", "book"]

    def test_the_arguments_tell_more_than_a_name_that_was_mended(self) -> None:
        mended = call("?", tool="invalid_tool_name", arguments=seat(2), call_id="same")
        odd = call("two", tool="no such tool", arguments=seat(2), call_id="same")
        journal = given((1, 1, "well", [booked("one", 1), odd]))
        assert names(held(journal, [mended, booked("?", 1)])) == ["two", "one"]

    def test_what_is_left_of_a_reply_stems_from_what_is_left(self) -> None:
        journal = given((1, 1, "well", [booked("one", 1)]), (2, 1, "well", [booked("two", 2)]))
        talk = held(journal, [booked("?", 2), booked("?", 9), booked("?", 9)])
        assert names(talk) == ["two", "one", "'same'"]

    def test_of_what_is_left_that_which_says_the_same(self) -> None:
        journal = given(
            (1, 1, "well", [booked("one", 1)]),
            (2, 1, "well", [booked("two", 2)]),
            (3, 1, "well", [booked("three", 3)]),
        )
        talk = held(journal, [booked("?", 3), booked("?", 1)])
        assert names(talk) == ["three", "one"]

    @pytest.mark.parametrize("ends", ["failed", "marked", "unmarked"])
    def test_one_that_did_not_end_well_is_the_last_resort(self, ends: str) -> None:
        journal = given((1, 1, "well", [booked("book")]), (1, 2, ends, [booked("book")]))
        assert names(held(journal, [booked("?")])) == ["book"]

    def test_of_those_that_ended_well_the_latest_counts(self) -> None:
        journal = given((1, 1, "well", [booked("book")]), (1, 2, "well", [booked("book")]))
        assert names(held(journal, [booked("?")])) == ["book/2"]

    def test_what_was_given_later_is_not_there_yet(self) -> None:
        journal = Written(scenario())
        journal.ask()
        journal.carry(booked("?"))
        journal.ask()
        journal.answer(booked("book"))
        evidence = journal.evidence()
        assert names(conversation(evidence.requests[-1], evidence)) == ["'same'"]


class TestUnknownIds:
    def test_arguments_tell_which_is_which(self) -> None:
        journal = given((1, 1, "well", [booked("one", 1, "id1"), booked("two", 2, "id2")]))
        talk = held(journal, [booked("?", 2, "new1"), booked("?", 1, "new2")])
        assert names(talk) == ["two", "one"]

    def test_else_their_order_does_among_calls_of_the_tool(self) -> None:
        calls = [
            call("look", "get_weather", {"city": "Rome"}, call_id="id0"),
            booked("one", 1, "id1"),
            booked("two", 2, "id2"),
        ]
        talk = held(given((1, 1, "well", calls)), [booked("?", 8, "new1"), booked("?", 9, "new2")])
        assert names(talk) == ["one", "two"]

    def test_one_that_is_alike_is_not_taken_by_another(self) -> None:
        journal = given((1, 1, "well", [booked("one", 1, "id1"), booked("two", 2, "id2")]))
        talk = held(journal, [booked("?", 9, "new1"), booked("?", 1, "new2")])
        assert names(talk) == ["two", "one"]

    def test_an_id_that_was_issued_is_not_taken_for_a_new_one(self) -> None:
        journal = given((1, 1, "well", [booked("one", 1, "id1"), booked("two", 2, "id2")]))
        talk = held(journal, [booked("?", 1, "id1"), booked("?", 2, "id1")])
        assert names(talk) == ["one", "'id1'"]

    def test_the_earliest_turn_counts_and_of_its_attempts_the_latest(self) -> None:
        journal = given(
            (1, 1, "well", [booked("one", 1, "id1")]),
            (1, 2, "well", [booked("one", 1, "id2")]),
            (2, 1, "well", [booked("two", 1, "id3")]),
        )
        talk = held(journal, [booked("?", 1, "new1")], [booked("?", 1, "new2")])
        assert names(talk) == ["one/2", "one"]

    def test_what_ended_well_comes_first(self) -> None:
        journal = given(
            (1, 1, "failed", [booked("one", 1, "id1")]), (2, 1, "well", [booked("two", 1, "id2")])
        )
        assert names(held(journal, [booked("?", 1, "new")])) == ["two"]

    def test_a_call_without_arguments_is_like_one_of_none(self) -> None:
        calls = [
            call("all", arguments='{"event":"E1"}', call_id="id1"),
            call("none", arguments="", call_id="id2"),
        ]
        journal = given((1, 1, "well", calls))
        journal.carry(call("?", arguments="", call_id="new"))
        del journal.items[-1]["arguments"]
        assert names(held(journal)) == ["none"]


class TestMissing:
    def talk(self, *carried: Json) -> tuple[Conversation, list[Issued]]:
        journal = given((1, 1, "well", [booked("one", 1, "id1"), booked("two", 2, "id2")]))
        talk = held(journal, list(carried))
        return talk, list(journal.evidence().responses[0].calls)

    def test_a_call_that_is_not_there(self) -> None:
        talk, (one, two) = self.talk(booked("?", 1, "id1"))
        assert (talk.lacks(one), talk.lacks(two)) == (False, True)

    def test_it_may_be_there_under_an_id_that_the_loop_made_up(self) -> None:
        """What was traced to the first may as well be the second: they are alike."""
        journal = given((1, 1, "well", [booked("one", 1, "id1"), booked("two", 1, "id2")]))
        talk = held(journal, [booked("?", 1, "new")])
        one, two = journal.evidence().responses[0].calls
        assert (talk.lacks(one), talk.lacks(two)) == (False, False)

    def test_it_may_be_one_that_stems_from_nothing(self) -> None:
        talk, (_, two) = self.talk(booked("?", 1, "id1"), booked("?", 2, "id1"))
        assert names(talk) == ["one", "'id1'"]
        assert talk.lacks(two) is False

    def test_it_may_be_one_that_was_issued_without_an_id(self) -> None:
        journal = given((1, 1, "well", [booked("one", 1, ""), booked("two", 1, "id2")]))
        talk = held(journal, [booked("?", 1, "")])
        _, two = journal.evidence().responses[0].calls
        assert names(talk) == ["one"]
        assert talk.lacks(two) is False


SCHEMA: Json = {"type": "object", "properties": {"seat": {"type": "integer"}}}


class TestChanged:
    def one(self, arguments: str | None, *, sent: str = "whole", **more: object) -> Held:
        text = json.dumps({"seat": 1})
        issued = Issued(
            attempt=1,
            ordinal=0,
            label="book",
            tool="book",
            arguments=text,
            call_id="id1",
            sent=sent,
            n=3,
            approved=more.pop("approved", None),  # type: ignore[arg-type]
        )
        item = Item(kind="call", path="x", call_id="id1", arguments=arguments, **more)  # type: ignore[arg-type]
        return Held(item, issued)

    @pytest.mark.parametrize(
        ("arguments", "changed"),
        [('{"seat":1.0,"row":null}', False), ('{"seat":"1"}', True), ("[]", True)],
    )
    def test_by_what_came_back(self, arguments: str, changed: bool) -> None:
        assert self.one(arguments).is_changed(SCHEMA) is changed

    def test_not_where_nothing_came_back(self) -> None:
        assert not self.one(None).is_changed(SCHEMA)

    def test_not_where_the_service_kept_it(self) -> None:
        assert not self.one('{"seat":2}', origin="stored").is_changed(SCHEMA)

    def test_not_where_it_was_cut(self) -> None:
        assert not self.one('{"seat":2}', sent="cut").is_changed(SCHEMA)

    def test_not_where_it_stems_from_nothing(self) -> None:
        assert not Held(Item(kind="call", path="x", arguments="{}")).is_changed(SCHEMA)

    @pytest.mark.parametrize(("number", "changed"), [(1, False), (2, False), (3, True)])
    def test_it_may_come_back_as_it_was_approved(self, number: int, changed: bool) -> None:
        one = self.one(json.dumps({"seat": number}), approved={"seat": 2})
        assert one.is_changed(SCHEMA) is changed
