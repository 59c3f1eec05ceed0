"""execution.once: on journals written by hand."""

from __future__ import annotations

import pytest
from journals import (
    TOOLS,
    Json,
    call,
    execution_levels,
    honest,
    levels,
    one_round,
    scenario,
)

pytestmark = pytest.mark.usefixtures("every_word")


def test_a_write_that_runs_twice_is_a_must() -> None:
    journal = one_round()
    journal.execute()
    journal.execute()
    (finding,) = journal.check("execution.once").findings
    assert finding.seen == (
        "2: reserve_seat(event='E1', seat=12); reserve_seat(event='E1', seat=12)"
    )
    assert finding.entries == (7, 4, 3)
    assert execution_levels(journal) == {"execution.once": ["must"]}


def test_a_write_that_runs_again_after_a_failed_request_is_a_must() -> None:
    journal = one_round()
    journal.execute()
    journal.carry()
    journal.ask(2)
    journal.answer(status=500, ends="failed", fault="http")
    journal.execute()
    assert execution_levels(journal) == {"execution.once": ["must"]}


def test_a_write_runs_once_even_if_it_raised() -> None:
    journal = one_round()
    journal.execute(how="raised", effect=True)
    journal.execute()
    assert execution_levels(journal) == {"execution.once": ["must"]}


@pytest.mark.parametrize(("how", "expected"), [("rejected", []), ("abandoned", ["must"])])
def test_a_write_that_was_refused_has_not_begun(how: str, expected: list[str]) -> None:
    journal = one_round()
    journal.execute(how=how, effect=False)
    journal.execute()
    assert levels(journal.check("execution.once")) == expected


def test_two_equal_calls_run_twice() -> None:
    assert execution_levels(honest(call("a"), call("b"))) == {}


@pytest.mark.parametrize(
    ("how", "expected"),
    [("result", ["should"]), ("raised", []), ("rejected", []), ("abandoned", [])],
)
def test_a_read_is_repeated_after_failures_only(how: str, expected: list[str]) -> None:
    journal = one_round(call("sky", "get_weather", {"city": "Basel"}))
    journal.execute("get_weather", {"city": "Basel"}, how=how)
    journal.execute("get_weather", {"city": "Basel"})
    assert levels(journal.check("execution.once")) == expected


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [("op-1", "op-1", []), ("op-1", "op-2", ["must"]), (None, None, ["should"])],
)
def test_a_system_that_knows_the_operation_allows_a_repetition(
    first: str | None, second: str | None, expected: list[str]
) -> None:
    tools: Json = {"reserve_seat": {**dict(TOOLS)["reserve_seat"], "deduplicates": True}}  # type: ignore[dict-item]
    journal = one_round(scenario_=scenario(tools=tools))
    journal.execute(operation_id=first)
    journal.execute(operation_id=second, deduplicated=True)
    assert levels(journal.check("execution.once")) == expected


@pytest.mark.parametrize(("answer", "expected"), [("absent", []), ("inconclusive", ["must"])])
def test_a_lookup_that_says_absent_renews_the_budget(answer: str, expected: list[str]) -> None:
    journal = one_round()
    journal.execute(how="raised", effect=False, operation_id="op-1")
    journal.note("lookup", tool="reserve_seat", operation_id="op-1", answer=answer)
    journal.execute(operation_id="op-1")
    assert levels(journal.check("execution.once")) == expected


def test_one_lookup_renews_one_execution() -> None:
    journal = one_round()
    journal.execute(how="raised", effect=False, operation_id="op-1")
    journal.note("lookup", tool="reserve_seat", operation_id="op-1", answer="absent")
    journal.execute(operation_id="op-1")
    journal.execute(operation_id="op-1")
    assert levels(journal.check("execution.once")) == ["must"]


def test_every_response_before_is_looked_at() -> None:
    journal = one_round()
    journal.execute()
    journal.carry()
    for turn in (2, 3):
        journal.ask(turn)
        journal.answer(text="Wait.")
    journal.execute()
    assert execution_levels(journal) == {"execution.once": ["must"]}
