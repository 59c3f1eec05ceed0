"""How many requests a scenario expects, and what they offer and repeat."""

from __future__ import annotations

import pytest
from journals import Json, Written, call, scenario

from loopcheck.harness.results import Finding

pytestmark = pytest.mark.usefixtures("every_word")


def expecting(**must: object) -> Json:
    return {"expect": {"must": must}}


def findings(journal: Written) -> list[Finding]:
    return list(journal.check("scenario.expects").findings)


@pytest.mark.parametrize(
    ("name", "count"), [("total", 2), ("turn1", 1), ("turn2", 1), ("otherwise", 1), ("side", 0)]
)
def test_requests_are_counted_without_repeats_after_a_fault(name: str, count: int) -> None:
    for expected, met in ((count, True), (count + 1, False)):
        journal = Written(scenario(**expecting(requests={name: expected})))
        journal.ask()
        journal.answer(status=500, ends="failed", fault="http")
        journal.ask(1, 2)
        journal.answer(call("book"))
        journal.carry()
        journal.result("call_book", journal.execute())
        journal.ask(2)
        assert (findings(journal) == []) is met


def test_side_requests_are_counted_apart() -> None:
    journal = Written(scenario(**expecting(requests={"side": 1, "total": 0})))
    journal.ask(role="side")
    assert findings(journal) == []


def test_a_retry_is_the_same_request() -> None:
    journal = Written(scenario(**expecting(requests={"retries": "same"})))
    journal.ask()
    journal.answer(status=500, ends="failed", fault="http")
    journal.ask(1, 2)
    assert findings(journal) == []
    journal.answer(status=500, ends="failed", fault="http")
    journal.items.append({"kind": "user", "path": "messages[1]", "text": "Please."})
    journal.ask(1, 3)
    (finding,) = findings(journal)
    assert (finding.expected, finding.entries) == ("request 3 repeats request 2", (6, 4))


def test_every_request_offers_every_tool() -> None:
    journal = Written(scenario(**expecting(requests={"tools": "all"})))
    journal.ask()
    assert findings(journal) == []
    journal.ask(tools=["get_weather"])
    (finding,) = findings(journal)
    assert finding.seen == "without reserve_seat"


def test_turns_are_counted_each_by_its_number() -> None:
    journal = Written(scenario(**expecting(requests={"turn1": 2, "turn2": 1})))
    for turn in (1, 1, 2):
        journal.ask(turn)
    assert findings(journal) == []


@pytest.mark.parametrize(
    ("fault", "ends", "count"),
    [("slow", "well", 1), (None, "unmarked", 1), (None, "failed", 1), (None, "well", 2)],
)
def test_a_repeat_is_one_after_a_fault(fault: str | None, ends: str, count: int) -> None:
    journal = Written(scenario(**expecting(requests={"total": count})))
    journal.ask()
    journal.answer(fault=fault, ends=ends)
    journal.ask(1, 2)
    assert findings(journal) == []


def test_a_refused_request_between_changes_no_repeat() -> None:
    journal = Written(scenario(**expecting(requests={"total": 2})))
    journal.ask(role="refused")
    journal.ask()
    journal.answer(status=500, ends="failed", fault="http")
    journal.ask(1, 2)
    assert findings(journal) == []


def test_all_tools_that_were_not_offered_are_named() -> None:
    journal = Written(scenario(**expecting(requests={"tools": "all"})))
    journal.ask(tools=[])
    (finding,) = findings(journal)
    assert finding.seen == "without reserve_seat, get_weather"
