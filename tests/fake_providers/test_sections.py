from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from loopcheck.fake_providers.script import EarlierText, Lane, Say, Script, Section, Turn, answer
from loopcheck.fake_providers.sections import asked_in, lane_of, without_earlier
from loopcheck.fake_providers.wire import Item, OfferedTool, Reading

PROMPT = "Book seat 12."


def script(*parts: tuple[str, int, bool], first: int = 2, otherwise: int = 1) -> Script:
    """A script whose prompt has so many turns, and further parts: text, turns, own history."""
    later: list[Section] = []
    turns = first
    for number, (text, count, fresh) in enumerate(parts, 1):
        later.append(
            Section(number=number, text=text, first=turns + 1, last=turns + count, fresh=fresh)
        )
        turns += count
    return Script(
        turns=tuple(turn(number) for number in range(1, turns + 1)),
        otherwise=tuple(turn(turns + extra) for extra in range(1, otherwise + 1)),
        prompt=PROMPT,
        later=tuple(later),
    )


def turn(number: int) -> Turn:
    return Turn(number=number, attempts=(answer([Say(f"turn {number}")]),))


def said(kind: str, text: str) -> Item:
    return Item(kind="user" if kind == "user" else "say", path=kind, text=text)


def talk(*texts: str) -> list[Item]:
    """A conversation in which the user begins and the model answers."""
    kinds = ("user", "say")
    return [said(kinds[number % 2], text) for number, text in enumerate(texts)]


def part(sections: tuple[Section, ...], items: list[Item], begun: int) -> tuple[int, int]:
    """Number of the part that is asked in, and how many items count."""
    section, held = asked_in(sections, items, begun)
    return section.number, len(held)


class TestWhichPart:
    def test_without_further_parts_it_is_the_first(self) -> None:
        assert part(script().sections, talk(PROMPT, "turn 1"), 1) == (0, 2)

    def test_a_further_message_is_asked_with_what_stands_behind_it(self) -> None:
        sections = script(("And 13?", 1, False)).sections
        items = talk(PROMPT, "turn 1", "And 13?", "turn 3")
        assert part(sections, items, 2) == (1, 2)

    def test_it_has_to_have_been_said(self) -> None:
        sections = script(("And 13?", 1, False)).sections
        items = talk(PROMPT, "turn 1", "And 13?")
        assert part(sections, items, 1) == (0, 3)

    def test_a_request_of_before_stays_where_it_was(self) -> None:
        sections = script(("And 13?", 1, False)).sections
        assert part(sections, talk(PROMPT, "turn 1"), 2) == (0, 2)

    def test_another_run_has_a_history_of_its_own(self) -> None:
        sections = script(("Again.", 1, True)).sections
        assert part(sections, talk("Again.", "turn 3"), 2) == (1, 2)

    def test_a_loop_may_wrap_what_is_said(self) -> None:
        sections = script(("And 13?", 1, False)).sections
        items = talk(PROMPT, "turn 1", "<user>And 13?</user>")
        assert part(sections, items, 2) == (1, 1)

    def test_only_the_user_says_it(self) -> None:
        sections = script(("And 13?", 1, False)).sections
        assert part(sections, talk(PROMPT, "And 13?"), 2) == (0, 2)

    def test_the_same_words_twice_are_the_later_part(self) -> None:
        sections = script(("More.", 1, False), ("More.", 1, False)).sections
        items = talk(PROMPT, "turn 1", "More.", "turn 3", "More.")
        assert part(sections, items, 2) == (1, 1)
        assert part(sections, items, 3) == (2, 1)


class TestWhichTurn:
    def test_one_follows_the_other_within_a_part(self) -> None:
        case = script(("And 13?", 2, False))
        first, second = case.sections
        assert [case.after(latest, first) for latest in (0, 1)] == [1, 2]
        assert [case.after(latest, second) for latest in (0, 3)] == [3, 4]

    def test_a_part_begins_with_its_own_first_turn_whatever_was_left_before(self) -> None:
        case = script(("And 13?", 1, False))
        assert case.after(1, case.sections[1]) == 3

    def test_behind_its_turns_a_part_goes_on_with_what_answers_everything(self) -> None:
        """Three turns and two parts: beyond the script, every second number is of one part."""
        case = script(("And 13?", 1, False), otherwise=2)
        first, second = case.sections
        assert case.after(2, first) == 4
        assert case.after(4, first) == 6
        assert case.after(3, second) == 5
        assert case.after(5, second) == 7
        texts = [case.turn(number).attempts[0].text for number in (4, 6, 8, 5, 7, 9)]
        assert texts == ["turn 4", "turn 5", "turn 4", "turn 4", "turn 5", "turn 4"]

    def test_a_part_without_turns_is_answered_all_the_same(self) -> None:
        case = script(("Thanks.", 0, False))
        assert case.after(0, case.sections[1]) == 4
        assert case.after(4, case.sections[1]) == 6

    def test_without_further_parts_the_numbers_go_on(self) -> None:
        case = script()
        (only,) = case.sections
        assert [case.after(latest, only) for latest in range(5)] == [1, 2, 3, 4, 5]


