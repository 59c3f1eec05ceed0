"""Which turn a request asks for: the next request decides, not the socket."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import hypothesis
from hypothesis import strategies as st

from loopcheck.fake_providers.turns import Given, Recognised, asks_for_a_turn
from loopcheck.fake_providers.wire import IssuedCall, Item, OfferedTool


@dataclass(frozen=True)
class Response:
    turn: int
    ids: tuple[str, ...]
    text: str
    tokens: tuple[str, ...]


def response(turn: int, *ids: str, text: str = "", tokens: tuple[str, ...] = ()) -> Response:
    return Response(turn, ids, text, tokens)


def given(responses: list[Response]) -> Given:
    """What was given: each turn's calls have a label of their own."""
    made = Given()
    for one in responses:
        calls = [
            IssuedCall(label=f"t{one.turn}", tool="book", arguments="{}", call_id=i, item_id="")
            for i in one.ids
        ]
        made.add(one.turn, calls, text=one.text)
    return made


def recognise(items: list[Item], responses: list[Response]) -> Recognised:
    def tokens(labels: Sequence[str]) -> frozenset[str]:
        return frozenset(t for one in responses if f"t{one.turn}" in labels for t in one.tokens)

    return given(responses).recognise(items, tokens)


def invented_call(items: list[Item], responses: list[Response]) -> Item | None:
    return given(responses).invented_call(items)


def user(text: str) -> Item:
    return Item(kind="user", path="messages[0]", text=text)


def called(call_id: str, reply: int = 0, name: str = "book") -> Item:
    return Item(kind="call", path="x", call_id=call_id, name=name, arguments="{}", reply=reply)


def result(call_id: str, text: str = "") -> Item:
    return Item(kind="result", path="x", call_id=call_id, text=text)


def said(text: str, reply: int = 0) -> Item:
    return Item(kind="say", path="x", text=text, reply=reply)


def test_a_first_request_asks_for_the_first_turn() -> None:
    assert recognise([user("Book it.")], []) == Recognised(0, "none")


def test_a_turn_is_recognised_by_the_ids_issued_for_it() -> None:
    seen = [response(1, "call_a")]
    items = [user("Book it."), called("call_a"), result("call_a")]
    assert recognise(items, seen) == Recognised(1, "ids")


def test_a_request_without_the_failed_response_asks_for_that_turn_again() -> None:
    seen = [response(1, "call_a"), response(2, "call_b")]
    items = [user("Book it."), called("call_a"), result("call_a")]
    assert recognise(items, seen) == Recognised(1, "ids")


def test_a_loop_that_starts_over_is_at_the_beginning() -> None:
    seen = [response(1, "call_a"), response(2, text="Done.")]
    assert recognise([user("Book it.")], seen) == Recognised(0, "none")


def test_any_attempt_of_a_turn_counts() -> None:
    seen = [response(1, "call_a"), response(1, "call_b")]
    assert recognise([user("x"), called("call_b"), result("call_b")], seen).turn == 1


def test_a_constant_id_is_counted_as_often_as_it_was_issued() -> None:
    seen = [response(1, "same"), response(2, "same")]
    once = [user("x"), called("same"), result("same")]
    twice = [*once, called("same", 1), result("same")]
    assert recognise(once, seen) == Recognised(1, "ids")
    assert recognise(twice, seen) == Recognised(2, "ids")


def test_an_empty_id_tells_as_much_as_any_other() -> None:
    seen = [response(1, "own"), response(2, ""), response(3, "")]
    first = [user("x"), called("own"), result("own")]
    second = [*first, called("", 1), result("")]
    assert recognise(first, seen) == Recognised(1, "ids")
    assert recognise(second, seen) == Recognised(2, "ids")
    assert recognise([*second, called("", 2), result("")], seen) == Recognised(3, "ids")


def test_attempts_of_one_turn_replace_one_another_in_that_count() -> None:
    seen = [response(1, "same"), response(1, "same"), response(2, "same")]
    twice = [user("x"), called("same"), result("same"), called("same", 1), result("same")]
    assert recognise(twice, seen) == Recognised(2, "ids")


def test_rewritten_ids_are_recognised_by_the_tokens_of_their_results() -> None:
    seen = [response(1, "call_a", tokens=("tk-1",))]
    items = [user("x"), called("rewritten"), result("rewritten", "seat 12 [tk-1]")]
    assert recognise(items, seen) == Recognised(1, "tokens")


