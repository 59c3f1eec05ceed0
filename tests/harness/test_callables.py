"""Frameworks look at functions: at names, hints, docstrings and source."""

from __future__ import annotations

import asyncio
import inspect
import typing
from collections.abc import Callable
from typing import Any, Literal

import pytest

from loopcheck.harness.task import Tool
from loopcheck.harness.world.callables import build_tool

SIMPLE: dict[str, object] = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "description": "Where,\n  exactly."},
        "days": {"type": "integer"},
        "radius": {"type": "number"},
        "indoors": {"type": "boolean"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "note": {"type": "string"},
    },
    "required": ["city", "days", "radius", "indoors", "tags"],
    "additionalProperties": False,
}
GIVEN: dict[str, object] = {
    "city": "Basel",
    "days": 2,
    "radius": 1.5,
    "indoors": True,
    "tags": ["a"],
}


class Calls:
    """Records what reaches the tool."""

    def __init__(self) -> None:
        self.seen: list[dict[str, object]] = []

    def call(
        self,
        arguments: dict[str, object],
        call_id: str | None = None,
        operation_id: str | None = None,
    ) -> str:
        self.seen.append(arguments)
        return f"result of {len(self.seen)}"

    async def acall(
        self,
        arguments: dict[str, object],
        call_id: str | None = None,
        operation_id: str | None = None,
    ) -> str:
        return self.call(arguments, call_id, operation_id)


def made(
    calls: Calls,
    properties: dict[str, object],
    *,
    required: tuple[str, ...] = (),
    name: str = "get_weather",
    description: str = "Looks the weather up.",
    blocking: bool = True,
) -> Tool:
    return build_tool(
        name,
        description,
        {"type": "object", "properties": properties, "required": list(required)},
        "read",
        None,
        call=calls.call,
        acall=calls.acall,
        blocking=blocking,
    )


def simple(calls: Calls, *, blocking: bool = False) -> Tool:
    return build_tool(
        "get_weather",
        "Looks the weather up.",
        SIMPLE,
        "read",
        ("city",),
        call=calls.call,
        acall=calls.acall,
        blocking=blocking,
    )


def shape(schema: object) -> tuple[dict[str, object], list[str]]:
    """Properties with their types, and the required ones: what all frameworks have to agree on."""
    assert isinstance(schema, dict)
    properties: dict[str, object] = {
        name: {key: value for key, value in spec.items() if key in ("type", "items")}
        for name, spec in schema["properties"].items()
    }
    return properties, sorted(schema["required"])


SIMPLE_SHAPE = shape(SIMPLE)


def test_tool_carries_what_it_was_given() -> None:
    calls = Calls()
    tool = simple(calls)
    assert (tool.name, tool.description) == ("get_weather", "Looks the weather up.")
    assert tool.parameters is SIMPLE
    assert (tool.kind, tool.operation) == ("read", ("city",))
    assert (tool.call, tool.acall) == (calls.call, calls.acall)


def test_source_is_that_of_an_ordinary_function() -> None:
    assert inspect.getsource(simple(Calls()).function) == (
        "async def get_weather(city: str, days: int, radius: float, indoors: bool, "
        "tags: list[str], note: str = None) -> str:\n"
        '    """Looks the weather up.\n'
        "\n"
        "    Args:\n"
        "        city: Where, exactly.\n"
        '    """\n'
        "    return await __loopcheck_invoke__({'city': city, 'days': days, 'radius': radius, "
        "'indoors': indoors, 'tags': tags, 'note': note})\n"
    )


@pytest.mark.parametrize("blocking", [True, False])
def test_kind_of_function_follows_blocking(blocking: bool) -> None:
    calls = Calls()
    function: Callable[..., Any] = simple(calls, blocking=blocking).function
    assert inspect.iscoroutinefunction(function) is not blocking
    answer = function(**GIVEN) if blocking else asyncio.run(function(**GIVEN))
    assert answer == "result of 1"
    assert calls.seen == [GIVEN]


@pytest.mark.parametrize(
    ("schema", "hint"),
    [
        ({"type": "string"}, str),
        ({"type": "integer"}, int),
        ({"type": "number"}, float),
        ({"type": "boolean"}, bool),
        ({"type": "object"}, dict[str, Any]),
        ({"type": "array"}, list[Any]),
        ({"type": "array", "items": {"type": "integer"}}, list[int]),
        ({"type": "array", "items": {"enum": [1, 2]}}, list[Literal[1, 2]]),
        ({"type": "string", "enum": ["a", 'b"']}, Literal["a", 'b"']),
        ({"enum": ["a", None]}, Literal["a", None]),
        ({"type": ["string", "null"]}, str | None),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, int | None),
        ({"oneOf": [{"type": "integer"}, {"minimum": 1}]}, Any),
        ({}, Any),
    ],
)
def test_hint_of_each_schema(schema: dict[str, object], hint: object) -> None:
    function = made(Calls(), {"value": schema}, required=("value",)).function
    assert typing.get_type_hints(function) == {"value": hint, "return": str}
    assert inspect.signature(function).parameters["value"].default is inspect.Parameter.empty


