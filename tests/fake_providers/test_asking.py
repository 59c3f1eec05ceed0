"""What a request asks for, by what was given: which turn, in which conversation of the run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import pytest

from loopcheck.fake_providers.asking import Asking
from loopcheck.fake_providers.known import Known
from loopcheck.fake_providers.script import (
    Call,
    EarlierText,
    Lane,
    Say,
    Script,
    Section,
    Turn,
    answer,
)
from loopcheck.fake_providers.turns import Recognised
from loopcheck.fake_providers.wire import HttpRequest, IssuedCall, Item, OfferedTool, Reading

PROMPT = "Book seat 12."
BOOK = OfferedTool(name="book", schema={})


def script(turns: int = 3, **more: object) -> Script:
    booking = Call(label="book", tool="book", arguments="{}")
    made = Script(
        turns=tuple(Turn(number=n, attempts=(answer([booking]),)) for n in range(1, turns + 1)),
        otherwise=(Turn(number=turns + 1, attempts=(answer([Say("Nothing is left.")]),)),),
        prompt=PROMPT,
        tools=("book",),
    )
    return replace(made, **more)  # type: ignore[arg-type]


def user(text: str = PROMPT) -> Item:
    return Item(kind="user", path="messages[0]", text=text)


def said(text: str, reply: int = 0) -> Item:
    return Item(kind="say", path="messages[1]", text=text, reply=reply)


def called(*ids: str, name: str = "book") -> list[Item]:
    return [
        Item(kind="call", path=f"calls[{place}]", call_id=one, name=name, reply=place)
        for place, one in enumerate(ids)
    ]


def result(text: str) -> Item:
    return Item(kind="result", path="messages[2]", call_id="?", text=text)


def issued(call_id: str, label: str = "book") -> IssuedCall:
    return IssuedCall(label=label, tool="book", arguments="{}", call_id=call_id, item_id="")


@dataclass
class Service:
    """What stands around the memory of a case."""

    tokens: Mapping[str, str] = field(default_factory=dict)
    begun: int = 1
    looks: int = 0

    def asking(self, script: Script) -> Asking:
        return Asking(
            script=script, tokens=self.look, begun=lambda: self.begun, rivals=lambda: False
        )

    def look(self, labels: Sequence[str]) -> frozenset[str]:
        self.looks += 1
        return frozenset(self.tokens[label] for label in labels if label in self.tokens)


def reading(*items: Item, model: str = "m", tools: Sequence[OfferedTool] = (BOOK,)) -> Reading:
    return Reading(
        dialect="chat",
        model=model,
        stream=False,
        items=items,
        history=(),
        tools=tuple(tools),
        body={},
    )


def known(*items: Item, model: str = "m", tools: Sequence[OfferedTool] = (BOOK,)) -> Known:
    request = HttpRequest(method="POST", path="/")
    return Known(request, reading(*items, model=model, tools=tools))


def turn_of(asking: Asking, *items: Item, model: str = "m") -> int | None:
    return asking.of(known(*items, model=model)).turn


class TestTurn:
    def test_the_prompt_asks_for_the_first(self) -> None:
        asked = Service().asking(script()).of(known(user()))
        assert (asked.found, asked.turn, asked.invented) == (Recognised(0, "none"), 1, None)

    def test_without_the_tools_of_the_task_it_asks_for_none(self) -> None:
        asking = Service().asking(script())
        assert asking.of(known(user(), tools=())).turn is None
        assert asking.of(known(user(), tools=[OfferedTool(name="other", schema={})])).turn is None

    def test_what_continues_the_first_turn_needs_neither_prompt_nor_tools(self) -> None:
        asking = Service().asking(script())
        asking.given(1, 1, [issued("id1")], text="")
        assert asking.of(known(*called("id1"), tools=())).turn == 2

    def test_replies_alone_continue_nothing(self) -> None:
        """A look-up of a title holds replies, too: only with the task do they count."""
        asking = Service().asking(script())
        asking.given(1, 1, [issued("id1")], text="")
        aside = asking.of(known(user("Give it a title."), said("summary")))
        task = asking.of(known(user(), said("summary")))
        assert (aside.found, aside.turn) == (Recognised(1, "count"), None)
        assert (task.found, task.turn) == (Recognised(1, "count"), 2)

    def test_a_text_continues_its_turn(self) -> None:
        asking = Service().asking(script())
        asking.given(1, 1, [], text="Which day?")
        assert turn_of(asking, user(), said("Which day?"), user("Monday.")) == 2


class TestKnownRequests:
    def test_what_nothing_could_change_is_found_once(self) -> None:
        asking = Service().asking(script())
        one = known(user(), said("Which day?"))
        assert asking.of(one) is asking.of(one)

    def test_what_was_given_since_is_looked_at(self) -> None:
        asking = Service().asking(script())
        one = known(user(), said("Which day?"))
        assert asking.of(one).turn == 1
        asking.given(1, 1, [], text="Which day?")
        assert asking.of(one).turn == 2
        assert asking.of(one) is asking.of(one)

    def test_a_further_text_for_the_same_turn_counts_as_given(self) -> None:
        asking = Service().asking(script())
        one = known(user(), said("Really?"))
        asking.given(1, 1, [], text="Which day?")
        assert asking.of(one).found == Recognised(1, "count")
        asking.given(1, 2, [], text="Really?")
        assert asking.of(one).found == Recognised(1, "text")

    def test_what_has_begun_since_is_looked_at(self) -> None:
        service = Service()
        later = Section(number=1, text="And 13?", first=2, last=3, fresh=False)
        asking = service.asking(script(later=(later,)))
        one = known(user(), user("And 13?"))
        assert asking.of(one).turn == 1
        service.begun = 2
        assert asking.of(one).turn == 2

    def test_tokens_may_come_at_any_time(self) -> None:
        service = Service()
        asking = service.asking(script())
        asking.given(1, 1, [issued("id1")], text="")
        one = known(user(), *called("rewritten"), result("booked [tk-1]"))
        assert asking.of(one).found == Recognised(1, "count")
        service.tokens = {"book": "tk-1"}
        assert asking.of(one).found == Recognised(1, "tokens")


class TestBeyondTheScript:
    def test_tokens_of_its_labels_tell_nothing(self) -> None:
        """The turns that answer for ever repeat their labels."""
        service = Service({"book": "tk-1"})
        asking = service.asking(script(turns=1))
        asking.given(2, 1, [issued("id2")], text="")
        assert asking.of(known(user(), result("booked [tk-1]"))).found == Recognised(0, "none")
        assert service.looks == 0

    def test_those_of_the_last_turn_do(self) -> None:
        asking = Service({"book": "tk-1"}).asking(script(turns=1))
        asking.given(1, 1, [issued("id1")], text="")
        assert asking.of(known(user(), result("booked [tk-1]"))).found == Recognised(1, "tokens")


class TestParts:
    LATER = Section(number=1, text="And 13?", first=2, last=3, fresh=False)

    def test_a_part_is_asked_for_once_it_has_begun(self) -> None:
        service = Service()
        asking = service.asking(script(later=(self.LATER,)))
        items = (user(), *called("id1"), user("And 13?"))
        asking.given(1, 1, [issued("id1")], text="")
        assert turn_of(asking, *items) == 4  # the first part is over: what answers for ever
        service.begun = 2
        assert turn_of(asking, *items) == 2

    def test_a_script_that_is_followed_brings_its_parts(self) -> None:
        asking = Service(begun=2).asking(script())
        asking.follow(script(later=(self.LATER,)))
        assert turn_of(asking, user(), user("And 13?")) == 2

    def test_lanes_are_no_parts_that_begin(self) -> None:
        lane = Lane(name="side", first=3, last=3, model="small")
        asking = Service(begun=3).asking(script(lanes=(lane,)))
        assert turn_of(asking, user()) == 1


class TestEarlier:
    EARLIER: tuple[EarlierText, ...] = (("user", "Hello."), ("assistant", "Which day?"))

    def test_what_was_said_before_the_task_continues_nothing(self) -> None:
        asking = Service().asking(script(earlier=self.EARLIER))
        asking.given(1, 1, [], text="Which day?")
        assert turn_of(asking, user("Hello."), said("Which day?"), user()) == 1

    def test_what_the_prompt_does_not_follow_was_said_in_the_task(self) -> None:
        asking = Service().asking(script(earlier=self.EARLIER))
        asking.given(1, 1, [], text="Which day?")
        items = (user("Hello."), said("Which day?"), user("Monday."), user())
        assert turn_of(asking, *items) == 2


class TestLanes:
    """Turn 1 is asked for by the prompt; turns 2 and 3 are each a lane of its own."""

    LANES = (
        Lane(name="left", first=2, last=2, model="left-*"),
        Lane(name="right", first=3, last=3, model="right-*"),
    )

    def test_a_lane_has_its_own_turns(self) -> None:
        asking = Service().asking(script(lanes=self.LANES))
        assert turn_of(asking, user(), model="left-1") == 2
        assert turn_of(asking, user(), model="right-1") == 3
        assert turn_of(asking, user()) == 1

    def test_what_one_lane_was_given_continues_no_other(self) -> None:
        """Both say the same, under the same id."""
        asking = Service().asking(script(lanes=self.LANES))
        asking.given(2, 1, [issued("same")], text="Which day?")
        items = (user(), *called("same"))
        left, right = (asking.of(known(*items, model=one)) for one in ("left-1", "right-1"))
        main = asking.of(known(*items))
        assert (left.found, left.turn) == (Recognised(2, "ids"), 5)
        assert (right.found, right.turn) == (Recognised(0, "none"), 3)
        assert (main.found, main.turn) == (Recognised(0, "none"), 1)
        assert (left.invented, right.invented) == (None, None)

    def test_so_it_is_with_its_texts(self) -> None:
        asking = Service().asking(script(lanes=self.LANES))
        asking.given(3, 1, [], text="Which day?")
        items = (user(), said("Which day?"))
        assert asking.of(known(*items, model="right-1")).found == Recognised(3, "text")
        assert asking.of(known(*items, model="left-1")).found == Recognised(0, "none")

    def test_so_it_is_with_the_tokens_of_its_results(self) -> None:
        asking = Service({"book": "tk-1"}).asking(script(lanes=self.LANES))
        asking.given(2, 1, [issued("id1")], text="")
        items = (user(), result("booked [tk-1]"))
        assert asking.of(known(*items, model="left-1")).found == Recognised(2, "tokens")
        assert asking.of(known(*items, model="right-1")).found == Recognised(0, "none")

    def test_tokens_tell_nothing_of_what_a_lane_is_given_beyond_the_script(self) -> None:
        asking = Service({"book": "tk-1"}).asking(script(lanes=self.LANES))
        asking.given(5, 1, [issued("id1")], text="")
        items = (user(), result("booked [tk-1]"))
        assert asking.of(known(*items, model="left-1")).found == Recognised(0, "none")

    def test_what_no_lane_claims_has_a_memory_of_its_own(self) -> None:
        asking = Service().asking(script(lanes=self.LANES))
        asking.given(1, 1, [issued("id1")], text="")
        assert asking.of(known(user(), *called("id1"))).found == Recognised(1, "ids")
        assert asking.of(known(user(), *called("id1"), model="left-1")).found.turn == 0

    def test_a_part_that_is_no_lane_shares_the_memory_of_the_task(self) -> None:
        later = Section(number=1, text="And 13?", first=2, last=2, fresh=False)
        lane = Lane(name="side", first=3, last=3, model="side")
        asking = Service(begun=2).asking(script(later=(later,), lanes=(lane,)))
        asking.given(2, 1, [issued("id2")], text="")
        items = (user(), user("And 13?"), *called("id2"))
        assert asking.of(known(*items)).found == Recognised(2, "ids")
        assert asking.of(known(*items, model="side")).found == Recognised(0, "none")


class TestDivergence:
    def test_a_call_that_was_never_issued(self) -> None:
        asking = Service().asking(script())
        one = known(user(), *called("call_x", name="refund"))
        assert asking.divergence(asking.of(one), one.reading) == (
            "the call of 'refund' with id 'call_x' at calls[0] was never issued in this case"
        )

    def test_two_attempts_that_are_both_gone_on_from(self) -> None:
        asking = Service().asking(script())
        whys = []
        for attempt in (1, 2):
            asking.given(1, attempt, [issued(f"id{attempt}")], text="")
        for attempt in (1, 2):
            one = known(user(), *called(f"id{attempt}"))
            whys.append(asking.divergence(asking.of(one), one.reading))
        assert whys == [
            None,
            "two conversations go on at once, from attempts 1 and 2 of turn 1, "
            "and the scenario declares no lanes for them",
        ]

    def test_none_where_it_continues_what_was_said(self) -> None:
        asking = Service().asking(script())
        asking.given(1, 1, [issued("id1")], text="")
        one = known(user(), *called("id1"))
        assert asking.divergence(asking.of(one), one.reading) is None


class TestMemory:
    def test_it_tells_which_ids_were_issued(self) -> None:
        asking = Service().asking(script())
        asking.given(1, 1, [issued("id1")], text="")
        assert (asking.has_issued("id1"), asking.has_issued("id2")) == (True, False)

    @pytest.mark.parametrize(("keep", "by"), [(2, "ids"), (1, "count")])
    def test_the_oldest_is_forgotten(self, keep: int, by: str) -> None:
        asking = Service().asking(script())
        asking.given(1, 1, [issued("id1")], text="")
        asking.given(2, 1, [issued("id2")], text="")
        asking.forget(keep)
        assert asking.has_issued("id1") is (keep == 2)
        assert asking.of(known(user(), *called("id1"))).found.by == by

    def test_nobody_is_held_to_what_was_forgotten(self) -> None:
        asking = Service().asking(script())
        for attempt in (1, 2):
            asking.given(1, attempt, [issued(f"id{attempt}")], text="")
        first = known(user(), *called("id1"))
        assert asking.divergence(asking.of(first), first.reading) is None
        asking.forget(0)
        assert asking._branches.fork(1, called("id2")) is None