def test_results_told_as_user_text_are_recognised_too() -> None:
    seen = [response(1, "call_a", tokens=("tk-1",))]
    assert recognise([user("x"), user("Observation: tk-1")], seen) == Recognised(1, "tokens")


def test_a_turn_without_calls_is_recognised_by_its_text() -> None:
    seen = [response(1, text="Which day?")]
    assert recognise([user("x"), said("Which day?"), user("Monday")], seen) == Recognised(1, "text")


def test_the_same_text_twice_is_counted() -> None:
    seen = [response(1, text="Again?"), response(2, text="Again?")]
    assert recognise([user("x"), said("Again?")], seen) == Recognised(1, "text")
    both = [user("x"), said("Again?"), said("Again?", 1)]
    assert recognise(both, seen) == Recognised(2, "text")


def test_a_rewritten_history_is_recognised_by_its_number_of_replies() -> None:
    seen = [response(1, "call_a"), response(2, "call_b")]
    items = [user("x"), said("summary", 0), said("more", 1), said("even more", 2)]
    assert recognise(items, seen) == Recognised(2, "count")


@hypothesis.given(st.integers(1, 6), st.data())
@hypothesis.settings(max_examples=60)
def test_a_faithful_loop_is_always_at_the_turn_behind_the_last(
    turns: int, data: st.DataObject
) -> None:
    """Whatever ids are issued, fresh or repeated, a client that keeps everything moves on."""
    ids = st.sampled_from(["a", "b", "c"])
    seen: list[Response] = []
    items: list[Item] = [user("go")]
    for turn in range(1, turns + 1):
        calls = data.draw(st.lists(ids, min_size=1, max_size=3))
        seen.append(response(turn, *calls))
        items += [called(call, turn - 1) for call in calls]
        items += [result(call) for call in calls]
        assert recognise(items, seen) == Recognised(turn, "ids")


def test_a_call_that_was_never_issued_is_found() -> None:
    invented = called("call_z", name="refund")
    assert invented_call([user("x"), invented], [response(1, "call_a")]) is invented


def test_a_rewritten_id_is_no_invention() -> None:
    assert invented_call([called("rewritten")], [response(1, "call_a")]) is None


def test_more_calls_of_a_tool_than_were_issued_are_an_invention() -> None:
    items = [called("one"), called("two")]
    assert invented_call(items, [response(1, "call_a")]) == items[1]


TOOLS = [OfferedTool(name="P-book", schema={})]


def test_the_task_begins_with_its_prompt_and_one_of_its_tools() -> None:
    wrapped = [user("Current task: Book it.")]
    assert asks_for_a_turn(wrapped, TOOLS, prompt="Book it.", tools=["book"])
    assert not asks_for_a_turn(wrapped, [], prompt="Book it.", tools=["book"])
    assert not asks_for_a_turn([user("Other")], TOOLS, prompt="Book it.", tools=["book"])


def test_without_tools_a_request_for_a_title_is_no_task() -> None:
    assert asks_for_a_turn([user(" Say hello. ")], [], prompt="Say hello.", tools=[])
    title = [user("Give a title to: Say hello.")]
    assert not asks_for_a_turn(title, [], prompt="Say hello.", tools=[])


def test_a_script_without_prompt_begins_with_any_request() -> None:
    assert asks_for_a_turn([], [], prompt=None, tools=["book"])


def test_a_look_costs_no_more_after_a_thousand_attempts() -> None:
    """Each attempt has ids of its own, and only the conversation is looked through."""
    made = Given()
    for number in range(1000):
        call = IssuedCall(
            label="book", tool="book", arguments="{}", call_id=f"call_{number}", item_id=""
        )
        made.add(1, [call])
    asked: list[Sequence[str]] = []

    def tokens(labels: Sequence[str]) -> frozenset[str]:
        asked.append(labels)
        return frozenset()

    assert made.recognise([user("x")], tokens) == Recognised(0, "none")
    assert asked == [("book",)]


def test_texts_and_ids_of_the_same_turn_are_told_as_ids() -> None:
    seen = [response(1, "call_a", text="One moment.")]
    assert recognise([said("One moment."), called("call_a")], seen) == Recognised(1, "ids")


