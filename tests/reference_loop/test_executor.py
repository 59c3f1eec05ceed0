"""In which order tools run, and what they may cost."""

from __future__ import annotations

import asyncio
import json
from typing import cast

import pytest
from tool_desk import Desk, Runner, answer, call, error_of

from loopcheck.reference_loop.events import CallResult, ProposedCall
from loopcheck.reference_loop.limits import Retries, ToolLimits
from loopcheck.reference_loop.results import MAX_MESSAGE_CHARACTERS, error_text, is_error
from loopcheck.reference_loop.tools import LoopTool, ToolDefinitionError, ToolFailure


@pytest.mark.asyncio
async def test_reads_run_together_and_writes_alone_and_in_order() -> None:
    desk = Desk()
    runner = Runner([desk.tool("look", "read"), desk.tool("book", "write")])
    results = await answer(
        runner,
        call("look", 1, call_id="a"),
        call("look", 2, call_id="b"),
        call("book", 3, call_id="c"),
        call("book", 4, call_id="d"),
        call("look", 5, call_id="e"),
    )
    assert desk.log == [
        "look 1 begins",
        "look 2 begins",
        "look 1 ends",
        "look 2 ends",
        "book 3 begins",
        "book 3 ends",
        "book 4 begins",
        "book 4 ends",
        "look 5 begins",
        "look 5 ends",
    ]
    assert [(result.call_id, result.text) for result in results] == [
        ("a", "done 1"),
        ("b", "done 2"),
        ("c", "done 3"),
        ("d", "done 4"),
        ("e", "done 5"),
    ]


@pytest.mark.asyncio
async def test_equal_ids_are_answered_in_order_each_with_its_own() -> None:
    runner = Runner([Desk().tool("look", "read")])
    results = await answer(runner, call("look", 1), call("look", 2))
    assert [(result.call_id, result.text) for result in results] == [
        ("c", "done 1"),
        ("c", "done 2"),
    ]


@pytest.mark.asyncio
async def test_no_calls_have_no_results() -> None:
    assert await answer(Runner([])) == ()


@pytest.mark.asyncio
async def test_a_call_that_cannot_run_is_answered_and_holds_up_nobody() -> None:
    desk = Desk()
    runner = Runner([desk.tool("look", "read")])
    broken = ProposedCall(call_id="b", name="look", arguments_text='{"n": 1')
    results = await answer(
        runner,
        call("look", 1, call_id="a"),
        broken,
        call("lok", 2, call_id="c"),
        call("look", 3, call_id="d", note=4),
        call("look", 5, call_id="e"),
    )
    assert desk.log == ["look 1 begins", "look 5 begins", "look 1 ends", "look 5 ends"]
    assert [result.call_id for result in results] == ["a", "b", "c", "d", "e"]
    assert error_of(results[1])["code"] == "invalid_json"
    assert results[1].arguments is None
    assert error_of(results[2]) == {
        "code": "unknown_tool",
        "message": "There is no tool 'lok'. Tools: look.",
        "retryable": False,
    }
    assert results[2].arguments == {"n": 2}
    assert error_of(results[3]) == {
        "code": "invalid_arguments",
        "message": "$.note: 4 is not of type 'string'",
        "retryable": False,
    }


@pytest.mark.asyncio
async def test_a_schema_that_cannot_be_resolved_is_an_error_of_that_call() -> None:
    remote = {"type": "object", "properties": {"n": {"$ref": "https://example.invalid/n"}}}
    tool = Desk().tool("look", "read")
    runner = Runner(
        [LoopTool(name="look", description="", parameters=remote, kind="read", invoke=tool.invoke)]
    )
    [result] = await answer(runner, call("look"))
    assert error_of(result)["code"] == "invalid_schema"


def test_tools_are_checked_before_anything_runs() -> None:
    desk = Desk()
    with pytest.raises(ToolDefinitionError, match="two tools are named 'look'"):
        Runner([desk.tool("look", "read"), desk.tool("look", "write")])
    bad = LoopTool(
        name="bad",
        description="",
        parameters={"type": "array"},
        kind="read",
        invoke=desk.tool("x", "read").invoke,
    )
    with pytest.raises(ToolDefinitionError, match="parameters of tool 'bad': type must be"):
        Runner([bad])


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("raised", "code", "retryable"),
    [
        (ValueError("no such train"), "tool_failed", False),
        (TimeoutError("too slow"), "timed_out", True),
        (ConnectionResetError("gone"), "tool_failed", True),
        (PermissionError("not yours"), "not_permitted", False),
    ],
)
async def test_a_read_that_raises(raised: Exception, code: str, retryable: bool) -> None:
    desk = Desk(endings=[raised])
    [result] = await answer(Runner([desk.tool("look", "read")]), call("look"))
    error = error_of(result)
    assert (error["code"], error["retryable"]) == (code, retryable)
    assert str(raised) in str(error["message"])
    assert desk.log == ["look 1 begins", "look 1 ends"]


@pytest.mark.asyncio
async def test_one_read_that_raises_leaves_its_neighbours_alone() -> None:
    desk = Desk(endings=["one", RuntimeError("two"), "three"])
    runner = Runner([desk.tool("look", "read")])
    results = await answer(runner, call("look", 1), call("look", 2), call("look", 3))
    assert [result.is_error for result in results] == [False, True, False]
    assert [results[0].text, results[2].text] == ["one", "three"]


