"""What comes back of thinking, judged against what was issued."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from messages_cases import USER, answers, asks, calls, judged, result, said, text, use, user
from sample_answers import PROMPT, answer, call, hosted, read, thought

from loopcheck.fake_providers.dialects import Memory
from loopcheck.fake_providers.dialects.messages import DIALECT
from loopcheck.fake_providers.script import Say, Stop
from loopcheck.fake_providers.wire import JsonObject, Piece

MANUAL: JsonObject = {"type": "enabled", "budget_tokens": 1024}
ADAPTIVE: JsonObject = {"type": "adaptive"}
OFF: JsonObject = {"type": "disabled"}
TURN: list[Piece] = [
    thought("a", "I need a seat."),
    thought("b", redacted=True),
    Say("I will."),
    call("one", "{}", tool="f"),
    thought("c", "And another."),
    call("two", "{}", tool="f"),
]
MODIFIED = (
    "{}: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be "
    "modified. These blocks must remain as they were in the original response."
)
NO_START = (
    "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `{}`. When "
    "`thinking` is enabled, a final `assistant` message must start with a thinking block "
    "(preceeding the lastmost set of `tool_use` and `tool_result` blocks). We recommend you "
    "include thinking blocks from previous turns. To avoid this requirement, disable `thinking`. "
    "Please consult our documentation at "
    "https://docs.claude.com/en/docs/build-with-claude/extended-thinking"
)


def given(
    pieces: Sequence[Piece],
    memory: Memory,
    response_id: str = "msg_1",
    *,
    stop: Stop = "calls",
    **asked: object,
) -> list[JsonObject]:
    """The content of this response, which the service remembers."""
    body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": PROMPT}]}
    reading = read("messages", {**body, **asked})
    issued = answer(pieces, to=reading, stop=stop, response_id=response_id)
    DIALECT.remember(issued, memory)
    content = DIALECT.whole(issued)["content"]
    assert isinstance(content, list)
    return content


def continued(*blocks: JsonObject, thinking: JsonObject = ADAPTIVE) -> JsonObject:
    """The request that answers the calls of this turn."""
    made = [block for block in blocks if block["type"] == "tool_use"]
    return asks(
        USER, said(*blocks), answers(*(str(block["id"]) for block in made)), thinking=thinking
    )


def outcome(body: JsonObject, memory: Memory) -> list[tuple[str, str]]:
    return [(rule, error.message) for rule, error in judged(body, memory)]


@pytest.mark.parametrize("thinking", [MANUAL, ADAPTIVE])
def test_a_turn_that_comes_back_as_it_was_issued_is_fine(thinking: JsonObject) -> None:
    memory = Memory()
    content = given(TURN, memory)
    assert outcome(continued(*content, thinking=thinking), memory) == []
    rewritten = [{**b, "id": f"x{n}"} if "id" in b else b for n, b in enumerate(content)]
    assert outcome(continued(*rewritten, thinking=thinking), memory) == []


@pytest.mark.parametrize(
    ("order", "place"),
    [
        ([1, 2, 3, 4, 5], 1),
        ([1, 0, 2, 3, 4, 5], 0),
        ([0, 1, 2, 3, 5], 1),
        ([0, 1, 4, 2, 3, 5], 2),
        ([0, 1, 2, 3, 5, 4], 5),
        ([0, 0, 1, 2, 3, 4, 5], 1),
    ],
)
def test_m14_thoughts_may_not_be_dropped_moved_or_doubled(order: list[int], place: int) -> None:
    memory = Memory()
    content = given(TURN, memory)
    found = outcome(continued(*(content[index] for index in order)), memory)
    assert [rule for rule, _ in found] == ["M14"]
    if order[:2] in ([1, 0], [0, 0]):
        assert found == [("M14", MODIFIED.format(f"messages.1.content.{place}"))]


def test_m14_thoughts_are_compared_byte_by_byte() -> None:
    memory = Memory()
    content = given(TURN, memory)
    for text_then in ("I need a seat", "I need a seat. ", "I need a seat.\n"):
        changed = [{**content[0], "thinking": text_then}, *content[1:]]
        assert outcome(continued(*changed), memory) == [
            ("M14", MODIFIED.format("messages.1.content.0"))
        ]


@pytest.mark.parametrize(
    ("place", "field", "kind"),
    [(0, "signature", "thinking"), (1, "data", "redacted_thinking")],
)
@pytest.mark.parametrize("value", ["", "sig", "x" * 88])
def test_m13_a_seal_that_was_never_issued(place: int, field: str, kind: str, value: str) -> None:
    memory = Memory()
    content = given(TURN, memory)
    content[place] = {**content[place], field: value}
    message = f"messages.1.content.{place}: Invalid `{field}` in `{kind}` block"
    assert outcome(continued(*content), memory)[0] == ("M13", message)


def test_m13_a_seal_of_a_response_that_never_arrived_whole_is_fine() -> None:
    memory = Memory()
    given([thought("a", "Hm."), call("one", "{}")], memory)
    [partial] = given([thought("lost", "Hm.")], Memory())
    assert outcome(asks(USER, said(partial, text("Well.")), USER), memory) == []


def test_m13_seals_from_elsewhere_cannot_be_judged() -> None:
    foreign: JsonObject = {"type": "thinking", "thinking": "Hm.", "signature": "from elsewhere"}
    assert outcome(asks(USER, said(foreign, text("Well.")), USER), Memory()) == []
    assert [r for r, _ in outcome(asks(USER, said({**foreign, "signature": ""})), Memory())] == [
        "M13"
    ]


def test_thinking_of_earlier_turns_may_be_left_out() -> None:
    memory = Memory()
    first = given(TURN, memory)
    second = given([thought("d", "Done?"), call("three", "{}")], memory, "msg_2")
    bare = [block for block in first if "thinking" not in str(block["type"])]
    history = [USER, said(*bare), answers("toolu_one", "toolu_two"), said(*second)]
    body = asks(*history, answers("toolu_three"), thinking=ADAPTIVE)
    assert outcome(body, memory) == []
    assert outcome(asks(USER, said(first[0], text("I did.")), USER), memory) == []


def test_m11_the_running_turn_has_to_begin_with_its_thinking() -> None:
    memory = Memory()
    content = given(TURN, memory)
    bare = [block for block in content if "thinking" not in str(block["type"])]
    assert outcome(continued(*bare, thinking=MANUAL), memory) == [("M11", NO_START.format("text"))]
    assert outcome(continued(*bare[1:], thinking=MANUAL), memory) == [
        ("M11", NO_START.format("tool_use"))
    ]
    assert outcome(continued(*bare), memory) == []
    assert outcome(asks(USER, said(*bare[:1]), USER, thinking=MANUAL), memory) == []


def test_m11_a_response_without_thinking_is_not_held_against_the_client() -> None:
    memory = Memory()
    content = given([call("one", "{}"), thought("a")], memory)
    assert outcome(continued(*content, thinking=MANUAL), memory) == []
    assert outcome(continued(use("rewritten"), thinking=MANUAL), memory) == []


def test_m11_counts_by_the_letter_where_nothing_was_issued() -> None:
    turn = [USER, calls("a"), answers("a")]
    assert [rule for rule, _ in judged(asks(*turn, thinking=MANUAL))] == ["M11"]
    thinks: JsonObject = {"type": "redacted_thinking", "data": "x"}
    steps = [USER, said(thinks, use("a")), answers("a"), calls("b"), answers("b")]
    assert judged(asks(*steps, thinking=MANUAL)) == []


def test_m12_thinking_may_not_be_switched_off_within_a_turn() -> None:
    memory = Memory()
    content = given(TURN, memory, thinking=ADAPTIVE)
    message = (
        "messages.1.content.0: When thinking is disabled, an `assistant` message in the final "
        "position cannot contain `thinking`. To use thinking blocks, enable `thinking` in your "
        "request."
    )
    assert outcome(continued(*content, thinking=OFF), memory) == [("M12", message)]
    unasked = {**continued(*content), "model": "claude-sonnet-4-5"}
    del unasked["thinking"]
    assert outcome(unasked, memory) == [("M12", message)]
    assert outcome({**unasked, "model": "claude-sonnet-5"}, memory) == []
    assert outcome(asks(USER, said(*content[:3]), USER, thinking=OFF), memory) == []


def test_m12_thinking_that_came_unasked_is_not_held_against_the_client() -> None:
    memory = Memory()
    content = given(TURN, memory, thinking=OFF)
    assert outcome(continued(*content, thinking=OFF), memory) == []


def test_a_paused_turn_keeps_its_thinking_in_all_its_parts() -> None:
    memory = Memory()
    first = given([thought("a", "Hm."), hosted("look")], memory, stop="pause")
    second = given([thought("b", "So."), call("one", "{}")], memory, "msg_2")
    whole = [USER, said(*first), said(*second), user(result("toolu_one"))]
    assert outcome(asks(*whole, thinking=ADAPTIVE), memory) == []
    assert outcome(asks(USER, said(*first), thinking=ADAPTIVE), memory) == []
    less = [USER, said(first[1]), said(*second), user(result("toolu_one"))]
    assert [rule for rule, _ in outcome(asks(*less, thinking=ADAPTIVE), memory)] == ["M14"]


def test_ids_that_the_fake_repeated_name_no_response() -> None:
    memory = Memory(repeated={"toolu_one"})
    given([thought("a", "Hm."), call("one", "{}")], memory)
    second = given([thought("b", "So."), call("one", "{}")], memory, "msg_2")
    assert outcome(continued(*second), memory) == []
