"""Writes: on record before they begin, and never carried out twice."""

from __future__ import annotations

import pytest
from tool_desk import Desk, Runner, answer, call, error_of

from loopcheck.reference_loop.arguments import digest
from loopcheck.reference_loop.limits import Retries, ToolLimits
from loopcheck.reference_loop.policy import Policy
from loopcheck.reference_loop.tools import LookUp, ToolFailure
from loopcheck.reference_loop.writes import Unsettled


@pytest.mark.asyncio
@pytest.mark.parametrize("raised", [ConnectionError("gone"), RuntimeError("failed")])
async def test_a_write_that_raises_has_an_unknown_outcome(raised: Exception) -> None:
    desk = Desk(endings=[raised])
    runner = Runner([desk.tool("book", "write")])
    [result] = await answer(runner, call("book"))
    error = error_of(result)
    assert (error["code"], error["retryable"]) == ("outcome_unknown", False)
    assert desk.operations == [None]


@pytest.mark.asyncio
async def test_an_operation_that_was_done_is_answered_from_the_record() -> None:
    desk = Desk()
    runner = Runner([desk.tool("book", "write", operation=("n",))])
    first, second = await answer(runner, call("book", call_id="a"), call("book", call_id="b"))
    [third] = await answer(runner, call("book", call_id="c"))
    assert [r.text for r in (first, second, third)] == ["done 1"] * 3
    assert [r.call_id for r in (first, second, third)] == ["a", "b", "c"]
    assert desk.log == ["book 1 begins", "book 1 ends"]


@pytest.mark.asyncio
async def test_an_operation_that_was_done_otherwise_is_not_passed_off_as_this_one() -> None:
    desk = Desk()
    runner = Runner([desk.tool("book", "write", operation=("n",))])
    await answer(runner, call("book", note="window"))
    [result] = await answer(runner, call("book", note="aisle"))
    assert error_of(result)["code"] == "already_done"
    assert "window" in result.text
    assert desk.log == ["book 1 begins", "book 1 ends"]


@pytest.mark.asyncio
async def test_another_operation_is_another_action() -> None:
    desk = Desk()
    runner = Runner([desk.tool("book", "write", operation=("n",))])
    await answer(runner, call("book", 1), call("book", 2))
    assert desk.log == ["book 1 begins", "book 1 ends", "book 2 begins", "book 2 ends"]
    assert len(set(desk.operations)) == 2
    assert None not in desk.operations


@pytest.mark.asyncio
async def test_without_operation_key_each_call_is_an_action_of_its_own() -> None:
    desk = Desk()
    runner = Runner([desk.tool("book", "write")])
    await answer(runner, call("book"), call("book"))
    assert desk.log == ["book 1 begins", "book 1 ends"] * 2


@pytest.mark.asyncio
async def test_an_empty_operation_key_makes_all_calls_one_action() -> None:
    desk = Desk()
    runner = Runner([desk.tool("book", "write", operation=())])
    await answer(runner, call("book", 1), call("book", 2))
    assert desk.log == ["book 1 begins", "book 1 ends"]


@pytest.mark.asyncio
async def test_a_read_with_an_operation_key_is_read_afresh() -> None:
    desk = Desk()
    runner = Runner([desk.tool("look", "read", operation=("n",))])
    await answer(runner, call("look"))
    await answer(runner, call("look"))
    assert desk.log == ["look 1 begins", "look 1 ends"] * 2
    assert desk.operations[0] == desk.operations[1] is not None


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "nothing_done", ['{"error": "sold out"}', PermissionError("not yours")], ids=["error", "denied"]
)
async def test_an_operation_that_did_nothing_may_be_begun_again(
    nothing_done: str | Exception,
) -> None:
    desk = Desk(endings=[nothing_done])
    runner = Runner([desk.tool("book", "write", operation=("n",))])
    [first] = await answer(runner, call("book"))
    [second] = await answer(runner, call("book"))
    assert (first.is_error, second.text) == (True, "done 1")


@pytest.mark.asyncio
async def test_an_operation_of_unknown_outcome_is_not_begun_again() -> None:
    desk = Desk(endings=[ConnectionError("gone")])
    runner = Runner([desk.tool("book", "write", operation=("n",))])
    await answer(runner, call("book"))
    [again] = await answer(runner, call("book"))
    assert error_of(again)["code"] == "outcome_unknown"
    assert desk.log == ["book 1 begins", "book 1 ends"]


@pytest.mark.asyncio
@pytest.mark.parametrize("look_up", [LookUp("inconclusive"), RuntimeError("down")])
async def test_a_look_up_that_cannot_tell_leaves_it_to_a_person(
    look_up: LookUp | Exception,
) -> None:
    desk = Desk(endings=[ConnectionError("gone")], answers=[look_up])
    runner = Runner([desk.tool("book", "write", operation=("n",), look_up=True)])
    with pytest.raises(Unsettled, match="unknown whether book took effect: ConnectionError: gone"):
        await answer(runner, call("book"))
    assert desk.asked == desk.operations
    assert runner.saved == ["effect_about_to_run"]
    assert [record.outcome for record in runner.records.all()] == ["begun"]


@pytest.mark.asyncio
async def test_what_a_look_up_finds_is_the_result_from_then_on() -> None:
    desk = Desk(endings=[ConnectionError("gone")], answers=[LookUp("found", "seat 1")])
    runner = Runner([desk.tool("book", "write", operation=("n",), look_up=True)])
    results = [*await answer(runner, call("book")), *await answer(runner, call("book"))]
    assert [result.text for result in results] == ["seat 1", "seat 1"]
    assert desk.log == ["book 1 begins", "book 1 ends"]
    assert len(desk.asked) == 1


