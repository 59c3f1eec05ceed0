from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import pytest

from loopcheck.reference_loop.arguments import JsonObject
from loopcheck.reference_loop.events import CallResult, ProposedCall
from loopcheck.reference_loop.executor import Executor
from loopcheck.reference_loop.results import MAX_MESSAGE_CHARACTERS, error_text, is_error
from loopcheck.reference_loop.tools import LookUp, LoopTool, ToolDefinitionError

SCHEMA: JsonObject = {
    "type": "object",
    "properties": {"n": {"type": "integer"}, "note": {"type": "string"}},
    "required": ["n"],
    "additionalProperties": False,
}


@dataclass
class Desk:
    """Tools that write down what is done to them; each of `endings` is the end of one call."""

    endings: list[str | Exception] = field(default_factory=list)
    answers: list[LookUp | Exception] = field(default_factory=list)
    log: list[str] = field(default_factory=list)
    operations: list[str | None] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def tool(
        self,
        name: str,
        kind: Literal["read", "write"],
        *,
        operation: tuple[str, ...] | None = None,
        look_up: bool = False,
    ) -> LoopTool:
        async def invoke(arguments: JsonObject, *, call_id: str, operation_id: str | None) -> str:
            self.log.append(f"{name} {arguments['n']} begins")
            self.operations.append(operation_id)
            await asyncio.sleep(0)
            self.log.append(f"{name} {arguments['n']} ends")
            ending = self.endings.pop(0) if self.endings else f"done {arguments['n']}"
            if isinstance(ending, Exception):
                raise ending
            return ending

        async def ask(operation_id: str) -> LookUp:
            self.asked.append(operation_id)
            answer = self.answers.pop(0)
            if isinstance(answer, Exception):
                raise answer
            return answer

        return LoopTool(
            name=name,
            description="",
            parameters=SCHEMA,
            kind=kind,
            invoke=invoke,
            operation=operation,
            look_up=ask if look_up else None,
        )


def call(name: str, n: int = 1, *, call_id: str = "c", **more: object) -> ProposedCall:
    text = json.dumps({"n": n, **more})
    return ProposedCall(call_id=call_id, name=name, arguments_text=text)


async def answer(executor: Executor, *calls: ProposedCall) -> Sequence[CallResult]:
    return await executor.answer(calls)


def error_of(result: CallResult) -> dict[str, object]:
    assert result.is_error
    error: dict[str, object] = json.loads(result.text)["error"]
    return error


