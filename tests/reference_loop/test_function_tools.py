"""Tools that are plain Python functions."""

from __future__ import annotations

import asyncio
import functools
import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import date
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import AfterValidator, BaseModel, Field
from tool_desk import Runner, answer, call, error_of

import loopcheck.reference_loop as room
from loopcheck.reference_loop import (
    CallId,
    LoopTool,
    OperationId,
    ToolDefinitionError,
    ToolFailure,
    function_tool,
)
from loopcheck.reference_loop import schema as schemas
from loopcheck.reference_loop.tools import catalogue


def run(tool: LoopTool, operation_id: str | None = None, /, **arguments: object) -> str:
    """What a call gives, after the check that the loop makes before it."""
    assert schemas.problems(tool.parameters, arguments) == []

    async def invoke() -> str:
        return await tool.invoke(arguments, call_id="call_1", operation_id=operation_id)

    return asyncio.run(invoke())


def properties(tool: LoopTool) -> dict[str, Any]:
    catalogue([tool])  # the loop's own check
    found = tool.parameters["properties"]
    assert isinstance(found, dict)
    return found


word: ContextVar[int] = ContextVar("word")


class Class(Enum):
    FIRST = "first"
    SECOND = "second"


@dataclass
class Place:
    row: int
    near: list[Place] | None = None


def even(number: int) -> int:
    if number % 2:
        raise ValueError("odd")
    return number


class Guest(BaseModel):
    name: str


async def reserve(
    seat: Annotated[int, Field(ge=1, description="The number on the seat.")],
    guest: Guest,
    place: Place,
    kind: Class = Class.FIRST,
    side: Literal["left", "right"] = "left",
    day: date | None = None,
) -> dict[str, object]:
    """Reserves a seat.

    It is held for ten minutes.

    Args:
        seat: Not this text.
        side: Which side of
            the aisle.
        other: No such parameter.
    """
    return {"seat": seat, "guest": guest, "place": place, "kind": kind, "side": side, "day": day}


def test_the_signature_is_the_schema_and_the_docstring_describes_it() -> None:
    tool = function_tool(reserve, kind="write")
    assert (tool.name, tool.kind) == ("reserve", "write")
    assert tool.description == "Reserves a seat.\n\nIt is held for ten minutes."
    assert tool.parameters == {
        "type": "object",
        "properties": {
            "seat": {"type": "integer", "minimum": 1, "description": "The number on the seat."},
            "guest": {"$ref": "#/$defs/Guest"},
            "place": {"$ref": "#/$defs/Place"},
            "kind": {"$ref": "#/$defs/Class", "default": "first"},
            "side": {
                "type": "string",
                "enum": ["left", "right"],
                "default": "left",
                "description": "Which side of\nthe aisle.",
            },
            "day": {
                "anyOf": [{"type": "string", "format": "date"}, {"type": "null"}],
                "default": None,
            },
        },
        "required": ["seat", "guest", "place"],
        "additionalProperties": False,
        "$defs": properties_of_definitions(),
    }
    catalogue([tool])


def properties_of_definitions() -> dict[str, object]:
    near = {"items": {"$ref": "#/$defs/Place"}, "type": "array"}
    return {
        "Class": {"enum": ["first", "second"], "type": "string", "title": "Class"},
        "Guest": {
            "type": "object",
            "title": "Guest",
            "properties": {"name": {"type": "string"}},
            "required": ["name"],
        },
        "Place": {
            "type": "object",
            "title": "Place",
            "properties": {
                "row": {"type": "integer"},
                "near": {"anyOf": [near, {"type": "null"}], "default": None},
            },
            "required": ["row"],
            "additionalProperties": False,
        },
    }


def test_the_function_gets_values_of_its_types_and_gives_json() -> None:
    tool = function_tool(reserve, kind="write")
    place = {"row": 3, "near": [{"row": 4}]}
    text = run(tool, seat=12, guest={"name": "Ada"}, place=place, day="2026-03-01")
    assert json.loads(text) == {
        "seat": 12,
        "guest": {"name": "Ada"},
        "place": {"row": 3, "near": [{"row": 4, "near": None}]},
        "kind": "first",
        "side": "left",
        "day": "2026-03-01",
    }


def test_what_is_left_out_stays_the_functions_own_default() -> None:
    default: list[int] = []

    def collect(numbers: list[int] = default, mark: object = default) -> bool:
        return numbers is default and mark is default

    tool = function_tool(collect, kind="read")
    assert run(tool) == "true"
    assert run(tool, numbers=[1]) == "false"


def test_defaults_of_pydantic_are_filled_in() -> None:
    def count(
        first: int = Field(default=3, ge=1),
        second: Annotated[int, Field(le=9)] = 5,
        third: int = Field(default_factory=lambda: 6),
    ) -> list[int]:
        return [first, second, third]

    tool = function_tool(count, kind="read")
    assert run(tool) == "[3,5,6]"
    assert run(tool, first=1, third=2) == "[1,5,2]"
    assert "required" not in tool.parameters


