from __future__ import annotations

import pytest
from sample_answers import PROMPT, read

from loopcheck.fake_providers.dialects import Memory
from loopcheck.fake_providers.dialects.messages import DIALECT
from loopcheck.fake_providers.wire import JsonObject

USER: JsonObject = {"role": "user", "content": PROMPT}


def uses(*ids: str, **fields: object) -> JsonObject:
    return {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": i, "name": "f", "input": {}, **fields} for i in ids],
    }


def results(*ids: str) -> JsonObject:
    return {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": i, "content": "ok"} for i in ids],
    }


def broken(history: list[JsonObject], memory: Memory | None = None) -> list[tuple[str, str]]:
    body = {"model": "m", "max_tokens": 9, "messages": history}
    got = read("messages", body)
    refusals = [
        (rule.id, rule.check(got.history, got.body, memory or Memory())) for rule in DIALECT.rules
    ]
    return [(name, error.message) for name, error in refusals if error is not None]


def test_the_rules_and_their_evidence() -> None:
    assert [(rule.id, rule.grade) for rule in DIALECT.rules] == [
        ("M1", "R"),
        ("M2", "R"),
        ("M5", "S"),
        ("M26", "S"),
    ]


@pytest.mark.parametrize(
    "history",
    [
        [USER],
        [USER, uses("a", "b"), results("b", "a")],
        [USER, uses("a", "b"), results("a"), results("b")],
        [USER, uses("a"), uses("b"), results("a", "b")],
        [USER, uses("a"), results("a"), uses("a"), results("a")],
        [USER, uses("a"), results("a"), USER],
    ],
)
def test_histories_that_break_no_rule(history: list[JsonObject]) -> None:
    assert broken(history) == []


@pytest.mark.parametrize(
    ("history", "place", "ids"),
    [
        ([USER, uses("a", "b", "c"), results("b")], "messages.1", "a, c"),
        ([USER, uses("a")], "messages.1", "a"),
        ([USER, uses("a"), USER], "messages.1", "a"),
        ([USER, uses("a", "a"), USER], "messages.1", "a"),
        ([USER, uses("a"), results("a"), uses("b"), USER, uses("c")], "messages.3", "b"),
    ],
)
def test_m1_calls_without_result_in_the_next_message(
    history: list[JsonObject], place: str, ids: str
) -> None:
    assert broken(history) == [
        (
            "M1",
            f"{place}: `tool_use` ids were found without `tool_result` blocks immediately after: "
            f"{ids}. Each `tool_use` block must have a corresponding `tool_result` block in the "
            "next message.",
        )
    ]


@pytest.mark.parametrize(
    ("history", "place"),
    [
        ([results("x")], "messages.0.content.0"),
        ([USER, uses("a"), results("a", "x")], "messages.2.content.1"),
        (
            [USER, uses("x"), results("x"), {"role": "assistant", "content": "k"}, results("x")],
            "messages.4.content.0",
        ),
    ],
)
def test_m2_a_result_without_call_in_the_message_before(
    history: list[JsonObject], place: str
) -> None:
    assert broken(history) == [
        (
            "M2",
            f"{place}: unexpected `tool_use_id` found in `tool_result` blocks: x. Each "
            "`tool_result` block must have a corresponding `tool_use` block in the previous "
            "message.",
        )
    ]


def test_a_result_that_comes_a_message_late_breaks_both() -> None:
    late: list[JsonObject] = [
        USER,
        uses("a"),
        USER,
        {"role": "assistant", "content": "Well."},
        results("a"),
    ]
    assert [name for name, _ in broken(late)] == ["M1", "M2"]


def test_m5_two_results_for_one_call() -> None:
    for history, place in [
        ([USER, uses("a"), results("a", "a")], "messages.2.content.1"),
        ([USER, uses("a"), results("a"), results("a")], "messages.3.content.0"),
    ]:
        message = (
            f"{place}: each tool_use must have a single result. Found multiple `tool_result` "
            "blocks with id: a"
        )
        assert broken(history) == [("M5", message)]


def test_m5_does_not_hold_repeated_ids_against_the_client() -> None:
    history = [USER, uses("a", "a", "b"), results("a", "a", "b")]
    assert broken(history, Memory(repeated={"a"})) == []
    assert [name for name, _ in broken(history, Memory(repeated={"b"}))] == ["M5"]


@pytest.mark.parametrize("value", [None, [], "{}"])
def test_m26_an_input_that_is_no_object(value: object) -> None:
    assert broken([USER, uses("a", input=value), results("a")]) == [
        ("M26", "messages.1.content.0.tool_use.input: Input should be an object")
    ]
