"""correlation.own-result: on journals written by hand."""

from __future__ import annotations

import pytest
from journals import Json, Written, call, levels, one_round, scenario

pytestmark = pytest.mark.usefixtures("every_word")

SKY: Json = {"city": "Basel"}
SEA: Json = {"city": "Brest"}


def weather(*calls: Json) -> tuple[Written, list[str]]:
    journal = one_round(*calls)
    results = [journal.execute("get_weather", {"city": city}) for city in ("Basel", "Brest")]
    journal.carry()
    return journal, results


def test_swapped_results_fail() -> None:
    journal, (basel, brest) = weather(
        call("sky", "get_weather", SKY), call("sea", "get_weather", SEA)
    )
    journal.result("call_sky", brest)
    journal.result("call_sea", basel)
    journal.ask(2)
    result = journal.check("correlation.own-result")
    assert result.status == "fail"
    first, second = result.findings
    assert first.expected == "the result of call sky under 'call_sky'"
    assert first.seen == ("that of call sea in request 2: '" + brest.replace("'", "") + "'")
    assert first.entries == (8, 6)
    assert second.entries == (8, 4)


def test_wrapped_results_and_errors_pass() -> None:
    journal, (basel, _) = weather(call("sky", "get_weather", SKY), call("sea", "get_weather", SEA))
    journal.result("call_sky", f"Result:\n{basel}\n(end)")
    journal.result("call_sea", "Error: timeout")
    journal.ask(2)
    assert levels(journal.check("correlation.own-result")) == []


def test_a_result_with_two_tokens_fails() -> None:
    journal, (basel, brest) = weather(
        call("sky", "get_weather", SKY), call("sea", "get_weather", SEA)
    )
    journal.result("call_sky", basel + brest)
    journal.result("call_sea", brest)
    journal.ask(2)
    assert levels(journal.check("correlation.own-result")) == ["must"]


def test_equal_calls_may_share_a_result_but_should_not() -> None:
    twins = (call("a", "get_weather", SKY), call("b", "get_weather", SKY))
    for runs, expected in ((1, []), (2, ["should"])):
        journal = one_round(*twins)
        results = [journal.execute("get_weather", dict(SKY)) for _ in range(runs)]
        journal.carry()
        journal.result("call_a", results[0])
        journal.result("call_b", results[0])
        journal.ask(2)
        assert levels(journal.check("correlation.own-result")) == expected


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_an_id_that_was_repeated_does_not_say_which_is_which(order: tuple[int, int]) -> None:
    journal, results = weather(
        call("sky", "get_weather", SKY, call_id="x"), call("sea", "get_weather", SEA, call_id="x")
    )
    for place in order:
        journal.result("x", results[place])
    journal.ask(2)
    assert levels(journal.check("correlation.own-result")) == []


def test_a_repeated_id_needs_the_result_of_each() -> None:
    journal, (basel, _) = weather(
        call("sky", "get_weather", SKY, call_id="x"), call("sea", "get_weather", SEA, call_id="x")
    )
    journal.result("x", basel)
    journal.result("x", basel)
    journal.ask(2)
    assert levels(journal.check("correlation.own-result")) == ["must"]


def test_an_id_of_an_earlier_turn_keeps_each_result_apart() -> None:
    journal = one_round(call("sky", "get_weather", SKY, call_id="x"))
    basel = journal.execute("get_weather", dict(SKY))
    journal.carry()
    journal.result("x", basel)
    journal.ask(2)
    journal.answer(call("sea", "get_weather", SEA, call_id="x"))
    journal.execute("get_weather", dict(SEA))
    journal.carry()
    journal.result("x", basel)
    journal.ask(3)
    (finding,) = journal.check("correlation.own-result").findings
    assert finding.expected == "the result of call sea under 'x'"


def test_the_result_of_an_execution_that_went_astray_is_no_mix_up() -> None:
    journal = one_round(call("sky", "get_weather", SKY))
    result = journal.execute("get_weather", {"city": "Bas"})
    journal.carry()
    journal.result("call_sky", result)
    journal.ask(2)
    assert levels(journal.check("correlation.own-result")) == []
    assert levels(journal.check("execution.exact-arguments")) == ["must"]


@pytest.mark.parametrize(
    ("kept", "changed"), [(SKY, "sea"), (SEA, "sky")], ids=["first-twice", "last-twice"]
)
def test_a_call_that_took_the_arguments_of_another_is_named(kept: Json, changed: str) -> None:
    journal, results = weather(
        call("sky", "get_weather", SKY, call_id="x"), call("sea", "get_weather", SEA, call_id="x")
    )
    journal.items = [item for item in journal.items if item["kind"] != "call"]
    journal.carry(*(call("any", "get_weather", kept, call_id="x") for _ in range(2)))
    for result in results:
        journal.result("x", result)
    journal.ask(2)
    (finding,) = journal.check("correlation.known-id").findings
    assert finding.expected.endswith(f"for call {changed}")
    assert levels(journal.check("correlation.own-result")) == []


def test_a_long_result_of_another_call_is_shown_in_short() -> None:
    journal, (basel, brest) = weather(
        call("sky", "get_weather", SKY), call("sea", "get_weather", SEA)
    )
    journal.result("call_sky", f"{'z' * 90}{brest}")
    journal.result("call_sea", basel)
    journal.ask(2)
    first, _ = journal.check("correlation.own-result").findings
    assert first.seen.endswith(f"'{'z' * 37} ... zzzzz{brest}'")


def test_of_several_results_under_one_id_the_foreign_one_is_named() -> None:
    """The first could be either's; the third is that of a call with another id."""
    journal = one_round(
        call("sky", "get_weather", SKY, call_id="x"),
        call("sea", "get_weather", SEA, call_id="x"),
        call("book"),
    )
    basel = journal.execute("get_weather", dict(SKY))
    journal.execute("get_weather", dict(SEA))
    booked = journal.execute()
    journal.carry()
    for text in (basel, basel, booked):
        journal.result("x", text)
    journal.result("call_book", booked)
    journal.ask(2)
    (finding,) = journal.check("correlation.own-result").findings
    assert finding.seen.startswith("that of call book in request 2")


@pytest.mark.parametrize("other", ["tool", "arguments"])
def test_each_group_of_equal_calls_is_looked_at(other: str) -> None:
    tools: Json = {name: {"kind": "read", "args": {"city": "string"}} for name in ("one", "two")}
    second = ("two", SKY) if other == "tool" else ("one", SEA)
    groups = [("one", SKY), second]
    calls = [
        call(f"{label}{place}", tool, arguments)
        for place, (tool, arguments) in enumerate(groups)
        for label in "ab"
    ]
    journal = one_round(*calls, scenario_=scenario(tools=tools))
    journal.carry()
    for place, (tool, arguments) in enumerate(groups):
        results = [journal.execute(tool, dict(arguments)) for _ in range(2)]
        for label in "ab":
            journal.result(f"call_{label}{place}", results[0])
    journal.ask(2)
    assert levels(journal.check("correlation.own-result")) == ["should", "should"]


def test_calls_without_results_and_calls_that_were_never_issued_share_nothing() -> None:
    twins = [call(label, "get_weather", SKY) for label in "abc"]
    journal = one_round(*twins)
    results = [journal.execute("get_weather", dict(SKY)) for _ in range(3)]
    journal.carry(*twins, call("x", "get_weather", SKY))
    journal.result("call_a", results[0])
    journal.result("call_b", results[1])
    journal.result("call_x", results[0])
    journal.ask(2)
    assert levels(journal.check("correlation.own-result")) == []