def test_parameters_may_have_any_name_and_be_by_position_or_by_name_only() -> None:
    def odd(model_config: int, /, schema: str, _private: int = 1, *, copy: bool) -> list[object]:
        return [model_config, schema, _private, copy]

    tool = function_tool(odd, kind="read")
    assert list(properties(tool)) == ["model_config", "schema", "_private", "copy"]
    assert run(tool, model_config=1, schema="s", copy=True) == '[1,"s",1,true]'


def test_a_parameter_by_position_only_may_be_left_out() -> None:
    def add(one: int, two: int = 2, /) -> int:
        return one + two

    assert run(function_tool(add, kind="read"), one=1) == "3"


def test_ids_of_the_loop_are_filled_in_and_never_asked_of_the_model() -> None:
    def book(seat: int, *, call: CallId, key: OperationId = "default") -> list[object]:
        return [seat, call, key]

    tool = function_tool(book, kind="write", operation=("seat",))
    assert list(properties(tool)) == ["seat"]
    assert run(tool, "op-1", seat=1) == '[1,"call_1","op-1"]'
    assert run(tool, seat=1) == '[1,"call_1",null]'


def test_everything_else_is_as_the_caller_says() -> None:
    async def look_up(operation_id: str) -> Any:
        raise AssertionError

    tool = function_tool(
        reserve,
        kind="write",
        name="reserve_2",
        description="",
        operation=("seat",),
        look_up=look_up,
        deduplicates=True,
        version="2",
        resource="seats/{seat}",
        seconds=3.0,
    )
    catalogue([tool])
    assert (tool.name, tool.description, tool.operation) == ("reserve_2", "", ("seat",))
    assert (tool.look_up, tool.deduplicates, tool.version) == (look_up, True, "2")
    assert (tool.resource, tool.seconds) == ("seats/{seat}", 3.0)


class Desk:
    """A desk."""

    def greet(self, name: str) -> str:
        """Greets."""
        return f"Hello, {name}."

    async def __call__(self, number: float) -> float:
        return number


class Clerk(Desk):
    async def __call__(self, number: float) -> float:
        """Counts."""
        return number


def decorated(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(**named: object) -> object:
        return function(**named)

    return wrapper


@pytest.mark.parametrize(
    ("function", "name", "description", "argument", "result"),
    [
        (Desk().greet, None, "Greets.", {"name": "Ada"}, "Hello, Ada."),
        (Desk(), "desk", "A desk.", {"number": 1}, "1.0"),
        (Clerk(), "clerk", "Counts.", {"number": 1}, "1.0"),
        (functools.partial(Desk.greet, Desk()), "greet", "Greets.", {"name": "Ada"}, "Hello, Ada."),
        (Guest, None, "", {"name": "Ada"}, '{"name":"Ada"}'),
        (decorated(Desk().greet), None, "Greets.", {"name": "Ada"}, "Hello, Ada."),
        (decorated(Desk().__call__), "wrapped", "", {"number": 2}, "2.0"),
    ],
)
def test_whatever_can_be_called_is_a_function(
    function: Callable[..., object],
    name: str | None,
    description: str,
    argument: dict[str, object],
    result: str,
) -> None:
    tool = function_tool(function, kind="read", name=name)
    assert tool.description == description
    assert list(properties(tool)) == list(argument)
    assert run(tool, None, **argument) == result


async def starred(*seats: int) -> None: ...
async def double_starred(**seats: int) -> None: ...
async def bare(seat) -> None: ...  # type: ignore[no-untyped-def]
async def no_json(desk: Desk) -> None: ...
async def two_defaults(seat: Annotated[int, Field(default_factory=int)] = 5) -> None: ...
async def unfinished(desk: Desks) -> None: ...  # type: ignore[name-defined]  # noqa: F821
def generator(seat: int) -> Iterator[int]:
    yield seat


def test_signatures_that_say_too_little_are_refused_by_name() -> None:
    assert refusal(starred) == (
        "function starred, parameter *seats: the model has to know each parameter by name"
    )
    assert refusal(double_starred).startswith("function double_starred, parameter **seats: ")
    assert refusal(bare) == "function bare, parameter seat has no annotation"
    assert refusal(no_json).startswith("function no_json, parameter desk: Unable to generate")
    assert refusal(two_defaults).startswith("function two_defaults, parameter seat: cannot specify")
    assert refusal(unfinished) == "function unfinished: name 'Desks' is not defined"
    assert refusal(generator) == "function generator is a generator; a tool gives one result"
    assert refusal(lambda: 1).startswith("function <lambda>: '<lambda>' is no name for a tool; ")
    assert refusal(Desk()).startswith("function <")
    assert refusal(max).startswith("function max: no signature found")


def refusal(function: Callable[..., object]) -> str:
    with pytest.raises(ToolDefinitionError) as refused:
        function_tool(function, kind="read")
    return str(refused.value)


def test_an_operation_names_what_the_model_is_asked_for() -> None:
    with pytest.raises(ToolDefinitionError, match=r"^function reserve: its operation names seats,"):
        function_tool(reserve, kind="write", operation=("seats",))


def test_what_the_schema_cannot_say_is_refused_before_the_function_runs() -> None:
    ran: list[int] = []

    def take(pair: tuple[Annotated[int, AfterValidator(even)], int]) -> None:
        ran.append(pair[0])

    tool = function_tool(take, kind="write")
    with pytest.raises(ToolFailure) as failure:
        run(tool, pair=[1, 2])
    assert failure.value == ToolFailure("invalid_arguments", "$.pair.0: Value error, odd")
    assert ran == []
    assert run(tool, pair=[2, 2]) == "null"


def test_a_plain_function_does_not_hold_up_the_loop() -> None:
    both = threading.Barrier(2)

    def wait(number: int) -> int:
        both.wait(timeout=10)
        return word.get() + number

    async def together() -> list[str]:
        word.set(10)
        tool = function_tool(wait, kind="read")
        return await asyncio.gather(
            *(tool.invoke({"number": n}, call_id="c", operation_id=None) for n in (1, 2))
        )

    assert asyncio.run(together()) == ["11", "12"]


def test_stop_iteration_in_a_thread_hangs_nobody() -> None:
    def take() -> int:
        return next(iter(()))

    with pytest.raises(RuntimeError, match="raised StopIteration"):
        run(function_tool(take, kind="read"))


def test_failures_go_to_the_loop_as_they_are() -> None:
    def refuse() -> None:
        raise ToolFailure("sold_out", "Nothing is left.")

    with pytest.raises(ToolFailure, match="sold_out: Nothing is left"):
        run(function_tool(refuse, kind="write"))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("plain", "plain"),
        (None, "null"),
        (b"\xff", '"_w=="'),
        ({"n": float("nan")}, '{"n":null}'),
        (Class.FIRST, '"first"'),
        ({date(2026, 3, 1)}, '["2026-03-01"]'),
        (Desk, "\"<class 'test_function_tools.Desk'>\""),
    ],
)
def test_results_are_text_or_become_json(value: object, text: str) -> None:
    def give() -> object:
        return value

    assert run(function_tool(give, kind="read")) == text


