"""An agent's own functions as tools of the world: their runs are journalled as executions."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Container, Mapping
from concurrent.futures import Future
from functools import wraps
from typing import Any, Final, Protocol, TypeAlias

from pydantic_core import to_jsonable_python

from loopcheck.fake_providers.wire import JsonObject
from loopcheck.harness.world.behaviours import Ending
from loopcheck.harness.world.bodies import Body
from loopcheck.harness.world.course import Course, Courses, adrive, drive
from loopcheck.harness.world.gates import Gates, Waiter

# Any: an agent's own functions take and return whatever they like.
OwnFunction: TypeAlias = Callable[..., Any]

_BEFORE: Final = "; record a function before a framework makes a tool of it"
_JSON: Final = (str, int, float, list, tuple, dict, type(None))


class Recorder(Protocol):
    """Has functions run as executions of the tool of that name. Both return and raise what the
    loop is to see."""

    def run(self, tool: str, arguments: JsonObject, function: Callable[[], object]) -> object: ...

    async def arun(
        self, tool: str, arguments: JsonObject, function: Callable[[], Awaitable[object]]
    ) -> object: ...


class OwnTools:
    """A recorder in the world's own process, and the steps of it for one in another."""

    def __init__(
        self, enter: Callable[[str, JsonObject], Body], courses: Courses, gates: Gates
    ) -> None:
        self.enter = enter
        self._courses = courses
        self._gates = gates

    def course(self, body: Body, left: Future[None] | None = None) -> Course:
        """The course of a body that was entered; it has the function run where it is to run."""
        return self._courses.course(body, own=True, left=left)

    def hold(self, body: Body) -> Waiter:
        """A waiter for a function that runs elsewhere, which also the end of the case lets go."""
        return self._gates.hang(body.who)

    def let_go(self, waiter: Waiter) -> None:
        """The function that was waited for has ended."""
        self._gates.let_go(waiter)

    def run(self, tool: str, arguments: JsonObject, function: Callable[[], object]) -> object:
        return _handed_back(drive(self.course(self.enter(tool, arguments)), function))

    async def arun(
        self, tool: str, arguments: JsonObject, function: Callable[[], Awaitable[object]]
    ) -> object:
        return _handed_back(await adrive(self.course(self.enter(tool, arguments)), function))


def recorded(
    function: OwnFunction,
    recorder: Recorder,
    parameters: Callable[[str], JsonObject],
    *,
    name: str | None = None,
) -> OwnFunction:
    """The function with each of its runs recorded as an execution of the tool of its name.

    It stays of the same kind, with the same name, signature and docstring. `parameters` is the
    schema that the scenario has for a tool. Raises TypeError for what is no function.
    """
    tool = _name_of(function) if name is None else name
    signature = inspect.signature(function)
    properties = parameters(tool).get("properties")
    known = properties if isinstance(properties, dict) else ()

    def arguments(args: tuple[object, ...], kwargs: Mapping[str, object]) -> JsonObject:
        return _by_name(signature.bind(*args, **kwargs), known)

    @wraps(function)
    def run(*args: object, **kwargs: object) -> object:
        return recorder.run(tool, arguments(args, kwargs), lambda: function(*args, **kwargs))

    @wraps(function)
    async def arun(*args: object, **kwargs: object) -> object:
        def call() -> Awaitable[object]:
            awaitable: Awaitable[object] = function(*args, **kwargs)
            return awaitable

        return await recorder.arun(tool, arguments(args, kwargs), call)

    return arun if _is(inspect.iscoroutinefunction, function) else run


def _name_of(function: OwnFunction) -> str:
    kind = type(function).__name__
    if not callable(function):
        raise TypeError(f"{kind} is no function{_BEFORE}")
    for piecewise in (inspect.isgeneratorfunction, inspect.isasyncgenfunction):
        if _is(piecewise, function):
            raise TypeError(f"{function!r} gives its result piece by piece, which is no tool")
    name = getattr(function, "__name__", None)
    if not isinstance(name, str):
        raise TypeError(f"{kind} has no name of its own: give it with name={_BEFORE}")
    return name


def _is(kind: Callable[[object], bool], function: OwnFunction) -> bool:
    return kind(function) or kind(getattr(function, "__call__", None))  # noqa: B004


def _by_name(bound: inspect.BoundArguments, known: Container[str]) -> JsonObject:
    """The arguments as JSON. What is neither known to the scenario nor JSON was not said by a
    model: it is the context that a framework hands to its tools."""
    arguments: dict[str, object] = {}
    for name, value in bound.arguments.items():
        kind = bound.signature.parameters[name].kind
        arguments.update(value if kind is inspect.Parameter.VAR_KEYWORD else {name: value})
    return {
        name: to_jsonable_python(value, fallback=str)
        for name, value in arguments.items()
        if name in known or isinstance(value, _JSON)
    }


def _handed_back(ending: Ending) -> object:
    if ending.exception is not None:
        raise ending.exception
    return ending.value