def test_the_later_of_a_text_and_an_id_counts() -> None:
    seen = [response(1, "call_a"), response(2, text="Which day?")]
    items = [user("x"), called("call_a"), said("Which day?", 1)]
    assert recognise(items, seen) == Recognised(2, "text")


def test_an_id_of_three_turns_is_counted_through_all_of_them() -> None:
    seen = [response(1, "same", "same"), response(2, "same"), response(3, "same")]
    assert [
        recognise([user("x"), *[called("same")] * times], seen).turn for times in range(1, 6)
    ] == [1, 1, 2, 3, 3]


def test_what_attempts_issued_under_one_id_is_counted_at_its_most() -> None:
    seen = [response(1, "same", "same"), response(1, "same"), response(2, "same")]
    assert recognise([*[called("same")] * 2], seen).turn == 1
    assert recognise([*[called("same")] * 3], seen).turn == 2


def test_the_latest_turn_whose_token_is_told_counts() -> None:
    seen = [response(n, f"call_{n}", tokens=(f"tk-{n}",)) for n in (1, 2, 3)]
    assert recognise([user("tk-1, then tk-2")], seen) == Recognised(2, "tokens")


def test_a_token_tells_nothing_that_an_id_has_told() -> None:
    seen = [response(1, "call_a", tokens=("tk-1",))]
    items = [called("call_a"), result("call_a", "tk-1")]
    assert recognise(items, seen) == Recognised(1, "ids")


def test_what_a_response_says_in_several_items_is_one_text() -> None:
    seen = [response(1, text="Which day do you mean?")]
    parts = [said("Which day "), said("do you mean?")]
    assert recognise(parts, seen) == Recognised(1, "text")
    assert recognise([parts[0], said("do you mean?", 1)], seen) == Recognised(1, "count")


def test_a_reply_of_nothing_is_counted_once_something_was_given() -> None:
    assert recognise([said("Hello.")], []) == Recognised(0, "none")
    assert recognise([said("Hello.")], [response(1)]) == Recognised(1, "count")


def test_a_call_without_a_name_is_an_invention() -> None:
    nameless = Item(kind="call", path="x", call_id="call_z")
    assert invented_call([nameless], [response(1, "call_a")]) is nameless


def test_it_counts_what_a_look_could_find() -> None:
    made = Given()
    call = IssuedCall(label="book", tool="book", arguments="{}", call_id="a", item_id="")
    changes = [made.changes]
    for turn, calls, text in (
        (1, [], ""),
        (1, [], ""),
        (1, [], "Hello."),
        (1, [], " Hello. "),
        (1, [call], ""),
        (2, [call], "Hello."),
    ):
        made.add(turn, calls, text=text)
        changes.append(made.changes)
    assert changes == [0, 1, 1, 2, 2, 3, 6]


def test_without_calls_that_are_scripted_no_token_is_looked_for() -> None:
    made = Given()
    call = IssuedCall(label="book", tool="book", arguments="{}", call_id="a", item_id="")
    made.add(1, text="Hello.")
    made.add(2, [call], scripted=False)
    assert not made.looks_for_tokens
    made.add(1, [call])
    assert made.looks_for_tokens


def test_the_oldest_ids_and_texts_are_forgotten() -> None:
    made = given([response(n, f"call_{n}", text=f"text {n}") for n in (1, 2, 3)])
    before = made.changes
    made.forget(3)
    assert made.changes == before
    made.forget(2)
    assert made.changes == before + 1
    assert [made.has_issued(f"call_{n}") for n in (1, 2, 3)] == [False, True, True]
    looks = [made.recognise([said(f"text {n}")], lambda labels: frozenset()) for n in (1, 2)]
    assert looks == [Recognised(1, "count"), Recognised(2, "text")]


def test_texts_alone_are_forgotten_too() -> None:
    made = given([response(n, text=f"text {n}") for n in (1, 2)])
    before = made.changes
    made.forget(1)
    assert made.changes == before + 1
    assert made.recognise([said("text 1")], lambda labels: frozenset()).by == "count"


def test_ids_alone_are_forgotten_too() -> None:
    made = given([response(n, f"call_{n}") for n in (1, 2)])
    before = made.changes
    made.forget(1)
    assert (made.changes, made.has_issued("call_1")) == (before + 1, False)


def test_a_response_says_nothing_unless_it_is_told() -> None:
    made = Given()
    made.add(1)
    assert made.changes == 1