def test_a_result_that_cannot_be_shown_is_no_failure_of_a_write() -> None:
    ring: list[object] = []
    ring.append(ring)

    def give() -> object:
        return ring

    assert run(function_tool(give, kind="write")).startswith(
        "It was done. Its result cannot be written as JSON: "
    )
    with pytest.raises(ValueError, match="Circular"):
        run(function_tool(give, kind="read"))


def test_other_styles_of_docstrings_are_read_too() -> None:
    def odd(seat: int) -> None:
        """Does.

        :param seat: The seat.
        """

    tool = function_tool(odd, kind="read")
    assert tool.description == "Does."
    assert properties(tool)["seat"]["description"] == "The seat."


@settings(max_examples=40)
@given(
    numbers=st.lists(st.integers() | st.floats(allow_nan=False, allow_infinity=False)),
    words=st.dictionaries(st.text(), st.text(st.characters(exclude_categories=["Cs"]))),
    flag=st.booleans() | st.none(),
)
def test_arguments_reach_the_function_unchanged(
    numbers: list[float], words: dict[str, str], flag: bool | None
) -> None:
    seen: list[object] = []

    async def take(
        numbers: list[int | float], words: dict[str, str], flag: bool | None = True
    ) -> None:
        seen.extend([numbers, words, flag])

    run(function_tool(take, kind="read"), numbers=numbers, words=words, flag=flag)
    assert seen == [numbers, words, flag]


@pytest.mark.asyncio
async def test_the_loop_runs_it_as_any_other_tool() -> None:
    seats: list[int] = []

    def take(n: int, note: str = "") -> str:
        """Takes a seat."""
        seats.append(n)
        return f"seat {n}"

    runner = Runner([function_tool(take, kind="write", operation=("n",))])
    results = await answer(runner, call("take", 1), call("take", 1), call("take", note=2))
    assert [result.text for result in results[:2]] == ["seat 1", "seat 1"]
    assert error_of(results[2])["code"] == "invalid_arguments"
    assert seats == [1]


@pytest.mark.parametrize("name", room.__all__)
def test_every_name_of_the_room_is_there(name: str) -> None:
    assert getattr(room, name) is not None


def test_no_other_name_is() -> None:
    with pytest.raises(AttributeError, match=r"has no attribute 'spoon'"):
        room.spoon  # noqa: B018


def test_the_room_itself_loads_none_of_it() -> None:
    program = (
        "import sys, loopcheck.reference_loop as room\n"
        "late = {'docstring_parser', 'httpx2', 'pydantic'} & set(sys.modules)\n"
        "room.function_tool, room.openapi_tools\n"
        "print(sorted(late), 'httpx2' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.decode().strip() == "[] True"