def test_optional_argument_has_the_default_of_its_schema() -> None:
    calls = Calls()
    tool = made(
        calls,
        {"unit": {"type": "string", "default": "C"}, "city": {"type": "string"}},
        required=("city",),
    )
    tool.function("Bern")
    assert calls.seen == [{"unit": "C", "city": "Bern"}]


def test_optional_argument_left_at_none_is_passed_on_only_where_null_is_allowed() -> None:
    calls = Calls()
    tool = made(
        calls,
        {
            "plain": {"type": "string"},
            "nullable": {"type": ["string", "null"]},
            "either": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            "word": {"enum": ["a", "b"]},
            "word_or_null": {"enum": ["a", None]},
            "defaulted": {"type": "string", "default": None},
            "needed": {"type": "string"},
        },
        required=("needed",),
    )
    tool.function(needed=None)
    assert calls.seen == [
        dict.fromkeys(["nullable", "either", "word_or_null", "defaulted", "needed"])
    ]


def test_tool_whose_name_is_no_identifier_keeps_its_parameters() -> None:
    function = made(Calls(), {"city": {"type": "string"}}, name="get-weather").function
    assert function.__name__ == "get-weather"
    assert str(inspect.signature(function)) == "(city: str = None) -> str"
    assert inspect.getsource(function).startswith("def tool(city: str = None)")


@pytest.mark.parametrize("odd", ["x-id", "class", "2nd", "__loopcheck_invoke__", "a b"])
def test_parameter_whose_name_is_no_identifier_makes_kwargs(odd: str) -> None:
    calls = Calls()
    function = made(calls, {odd: {"type": "string"}, "b": {"type": "string"}}).function
    assert str(inspect.signature(function)) == "(**kwargs: Any) -> str"
    assert function.__name__ == "get_weather"
    function(**{odd: "1", "b": None})
    assert calls.seen == [{odd: "1"}]


def test_docstring_survives_quotes_and_backslashes() -> None:
    text = 'Says """hello""" and \\n, then ends in "'
    assert made(Calls(), {}, description=text).function.__doc__ == text


def test_description_comes_from_the_name_where_there_is_none() -> None:
    tool = made(Calls(), {}, name="reserve_seat", description="")
    assert tool.description == "Reserve seat."
    assert tool.function.__doc__ == "Reserve seat."


def test_same_source_is_kept_once() -> None:
    first, second = (simple(Calls()).function for _ in range(2))
    assert inspect.getsourcefile(first) == inspect.getsourcefile(second)


@pytest.mark.parametrize("blocking", [True, False])
def test_langchain_derives_the_schema(blocking: bool) -> None:
    tools = pytest.importorskip("langchain_core.tools")
    tool = tools.tool(simple(Calls(), blocking=blocking).function)
    assert tool.name == "get_weather"
    assert shape(tool.args_schema.model_json_schema()) == SIMPLE_SHAPE


@pytest.mark.parametrize("blocking", [True, False])
def test_pydantic_ai_derives_the_schema(blocking: bool) -> None:
    pydantic_ai = pytest.importorskip("pydantic_ai")
    from pydantic_ai.models.test import TestModel

    model = TestModel(call_tools=[])
    agent = pydantic_ai.Agent(model, tools=[simple(Calls(), blocking=blocking).function])
    asyncio.run(agent.run("hello"))
    assert model.last_model_request_parameters is not None
    (definition,) = model.last_model_request_parameters.function_tools
    assert definition.name == "get_weather"
    assert definition.parameters_json_schema["properties"]["city"]["description"] == (
        "Where, exactly."
    )
    assert shape(definition.parameters_json_schema) == SIMPLE_SHAPE


@pytest.mark.parametrize("blocking", [True, False])
def test_openai_agents_derives_the_schema(blocking: bool) -> None:
    agents = pytest.importorskip("agents")
    tool = agents.function_tool(simple(Calls(), blocking=blocking).function, strict_mode=False)
    assert tool.name == "get_weather"
    assert shape(tool.params_json_schema) == SIMPLE_SHAPE


@pytest.mark.parametrize("blocking", [True, False])
def test_anthropic_derives_the_schema(blocking: bool) -> None:
    anthropic = pytest.importorskip("anthropic")
    wrap: Callable[..., Any] = anthropic.beta_tool if blocking else anthropic.beta_async_tool
    tool = wrap(simple(Calls(), blocking=blocking).function)
    assert tool.name == "get_weather"
    assert shape(tool.to_dict()["input_schema"]) == SIMPLE_SHAPE