@pytest.mark.asyncio
async def test_what_a_look_up_does_not_find_may_be_asked_for_again() -> None:
    desk = Desk(endings=[ConnectionError("gone")], answers=[LookUp("absent")])
    runner = Runner([desk.tool("book", "write", operation=("n",), look_up=True)])
    [first] = await answer(runner, call("book"))
    error = error_of(first)
    assert (error["code"], error["retryable"]) == ("not_done", True)
    [second] = await answer(runner, call("book"))
    assert second.text == "done 1"
    assert desk.operations[0] == desk.operations[1]
    assert [record.outcome for record in runner.records.all()] == ["not_done", "done"]


@pytest.mark.asyncio
async def test_a_system_that_deduplicates_can_be_asked_again_under_the_same_operation() -> None:
    desk = Desk(endings=[ConnectionError("gone")])
    runner = Runner([desk.tool("book", "write", operation=("n",), deduplicates=True)])
    [first] = await answer(runner, call("book"))
    assert error_of(first)["code"] == "outcome_unknown"
    [second] = await answer(runner, call("book"))
    assert second.text == "done 1"
    assert desk.operations[0] == desk.operations[1]


@pytest.mark.asyncio
async def test_without_key_each_call_has_an_operation_of_its_own_where_that_helps() -> None:
    desk = Desk()
    runner = Runner([desk.tool("book", "write", deduplicates=True)])
    await answer(runner, call("book"), call("book"))
    await answer(runner, call("book"))
    assert len(set(desk.operations)) == 3
    assert None not in desk.operations


@pytest.mark.asyncio
async def test_an_earlier_operation_can_be_looked_up_by_a_later_call() -> None:
    desk = Desk(endings=[ConnectionError("gone")])
    tool = desk.tool("book", "write", operation=("n",))
    runner = Runner([tool])
    await answer(runner, call("book"))
    desk.answers = [LookUp("inconclusive"), LookUp("absent"), LookUp("found", "seat 1")]
    runner.give([desk.tool("book", "write", operation=("n",), look_up=True)])
    with pytest.raises(Unsettled, match="unknown whether book took effect"):
        await answer(runner, call("book"))
    [absent] = await answer(runner, call("book"))
    assert absent.text == "done 1"
    assert [record.outcome for record in runner.records.all()] == ["not_done", "waiting", "done"]


@pytest.mark.asyncio
async def test_an_earlier_operation_that_is_found_answers_the_later_call() -> None:
    desk = Desk(endings=[ConnectionError("gone")], answers=[LookUp("found", "seat 1")])
    runner = Runner([desk.tool("book", "write", operation=("n",))])
    await answer(runner, call("book"))
    runner.give([desk.tool("book", "write", operation=("n",), look_up=True)])
    [found] = await answer(runner, call("book"))
    assert found.text == "seat 1"
    assert [record.outcome for record in runner.records.all()] == ["done", "done"]


@pytest.mark.asyncio
async def test_a_write_that_takes_too_long_has_an_unknown_outcome() -> None:
    runner = Runner([Desk(hangs=True).tool("book", "write", seconds=0.0)])
    [result] = await answer(runner, call("book"))
    assert error_of(result)["code"] == "outcome_unknown"


@pytest.mark.asyncio
async def test_a_failure_that_is_orderly_did_nothing() -> None:
    desk = Desk(endings=[ToolFailure("sold_out", "No seats.", retryable=True)])
    runner = Runner(
        [desk.tool("book", "write", operation=("n",))],
        ToolLimits(retries=Retries(count=5, first_seconds=0.0)),
    )
    [first] = await answer(runner, call("book"))
    assert error_of(first) == {"code": "sold_out", "message": "No seats.", "retryable": True}
    assert desk.log == ["book 1 begins", "book 1 ends"]
    [second] = await answer(runner, call("book"))
    assert second.text == "done 1"


@pytest.mark.asyncio
async def test_what_is_about_to_run_and_what_was_committed_is_saved() -> None:
    runner = Runner([Desk().tool("book", "write"), Desk().tool("look", "read")])
    await answer(runner, call("look"), call("book", 1), call("book", 2), call("look"))
    assert runner.saved == ["effect_about_to_run", "effect_about_to_run", "effect_committed"]


@pytest.mark.asyncio
async def test_every_call_is_on_record() -> None:
    runner = Runner([Desk().tool("book", "write", operation=("n",))])
    await answer(runner, call("book"))
    [record] = runner.records.all()
    assert (record.tool, record.tool_version, record.decision) == ("book", "1", "allowed")
    assert record.arguments_digest == digest({"n": 1})
    assert record.operation_id is not None
    assert (record.outcome, record.text) == ("done", "done 1")
    assert (record.began_at, record.ended_at) == (1.0, 2.0)


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("found", "outcome", "code"),
    [(LookUp("found", "seat 1"), "done", None), (LookUp("absent"), "rejected", "denied")],
)
async def test_what_was_begun_is_found_out_but_not_begun_anew_once_it_is_forbidden(
    found: LookUp, outcome: str, code: str | None
) -> None:
    desk = Desk(endings=[KeyboardInterrupt()], answers=[found])
    tool = desk.tool("book", "write", operation=("n",), look_up=True)
    runner = Runner([tool])
    with pytest.raises(KeyboardInterrupt):
        await answer(runner, call("book"))
    runner.give([tool], Policy(otherwise="disabled"))
    runner.rounds = 0
    [result] = await answer(runner, call("book"))
    assert [record.outcome for record in runner.records.all()] == [outcome]
    assert (error_of(result)["code"] if code else result.text) == (code or "seat 1")
    assert desk.log == ["book 1 begins", "book 1 ends"]