@pytest.mark.asyncio
async def test_an_orderly_error_of_a_tool_is_passed_on_as_it_is() -> None:
    text = '{"error": {"code": "sold_out"}}'
    desk = Desk(endings=[text])
    [result] = await answer(Runner([desk.tool("book", "write")]), call("book"))
    assert result == CallResult(call_id="c", text=text, is_error=True, arguments={"n": 1})


def test_an_error_text_is_bounded_and_recognised() -> None:
    text = error_text("tool_failed", "x" * 9999, retryable=True)
    assert json.loads(text)["error"]["message"] == "x" * MAX_MESSAGE_CHARACTERS
    assert is_error(text)


@pytest.mark.parametrize(
    "text", ["", "an error", '"error"', '{"error": ', '["error"]', '{"token": "\\"error\\""}']
)
def test_what_is_no_error_text(text: str) -> None:
    assert not is_error(text)


def test_a_deep_text_is_no_error_text() -> None:
    assert not is_error('"error"' + "[" * 100_000)


@pytest.mark.asyncio
async def test_so_many_reads_run_at_a_time() -> None:
    desk = Desk()
    runner = Runner([desk.tool("look", "read")], ToolLimits(together=2))
    await answer(runner, *(call("look", n) for n in range(1, 5)))
    running = [sum(1 if "begins" in line else -1 for line in desk.log[: n + 1]) for n in range(8)]
    assert max(running) == 2
    assert len(desk.log) == 8


@pytest.mark.asyncio
async def test_a_read_that_takes_too_long_is_given_up() -> None:
    runner = Runner([Desk(hangs=True).tool("look", "read")], ToolLimits(seconds=0.0))
    [result] = await answer(runner, call("look"))
    error = error_of(result)
    assert (error["code"], error["retryable"]) == ("timed_out", True)


@pytest.mark.asyncio
async def test_a_tool_may_have_its_own_time() -> None:
    desk = Desk()
    runner = Runner([desk.tool("look", "read", seconds=60.0)], ToolLimits(seconds=0.0))
    [result] = await answer(runner, call("look"))
    assert result.text == "done 1"


@pytest.mark.asyncio
@pytest.mark.parametrize(("length", "text"), [(5, "12345"), (4, "1234\n[cut: 4 of 5 characters]")])
async def test_a_long_result_is_cut_and_says_so(length: int, text: str) -> None:
    runner = Runner(
        [Desk(endings=["12345"]).tool("look", "read")], ToolLimits(result_characters=length)
    )
    [result] = await answer(runner, call("look"))
    assert result.text == text


@pytest.mark.asyncio
async def test_a_read_is_tried_again_as_often_as_the_policy_says() -> None:
    busy = ToolFailure("busy", "Later.", retryable=True, retry_after=7.0)
    desk = Desk(endings=[busy, ConnectionError("gone"), "seat 1"])
    runner = Runner(
        [desk.tool("look", "read")], ToolLimits(retries=Retries(count=2, first_seconds=0.5))
    )
    [result] = await answer(runner, call("look"))
    assert result.text == "seat 1"
    assert runner.waits == [7.0, 1.0]


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("failure", "retries", "tries"),
    [
        (ToolFailure("busy", "Later.", retryable=True), Retries(count=0), 1),
        (ToolFailure("busy", "Later.", retryable=True), Retries(count=3), 4),
        (ToolFailure("busy", "Later.", retryable=True), Retries(count=3, budget=2), 3),
        (ToolFailure("busy", "Later.", retryable=False), Retries(count=3), 1),
        (ToolFailure("busy", "", retryable=True, retry_after=61.0), Retries(count=3), 1),
        (ToolFailure("busy", "", retryable=True, retry_after=60.0), Retries(count=3), 4),
        (ValueError("no"), Retries(count=3), 1),
        (PermissionError("no"), Retries(count=3), 1),
    ],
)
async def test_how_often_a_read_is_tried(failure: Exception, retries: Retries, tries: int) -> None:
    desk = Desk(endings=[failure] * 9)
    runner = Runner([desk.tool("look", "read")], ToolLimits(retries=retries))
    [result] = await answer(runner, call("look"))
    assert result.is_error
    assert desk.log.count("look 1 begins") == tries


@pytest.mark.asyncio
async def test_a_tool_that_cancels_itself_has_failed() -> None:
    desk = Desk(endings=[asyncio.CancelledError()])
    [result, other] = await answer(Runner([desk.tool("look", "read")]), *[call("look")] * 2)
    assert error_of(result)["code"] == "tool_failed"
    assert other.text == "done 1"


@pytest.mark.asyncio
async def test_a_tool_has_to_give_text() -> None:
    desk = Desk(endings=[cast("str", None)])
    [result] = await answer(Runner([desk.tool("look", "read")]), call("look"))
    error = error_of(result)
    assert (error["code"], error["message"]) == (
        "tool_failed",
        "TypeError: the tool gave NoneType, not text",
    )


@pytest.mark.parametrize("wrong", [{"together": 0}, {"result_characters": -1}])
def test_tool_limits_are_checked_when_they_are_made(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        ToolLimits(**wrong)  # type: ignore[arg-type]


def test_a_failure_reads_like_one() -> None:
    assert str(ToolFailure("busy", "Later.")) == "busy: Later."
