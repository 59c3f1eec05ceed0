"""Which decision is about which call, and what is kept until every call has one."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopcheck.fake_providers.wire import JsonObject
from loopcheck.harness.targets.decided import Decided, answer_text, is_gated, offered, rulings
from loopcheck.harness.task import Decision, Pending, Permission, Task, Tool

TWELVE = Pending(call_id="c1", tool="reserve_seat", arguments={"seat": 12})
THIRTEEN = Pending(call_id="c1", tool="reserve_seat", arguments={"seat": 13})


def approved(call: Pending, seat: int | None = None) -> Decision:
    arguments: JsonObject = call.arguments if seat is None else {"seat": seat}
    return Decision(call_id=call.call_id, tool=call.tool, arguments=arguments, decide="approve")


def a_tool(name: str, approval: Permission = "allow") -> Tool:
    async def acall(arguments: object, **ids: object) -> str:
        return ""

    return Tool(
        name=name,
        description=name,
        parameters={"type": "object"},
        kind="write",
        approval=approval,
        function=acall,
        call=str,
        acall=acall,
    )


def test_calls_of_one_id_are_told_apart_by_their_arguments() -> None:
    first, second = approved(TWELVE), approved(THIRTEEN)
    assert rulings([TWELVE, THIRTEEN], [second, first]) == [first, second]


def test_a_decision_with_other_arguments_changes_the_call_that_has_none_of_its_own() -> None:
    exact, changed = approved(THIRTEEN), approved(TWELVE, seat=14)
    assert rulings([TWELVE, THIRTEEN], [changed, exact]) == [changed, exact]


def test_a_decision_counts_once() -> None:
    assert rulings([TWELVE, TWELVE], [approved(TWELVE)]) == [approved(TWELVE), None]


@pytest.mark.parametrize(
    "other",
    [
        Pending(call_id="c2", tool="reserve_seat", arguments={"seat": 12}),
        Pending(call_id="c1", tool="cancel_seat", arguments={"seat": 12}),
    ],
)
def test_a_decision_about_another_call_decides_nothing(other: Pending) -> None:
    assert rulings([TWELVE], [approved(other)]) == [None]


def test_decisions_are_kept_until_the_last_one_is_made(tmp_path: Path) -> None:
    pending = [TWELVE, THIRTEEN]
    assert Decided(tmp_path).about(pending, [approved(THIRTEEN)]) is None
    made = Decided(tmp_path).about(pending, [approved(TWELVE)])
    assert made == [approved(TWELVE), approved(THIRTEEN)]
    assert Decided(tmp_path).about(pending, []) is None


def test_a_decision_about_no_waiting_call_is_not_kept_for_later_ones(tmp_path: Path) -> None:
    later = Pending(call_id="c2", tool="reserve_seat", arguments={"seat": 12})
    assert Decided(tmp_path).about([TWELVE], [approved(later)]) is None
    assert Decided(tmp_path).about([later], []) is None


def test_an_answer_is_its_text_or_its_json() -> None:
    assert (answer_text("aisle"), answer_text({"row": "ä"})) == ("aisle", '{"row": "ä"}')


def test_disabled_tools_are_not_offered_and_asking_ones_are_gated() -> None:
    free, asking, never = a_tool("a"), a_tool("b", "ask"), a_tool("c", "disabled")
    task = Task(
        case="c",
        dialect="chat",
        stream=False,
        base_url="",
        api_key="",
        model="",
        prompt="",
        specs=(free, asking, never),
    )
    assert offered(task) == [free, asking]
    assert [is_gated(spec) for spec in task.specs] == [False, True, False]
