"""An agent's own functions, whose runs the world counts."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from typing import Any

import pytest
from worlds import Arguments, Staged

from loopcheck.harness.tool_values import RateLimited
from loopcheck.harness.world.gates import CaseEnded


@dataclass
class Agent:
    """An agent with tools of its own; `runs` are those that really happened."""

    runs: list[tuple[object, ...]] = field(default_factory=list)
    result: object = "booked"

    def pay(self, to: str, cents: int = 5) -> Any:
        """Pays someone."""
        self.runs.append((to, cents))
        if isinstance(self.result, BaseException):
            raise self.result
        return self.result

    async def apay(self, to: str, cents: int = 5) -> Any:
        """Pays someone, in a while."""
        await asyncio.sleep(0)
        return self.pay(to, cents)


def world(*behaves: object, **keys: object) -> Staged:
    args = {"to": "string", "cents": "integer", "on": "string"}
    behaviours = {"behaves": list(behaves)} if behaves else {}
    staged = Staged({"pay": {"kind": "write", "args": args, **behaviours, **keys}})
    staged.issue(("book", "pay", '{"to":"Ann","cents":7}'))
    return staged


def pay(staged: Staged, agent: Agent, *args: object, is_async: bool = False, **kw: object) -> Any:
    """Runs the agent's recorded tool, of either kind."""
    if not is_async:
        return staged.world.record(agent.pay)(*args, **kw)
    recorded = staged.world.record(agent.apay, name="pay")

    async def run() -> object:
        return await recorded(*args, **kw)

    return asyncio.run(run())


both = pytest.mark.parametrize("is_async", [False, True])


@both
def test_run_is_an_execution_with_its_arguments_by_name(is_async: bool) -> None:
    staged, agent = world(operation=["to"]), Agent()
    result = pay(staged, agent, "Ann", cents=7, is_async=is_async)
    (token,) = staged.world.tokens(["book"])
    assert result == f"booked {token}"
    assert agent.runs == [("Ann", 7)]
    arguments = {"to": "Ann", "cents": 7}
    assert staged.entries() == [
        {
            "kind": "execution",
            "execution": 1,
            "tool": "pay",
            "arguments": arguments,
            "label": "book",
            "call_id": None,
            "operation_id": None,
            "token": token,
        },
        {
            "kind": "effect",
            "execution": 1,
            "tool": "pay",
            "arguments": arguments,
            "operation": {"to": "Ann"},
            "deduplicated": False,
        },
        {"kind": "ended", "execution": 1, "how": "result", "result": result},
    ]


def test_function_stays_what_it_is() -> None:
    staged, agent = world(), Agent()
    recorded = staged.world.record(agent.pay)
    arecorded = staged.world.record(agent.apay)
    assert (recorded.__name__, recorded.__doc__) == ("pay", "Pays someone.")
    assert inspect.signature(recorded) == inspect.signature(agent.pay)
    assert recorded.__annotations__ == agent.pay.__annotations__
    assert not inspect.iscoroutinefunction(recorded)
    assert inspect.iscoroutinefunction(arecorded)
    assert inspect.signature(arecorded) == inspect.signature(agent.apay)


def test_default_that_nobody_gave_is_no_argument() -> None:
    staged = world()
    pay(staged, Agent(), "Ann")
    assert staged.entries("execution")[0]["arguments"] == {"to": "Ann"}


@pytest.mark.parametrize(
    ("value", "handed_back", "text"),
    [
        ("booked", "booked {token}", "booked {token}"),
        ({"ok": True}, {"ok": True, "token": "{token}"}, '{{"ok": true, "token": "{token}"}}'),
        ([1, 2], [1, 2], "[1, 2]"),
        (None, None, "null"),
        (date(2026, 1, 2), date(2026, 1, 2), '"2026-01-02"'),
    ],
)
def test_token_goes_along_where_the_result_can_carry_it(
    value: object, handed_back: object, text: str
) -> None:
    staged = world()
    result = pay(staged, Agent(result=value), "Ann")
    token = str(staged.entries("execution")[0]["token"])
    if isinstance(handed_back, str):
        handed_back = handed_back.format(token=token)
    elif isinstance(handed_back, dict):
        handed_back = {**handed_back, "token": token}
    assert result == handed_back
    assert staged.entries("ended")[0]["result"] == text.format(token=token)


@both
def test_what_the_function_raises_is_its_own_and_has_no_effect(is_async: bool) -> None:
    staged, mine = world("commit-then-raise"), KeyError("no account")
    with pytest.raises(KeyError) as raised:
        pay(staged, Agent(result=mine), "Ann", is_async=is_async)
    assert raised.value is mine
    assert staged.course() == ["execution 1", "ended 1 raised"]
    assert staged.entries("ended")[0]["result"] == "KeyError: 'no account'"


@both
@pytest.mark.parametrize(
    ("behaviour", "raised", "course"),
    [
        ("raises", RuntimeError, ["ended 1 raised"]),
        ("raises-timeout", TimeoutError, ["ended 1 raised"]),
        ("rejects", PermissionError, ["ended 1 rejected"]),
        ("rate-limited", RateLimited, ["ended 1 rejected"]),
        ("error-result", None, ["ended 1 error"]),
    ],
)
def test_world_stands_in_where_nothing_is_to_happen(
    behaviour: str, raised: type[Exception] | None, course: list[str], is_async: bool
) -> None:
    staged, agent = world(behaviour), Agent()
    if raised is None:
        assert "tool_error" in pay(staged, agent, "Ann", is_async=is_async)
    else:
        with pytest.raises(raised):
            pay(staged, agent, "Ann", is_async=is_async)
    assert agent.runs == []
    assert staged.course()[1:] == course


