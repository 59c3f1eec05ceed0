"""An agent's own functions in another process, recorded over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date

import pytest
from worlds import Staged

from loopcheck.fake_providers.server import Server
from loopcheck.fake_providers.wire import HttpRequest
from loopcheck.harness.tool_values import RateLimited
from loopcheck.harness.worker.remote_recorder import RemoteRecorder
from loopcheck.harness.world.own_app import OwnApp
from loopcheck.harness.world.own_tools import OwnFunction, recorded

both = pytest.mark.parametrize("is_async", [False, True])


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server() as running:
        yield running


@dataclass
class Case:
    """A world that is served, and an agent on the other side whose tool is `pay`."""

    server: Server
    staged: Staged
    result: object = "paid"
    runs: list[object] = field(default_factory=list)

    def pay(self, to: str, on: object = None) -> object:
        """Pays someone."""
        self.runs.append(to)
        if isinstance(self.result, BaseException):
            raise self.result
        return self.result

    async def apay(self, to: str, on: object = None) -> object:
        return self.pay(to, on)

    @property
    def recorder(self) -> RemoteRecorder:
        return RemoteRecorder(f"{self.server.url}/c/k/own")

    def recorded(self, function: OwnFunction) -> OwnFunction:
        model = self.staged.world.specs(blocking=True)[0]
        return recorded(function, self.recorder, lambda _: model.parameters, name="pay")

    def run(self, *args: object, is_async: bool = False) -> object:
        if not is_async:
            return self.recorded(self.pay)(*args)

        async def run() -> object:
            return await self.recorded(self.apay)(*args)

        return asyncio.run(run())


Open = Callable[..., Case]


@pytest.fixture
def opened(server: Server) -> Iterator[Open]:
    cases: list[Case] = []

    def open_case(*behaves: object, result: object = "paid", **keys: object) -> Case:
        behaviours = {"behaves": list(behaves)} if behaves else {}
        args = {"to": "string", "on": "string"}
        staged = Staged({"pay": {"kind": "write", "args": args, **behaviours, **keys}})
        staged.issue(("pay", "pay", '{"to":"Ann"}'))
        server.mount("k", OwnApp(staged.world.own))
        cases.append(Case(server, staged, result))
        return cases[-1]

    yield open_case
    for case in cases:
        case.staged.world.close()
        server.unmount("k")
    assert server.errors == ()


@both
def test_run_is_an_execution(opened: Open, is_async: bool) -> None:
    case = opened()
    result = case.run("Ann", date(2026, 1, 2), is_async=is_async)
    (execution,) = case.staged.entries("execution")
    assert (result, case.runs) == (f"paid {execution['token']}", ["Ann"])
    assert case.staged.course() == ["execution 1", "effect 1", "ended 1 result"]
    assert execution["arguments"] == {"to": "Ann", "on": "2026-01-02"}
    assert case.staged.entries("ended")[0]["result"] == result


@pytest.mark.parametrize("value", [[1, 2], None, date(2026, 1, 2), "half a pair: \ud800"])
def test_value_itself_stays_where_it_is(opened: Open, value: object) -> None:
    result = opened(result=value).run("Ann")
    assert result == value or str(result).startswith(str(value))
    assert type(result) is type(value)


def test_dict_carries_the_token(opened: Open) -> None:
    case = opened(result={"ok": True})
    result = case.run("Ann")
    (token,) = case.staged.world.tokens(["pay"])
    assert result == {"ok": True, "token": token}


@both
def test_what_the_function_raises_is_its_own(opened: Open, is_async: bool) -> None:
    mine = KeyError("no account")
    case = opened(result=mine)
    with pytest.raises(KeyError) as raised:
        case.run("Ann", is_async=is_async)
    assert raised.value is mine
    assert case.staged.course() == ["execution 1", "ended 1 raised"]
    assert case.staged.entries("ended")[0]["result"] == "KeyError: 'no account'"


@both
@pytest.mark.parametrize(
    ("behaviour", "raised", "runs", "course"),
    [
        ("raises", RuntimeError, 0, ["ended 1 raised"]),
        ("rejects", PermissionError, 0, ["ended 1 rejected"]),
        ("commit-then-raise", RuntimeError, 1, ["effect 1", "ended 1 raised"]),
        ("commit-then-lose-response", ConnectionError, 1, ["effect 1", "ended 1 raised"]),
    ],
)
def test_world_raises(
    opened: Open,
    behaviour: str,
    raised: type[Exception],
    runs: int,
    course: list[str],
    is_async: bool,
) -> None:
    case = opened(behaviour)
    with pytest.raises(raised):
        case.run("Ann", is_async=is_async)
    assert len(case.runs) == runs
    assert case.staged.course()[1:] == course


def test_busy_system_says_when_to_ask_again(opened: Open) -> None:
    with pytest.raises(RateLimited) as raised:
        opened({"rate-limited": "300 ms"}).run("Ann")
    assert raised.value.retry_after == 0.3


def test_worlds_own_results_go_before_the_functions(opened: Open) -> None:
    case = opened("error-result", "empty")
    assert "tool_error" in str(case.run("Ann"))
    assert case.run("Ann") == ""
    assert case.runs == ["Ann"]


@pytest.mark.parametrize(
    ("behaviour", "runs", "last", "course"),
    [
        ("never-answers", 0, "ended", ["execution 1", "ended 1 abandoned"]),
        ("commit-then-hang", 1, "ended", ["execution 1", "effect 1", "ended 1 abandoned"]),
        ("commit-late", 1, "effect", ["execution 1", "ended 1 abandoned", "effect 1"]),
    ],
)
def test_loop_gives_up(
    opened: Open, behaviour: str, runs: int, last: str, course: list[str]
) -> None:
    case = opened(behaviour)

    async def run() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(case.recorded(case.apay)("Ann"), 0.4)

    asyncio.run(run())
    case.staged.await_entry(last)
    assert case.staged.course() == course
    assert len(case.runs) == runs


def test_case_that_ends_meanwhile(opened: Open) -> None:
    case = opened()

    def own(to: str) -> str:
        case.staged.world.close()
        return "too late"

    with pytest.raises(RuntimeError, match="the case has ended"):
        case.recorded(own)("Ann")
    assert case.staged.course() == ["execution 1"]
    with pytest.raises(RuntimeError, match="the case has ended"):
        case.run("Ann")


def test_request_that_is_none_of_a_recorder() -> None:
    app = OwnApp(Staged({}).world.own)
    requests = (("/own", b"{}"), ("/own/pay", b"[]"), ("/own/pay/7", b"{}"), ("/own/a/b/c", b"{}"))

    async def run() -> list[int]:
        asked = (HttpRequest(method="POST", path=path, body=body) for path, body in requests)
        return [(await app(request)).status for request in asked]

    assert asyncio.run(run()) == [404, 404, 404, 404]


def test_name_is_escaped_in_the_path(opened: Open) -> None:
    case = opened()
    function = recorded(case.pay, case.recorder, lambda _: {}, name="pay/ü")
    function("Ann")
    assert case.staged.entries("execution")[0]["tool"] == "pay/ü"