@given(
    counts=st.lists(st.integers(0, 3), min_size=1, max_size=4),
    asks=st.lists(st.integers(0, 3), max_size=25),
    otherwise=st.integers(1, 3),
)
def test_every_part_is_answered_in_its_own_order(
    counts: list[int], asks: list[int], otherwise: int
) -> None:
    """Whatever the order in which the parts ask, and however far beyond the script."""
    first, *rest = counts
    parts = [(f"part {n}", count, True) for n, count in enumerate(rest, 1)]
    case = script(*parts, first=first, otherwise=otherwise)
    latest = dict.fromkeys(range(len(counts)), 0)
    given_turns: dict[int, list[int]] = {number: [] for number in latest}
    for ask in asks:
        section = case.sections[ask % len(counts)]
        number = case.after(latest[section.number], section)
        latest[section.number] = number
        given_turns[section.number].append(number)
    flat = [number for numbers in given_turns.values() for number in numbers]
    assert len(set(flat)) == len(flat)
    for section in case.sections:
        numbers = given_turns[section.number]
        own = list(range(section.first, section.last + 1))
        scripted = numbers[: len(own)]
        assert scripted == own[: len(scripted)]
        beyond = [case.turn(number).attempts for number in numbers[len(own) :]]
        assert beyond == [case.otherwise[n % otherwise].attempts for n in range(len(beyond))]


class TestWhatWasSaidEarlier:
    EARLIER: tuple[EarlierText, ...] = (("user", "Hello"), ("assistant", "turn 1"))

    def left(self, *texts: str) -> list[str]:
        items = talk(*texts)
        return [item.text for item in without_earlier(items, self.EARLIER, PROMPT)]

    def test_it_is_no_part_of_the_task(self) -> None:
        assert self.left("Hello", "turn 1", PROMPT, "turn 1") == [PROMPT, "turn 1"]

    def test_its_beginning_may_be_lost(self) -> None:
        items = [said("say", "turn 1"), *talk(PROMPT, "turn 1")]
        assert list(without_earlier(items, self.EARLIER, PROMPT)) == items[1:]

    def test_what_the_prompt_does_not_follow_was_said_in_the_task(self) -> None:
        assert self.left("Hello", "turn 1") == ["Hello", "turn 1"]
        assert self.left(PROMPT, "turn 1", "And 13?") == [PROMPT, "turn 1", "And 13?"]

    def test_system_messages_stay(self) -> None:
        system = Item(kind="system", path="system", text="Be kind.")
        items = [system, *talk("Hello", "turn 1", PROMPT)]
        assert list(without_earlier(items, self.EARLIER, PROMPT)) == [system, items[-1]]

    def test_without_anything_earlier_nothing_is_left_out(self) -> None:
        items = talk("Hello", "turn 1", PROMPT)
        assert list(without_earlier(items, (), PROMPT)) == items


class TestLanes:
    LANES = (
        Lane(name="both", first=2, last=2, model="small-*", tools=frozenset({"look"})),
        Lane(name="small", first=3, last=3, model="small-*"),
        Lane(name="looks", first=4, last=4, tools=frozenset({"look"})),
        Lane(name="none", first=5, last=5, tools=frozenset()),
    )

    def claimed(self, model: str, *tools: str) -> int | None:
        """The first turn of the lane that claims such a request."""
        asked = Reading(
            dialect="chat",
            model=model,
            stream=False,
            items=(),
            history=(),
            tools=tuple(OfferedTool(name=name, schema={}) for name in tools),
            body={},
        )
        turns = tuple(turn(number) for number in range(1, 6))
        made = Script(
            turns=turns, otherwise=turns, prompt=PROMPT, tools=("look", "book"), lanes=self.LANES
        )
        section = lane_of(made, asked)
        return None if section is None else section.first

    def test_the_first_that_fits_claims_a_request(self) -> None:
        assert self.claimed("small-1", "look") == 2
        assert self.claimed("small-1", "look", "book") == 3
        assert self.claimed("large", "look") == 4

    def test_tools_are_just_these_of_the_script(self) -> None:
        assert self.claimed("large", "ns__look", "transfer_to_other") == 4
        assert self.claimed("large", "transfer_to_other") == 5
        assert self.claimed("large", "look", "book") is None