def test_denied_function_is_not_run() -> None:
    staged, agent = world(permission="denied"), Agent()
    with pytest.raises(PermissionError):
        pay(staged, agent, "Ann")
    assert agent.runs == []


@both
@pytest.mark.parametrize(
    ("behaviour", "raised"),
    [("commit-then-raise", RuntimeError), ("commit-then-lose-response", ConnectionError)],
)
def test_world_fails_after_the_function_has_run(
    behaviour: str, raised: type[Exception], is_async: bool
) -> None:
    staged, agent = world(behaviour), Agent()
    with pytest.raises(raised):
        pay(staged, agent, "Ann", is_async=is_async)
    assert len(agent.runs) == 1
    assert staged.course() == ["execution 1", "effect 1", "ended 1 raised"]


@pytest.mark.parametrize(
    ("behaviour", "runs", "course"),
    [
        ("never-answers", 0, ["execution 1", "ended 1 abandoned"]),
        ("commit-then-hang", 1, ["execution 1", "effect 1", "ended 1 abandoned"]),
        ("commit-late", 1, ["execution 1", "ended 1 abandoned", "effect 1"]),
    ],
)
def test_function_that_hangs(behaviour: str, runs: int, course: list[str]) -> None:
    staged, agent = world(behaviour), Agent()
    recorded = staged.world.record(agent.apay, name="pay")

    async def run() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(recorded("Ann"), 0.01)

    asyncio.run(run())
    assert len(agent.runs) == runs
    assert staged.course() == course


def test_function_that_is_cancelled_itself_has_no_effect() -> None:
    staged = world()
    begun = asyncio.Event()

    async def own(to: str) -> None:
        begun.set()
        await asyncio.Event().wait()

    async def run() -> None:
        task = asyncio.create_task(staged.world.record(own, name="pay")("Ann"))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())
    assert staged.course() == ["execution 1", "ended 1 raised"]


def test_gate_holds_the_effect_of_a_function_that_has_run() -> None:
    staged, agent = world(commits_after=["never.ended"]), Agent()
    recorded = staged.world.record(agent.apay, name="pay")

    async def run() -> None:
        task = asyncio.create_task(recorded("Ann"))
        for _ in range(5):
            await asyncio.sleep(0)
        assert (len(agent.runs), staged.entries("effect")) == (1, [])
        staged.clock.now += 0.2
        staged.world.tick()
        await task

    asyncio.run(run())
    assert staged.course() == ["execution 1", "effect 1", "ended 1 result"]


def test_worlds_own_texts_go_before_the_functions() -> None:
    staged, agent = world("empty", "hostile"), Agent()
    assert pay(staged, agent, "Ann") == ""
    assert "ignore all previous instructions" in pay(staged, agent, "Ann")
    assert len(agent.runs) == 2


def test_function_that_the_scenario_does_not_have() -> None:
    staged = world()
    staged.issue(("list", "list_all", '{"to":"Ann"}'))

    def list_all(to: str, context: object) -> list[str]:
        return [to]

    assert staged.world.record(list_all)("Ann", object()) == ["Ann"]
    (execution,) = staged.entries("execution")
    assert (execution["tool"], execution["label"]) == ("list_all", "list")
    assert execution["arguments"] == {"to": "Ann"}
    assert staged.entries("effect") == []


def test_what_a_framework_hands_to_tools_is_no_argument() -> None:
    staged = world()

    @dataclass
    class Context:
        user: str

    def own(ctx: Context, to: str, on: date, **more: object) -> str:
        return f"{ctx.user} pays {to}"

    record = staged.world.record(own, name="pay")
    record(Context("Bob"), "Ann", date(2026, 1, 2), cents=7, trace=Context("x"))
    expected: Arguments = {"to": "Ann", "on": "2026-01-02", "cents": 7}
    assert staged.entries("execution")[0]["arguments"] == expected


def test_object_that_is_called_wants_a_name() -> None:
    staged = world()

    class Pay:
        async def __call__(self, to: str) -> str:
            return "paid"

    with pytest.raises(TypeError, match="Pay has no name of its own: give it with name="):
        staged.world.record(Pay())
    with pytest.raises(TypeError, match="partial has no name of its own"):
        staged.world.record(partial(Agent().pay, cents=7))
    recorded = staged.world.record(Pay(), name="pay")
    assert asyncio.run(recorded("Ann")).startswith("paid tk-")


def test_what_is_no_function() -> None:
    staged = world()

    def pieces(to: str) -> Iterator[str]:
        yield to

    async def apieces(to: str) -> AsyncIterator[str]:
        yield to

    for function in (pieces, apieces):
        with pytest.raises(TypeError, match="gives its result piece by piece"):
            staged.world.record(function)
    not_callable: Any = object()
    with pytest.raises(TypeError, match="object is no function; record a function before"):
        staged.world.record(not_callable)
    assert staged.entries() == []


def test_wrong_call_is_the_functions_own_error() -> None:
    staged, agent = world(), Agent()
    with pytest.raises(TypeError, match="missing a required argument: 'to'"):
        staged.world.record(agent.pay)()
    assert (staged.entries(), agent.runs) == ([], [])


def test_case_that_has_ended_runs_nothing() -> None:
    staged, agent = world(), Agent()
    staged.world.close()
    with pytest.raises(CaseEnded):
        pay(staged, agent, "Ann")
    assert agent.runs == []