@pytest.mark.asyncio
async def test_reads_run_together_and_writes_alone_and_in_order() -> None:
    desk = Desk()
    executor = Executor([desk.tool("look", "read"), desk.tool("book", "write")])
    results = await answer(
        executor,
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
    executor = Executor([Desk().tool("look", "read")])
    results = await answer(executor, call("look", 1), call("look", 2))
    assert [(result.call_id, result.text) for result in results] == [
        ("c", "done 1"),
        ("c", "done 2"),
    ]


@pytest.mark.asyncio
async def test_no_calls_have_no_results() -> None:
    assert await answer(Executor([])) == ()


@pytest.mark.asyncio
async def test_a_call_that_cannot_run_is_answered_and_holds_up_nobody() -> None:
    desk = Desk()
    executor = Executor([desk.tool("look", "read")])
    broken = ProposedCall(call_id="b", name="look", arguments_text='{"n": 1')
    results = await answer(
        executor,
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
    executor = Executor(
        [LoopTool(name="look", description="", parameters=remote, kind="read", invoke=tool.invoke)]
    )
    [result] = await answer(executor, call("look"))
    assert error_of(result)["code"] == "invalid_schema"


def test_tools_are_checked_before_anything_runs() -> None:
    desk = Desk()
    with pytest.raises(ToolDefinitionError, match="two tools are named 'look'"):
        Executor([desk.tool("look", "read"), desk.tool("look", "write")])
    bad = LoopTool(
        name="bad",
        description="",
        parameters={"type": "array"},
        kind="read",
        invoke=desk.tool("x", "read").invoke,
    )
    with pytest.raises(ToolDefinitionError, match="parameters of tool 'bad': type must be"):
        Executor([bad])


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("raised", "code", "retryable"),
    [
        (ValueError("no such train"), "tool_failed", False),
        (TimeoutError("too slow"), "tool_failed", True),
        (ConnectionResetError("gone"), "tool_failed", True),
        (PermissionError("not yours"), "not_permitted", False),
    ],
)
async def test_a_read_that_raises(raised: Exception, code: str, retryable: bool) -> None:
    desk = Desk(endings=[raised])
    [result] = await answer(Executor([desk.tool("look", "read")]), call("look"))
    error = error_of(result)
    assert (error["code"], error["retryable"]) == (code, retryable)
    assert str(raised) in str(error["message"])
    assert desk.log == ["look 1 begins", "look 1 ends"]


@pytest.mark.asyncio
@pytest.mark.parametrize("raised", [ConnectionError("gone"), RuntimeError("failed")])
async def test_a_write_that_raises_has_an_unknown_outcome(raised: Exception) -> None:
    desk = Desk(endings=[raised])
    executor = Executor([desk.tool("book", "write")])
    [result] = await answer(executor, call("book"))
    error = error_of(result)
    assert (error["code"], error["retryable"]) == ("outcome_unknown", False)
    assert desk.operations == [None]


@pytest.mark.asyncio
async def test_one_read_that_raises_leaves_its_neighbours_alone() -> None:
    desk = Desk(endings=["one", RuntimeError("two"), "three"])
    executor = Executor([desk.tool("look", "read")])
    results = await answer(executor, call("look", 1), call("look", 2), call("look", 3))
    assert [result.is_error for result in results] == [False, True, False]
    assert [results[0].text, results[2].text] == ["one", "three"]


@pytest.mark.asyncio
async def test_an_orderly_error_of_a_tool_is_passed_on_as_it_is() -> None:
    text = '{"error": {"code": "sold_out"}}'
    desk = Desk(endings=[text])
    [result] = await answer(Executor([desk.tool("book", "write")]), call("book"))
    assert result == CallResult(call_id="c", text=text, is_error=True, arguments={"n": 1})


@pytest.mark.asyncio
async def test_an_operation_that_was_done_is_answered_from_the_record() -> None:
    desk = Desk()
    executor = Executor([desk.tool("book", "write", operation=("n",))])
    first, second = await answer(executor, call("book", call_id="a"), call("book", call_id="b"))
    [third] = await answer(executor, call("book", call_id="c"))
    assert [r.text for r in (first, second, third)] == ["done 1"] * 3
    assert [r.call_id for r in (first, second, third)] == ["a", "b", "c"]
    assert desk.log == ["book 1 begins", "book 1 ends"]


@pytest.mark.asyncio
async def test_an_operation_that_was_done_otherwise_is_not_passed_off_as_this_one() -> None:
    desk = Desk()
    executor = Executor([desk.tool("book", "write", operation=("n",))])
    await answer(executor, call("book", note="window"))
    [result] = await answer(executor, call("book", note="aisle"))
    assert error_of(result)["code"] == "already_done"
    assert "window" in result.text
    assert desk.log == ["book 1 begins", "book 1 ends"]


@pytest.mark.asyncio
async def test_another_operation_is_another_action() -> None:
    desk = Desk()
    executor = Executor([desk.tool("book", "write", operation=("n",))])
    await answer(executor, call("book", 1), call("book", 2))
    assert desk.log == ["book 1 begins", "book 1 ends", "book 2 begins", "book 2 ends"]
    assert len(set(desk.operations)) == 2
    assert None not in desk.operations


@pytest.mark.asyncio
async def test_without_operation_key_each_call_is_an_action_of_its_own() -> None:
    desk = Desk()
    executor = Executor([desk.tool("book", "write")])
    await answer(executor, call("book"), call("book"))
    assert desk.log == ["book 1 begins", "book 1 ends"] * 2


@pytest.mark.asyncio
async def test_an_empty_operation_key_makes_all_calls_one_action() -> None:
    desk = Desk()
    executor = Executor([desk.tool("book", "write", operation=())])
    await answer(executor, call("book", 1), call("book", 2))
    assert desk.log == ["book 1 begins", "book 1 ends"]


@pytest.mark.asyncio
async def test_a_read_with_an_operation_key_is_read_afresh() -> None:
    desk = Desk()
    executor = Executor([desk.tool("look", "read", operation=("n",))])
    await answer(executor, call("look"))
    await answer(executor, call("look"))
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
    executor = Executor([desk.tool("book", "write", operation=("n",))])
    [first] = await answer(executor, call("book"))
    [second] = await answer(executor, call("book"))
    assert (first.is_error, second.text) == (True, "done 1")


@pytest.mark.asyncio
async def test_an_operation_of_unknown_outcome_is_not_begun_again() -> None:
    desk = Desk(endings=[ConnectionError("gone")])
    executor = Executor([desk.tool("book", "write", operation=("n",))])
    await answer(executor, call("book"))
    [again] = await answer(executor, call("book"))
    assert error_of(again)["code"] == "outcome_unknown"
    assert desk.log == ["book 1 begins", "book 1 ends"]


@pytest.mark.asyncio
@pytest.mark.parametrize("look_up", [LookUp("inconclusive"), RuntimeError("down")])
async def test_a_look_up_that_cannot_tell_changes_nothing(look_up: LookUp | Exception) -> None:
    desk = Desk(endings=[ConnectionError("gone")], answers=[look_up])
    executor = Executor([desk.tool("book", "write", operation=("n",), look_up=True)])
    await answer(executor, call("book"))
    [again] = await answer(executor, call("book"))
    assert error_of(again)["code"] == "outcome_unknown"
    assert desk.asked == desk.operations


@pytest.mark.asyncio
async def test_what_a_look_up_finds_is_the_result_from_then_on() -> None:
    desk = Desk(endings=[ConnectionError("gone")], answers=[LookUp("found", "seat 1")])
    executor = Executor([desk.tool("book", "write", operation=("n",), look_up=True)])
    await answer(executor, call("book"))
    results = [*await answer(executor, call("book")), *await answer(executor, call("book"))]
    assert [result.text for result in results] == ["seat 1", "seat 1"]
    assert desk.log == ["book 1 begins", "book 1 ends"]
    assert len(desk.asked) == 1


@pytest.mark.asyncio
async def test_a_look_up_that_finds_nothing_lets_the_call_run() -> None:
    desk = Desk(endings=[ConnectionError("gone")], answers=[LookUp("absent")])
    executor = Executor([desk.tool("book", "write", operation=("n",), look_up=True)])
    await answer(executor, call("book"))
    [again] = await answer(executor, call("book"))
    assert again.text == "done 1"
    assert desk.operations[0] == desk.operations[1]


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
