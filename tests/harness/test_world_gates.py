"""Bodies that wait for points, and what happens when the points do not come."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st
from worlds import Arguments, Clock, Staged, scenario

from loopcheck.harness.journal import Journal
from loopcheck.harness.world import World
from loopcheck.harness.world.gates import CaseEnded, Gates, Opening, Waiter

CHAIN: dict[str, Arguments] = {
    "first": {"kind": "write", "returns_after": ["second.ended"]},
    "second": {"kind": "write", "returns_after": ["third.ended"]},
    "third": {"kind": "write"},
}


class Watched:
    """Gates that a test drives by hand, with what they journalled."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.journalled: list[tuple[str, Opening]] = []
        self.gates = Gates(
            record=lambda gate, how: self.journalled.append((gate, how)),
            quiet_seconds=0.2,
            clock=self.clock,
        )

    def wait(self, who: str, *points: str) -> Waiter:
        waiter = self.gates.wait_for(who, points)
        assert waiter is not None
        return waiter

    def later(self, seconds: float) -> None:
        self.clock.now += seconds
        self.gates.tick()


def test_gate_opens_when_all_its_points_were_passed() -> None:
    watched = Watched()
    waiter = watched.wait("train", "a.ended", "b.ended")
    watched.gates.happened(["b.ended"])
    assert not waiter.opened.done()
    watched.gates.happened(["a.ended", "c.ended"])
    assert waiter.opened.done()
    assert watched.journalled == [("train waits for a.ended and b.ended", "opened")]


def test_nothing_is_waited_for_or_journalled_when_the_points_have_passed() -> None:
    watched = Watched()
    watched.gates.happened(["a.ended"])
    assert watched.gates.wait_for("train", ["a.ended"]) is None
    assert watched.gates.wait_for("train", []) is None
    assert watched.journalled == []


def test_idle_gates_are_forced_one_by_one_in_the_order_of_waiting() -> None:
    watched = Watched()
    first, second = watched.wait("a", "never"), watched.wait("b", "never")
    watched.later(0.19)
    assert (first.opened.done(), second.opened.done()) == (False, False)
    watched.later(0.02)
    assert (first.opened.done(), second.opened.done()) == (True, False)
    watched.later(0.1)
    assert not second.opened.done()
    watched.later(0.1)
    assert second.opened.done()
    assert watched.journalled == [
        ("a waits for never", "forced"),
        ("b waits for never", "forced"),
    ]


def test_whatever_happens_begins_the_quiet_time_anew() -> None:
    watched = Watched()
    waiter = watched.wait("a", "never")
    watched.clock.now = 0.15
    watched.gates.happened([])
    watched.later(0.15)
    assert not waiter.opened.done()
    watched.later(0.05)
    assert waiter.opened.done()


def test_wait_itself_begins_the_quiet_time_anew() -> None:
    watched = Watched()
    watched.clock.now = 100.0
    waiter = watched.wait("a", "never")
    watched.later(0.1)
    assert not waiter.opened.done()


def test_close_ends_every_wait_now_and_later() -> None:
    watched = Watched()
    early = watched.wait("a", "never")
    watched.gates.close()
    late = watched.wait("b", "never")
    for waiter in (early, late):
        assert isinstance(waiter.opened.exception(), CaseEnded)
    watched.later(1)
    assert watched.journalled == []


def test_without_a_clock_of_its_own_a_thread_forces_gates() -> None:
    journalled: list[tuple[str, Opening]] = []
    gates = Gates(record=lambda gate, how: journalled.append((gate, how)), quiet_seconds=0.01)
    for _ in range(2):
        waiters = [gates.wait_for(who, ["never"]) for who in ("a", "b")]
        for waiter in waiters:
            assert waiter is not None
            waiter.opened.result(timeout=10)
    gates.close()
    assert journalled == [("a waits for never", "forced"), ("b waits for never", "forced")] * 2


@given(st.permutations(["first", "second", "third"]))
def test_tasks_end_in_the_order_of_their_gates_however_they_start(order: list[str]) -> None:
    staged = Staged(CHAIN)
    staged.issue(*((tool, tool, "{}") for tool in CHAIN))

    async def run() -> None:
        await asyncio.gather(*(staged.world.aexecute(tool, {}) for tool in order))

    asyncio.run(run())
    numbers = {tool: n for n, tool in enumerate(order, 1)}
    assert [entry["tool"] for entry in staged.entries("execution")] == order
    expected = [numbers["third"], numbers["second"], numbers["first"]]
    assert [entry["execution"] for entry in staged.entries("effect")] == expected
    assert [entry["execution"] for entry in staged.entries("ended")] == expected
    waited = [tool for tool in ("first", "second") if order.index(tool) < order.index("third")]
    opened = {str(entry["gate"]).split()[0] for entry in staged.entries("gate")}
    assert set(waited) <= opened
    assert {entry["how"] for entry in staged.entries("gate")} <= {"opened"}


@pytest.mark.parametrize("order", [["first", "second", "third"], ["third", "second", "first"]])
def test_threads_end_in_the_order_of_their_gates_however_they_start(order: list[str]) -> None:
    staged = Staged(CHAIN)
    staged.issue(*((tool, tool, "{}") for tool in CHAIN))
    with ThreadPoolExecutor(3) as pool:
        for result in [pool.submit(staged.world.execute, tool, {}) for tool in order]:
            assert "token" in result.result(timeout=10)
    tools = {entry["execution"]: entry["tool"] for entry in staged.entries("execution")}
    ended = [tools[entry["execution"]] for entry in staged.entries("ended")]
    assert ended == ["third", "second", "first"]


def test_exact_journal_of_a_gate_that_opens() -> None:
    staged = Staged(
        {
            "train": {"kind": "write", "returns_after": ["weather.ended"]},
            "get_weather": {"kind": "read", "behaves": ["raises-timeout"]},
        }
    )
    staged.issue(("ic12", "train", "{}"), ("weather", "get_weather", "{}"))

    async def run() -> None:
        train = asyncio.create_task(staged.world.aexecute("train", {}))
        await asyncio.sleep(0)
        with pytest.raises(TimeoutError):
            await staged.world.aexecute("get_weather", {})
        await train

    asyncio.run(run())
    assert [(entry["kind"], entry.get("execution")) for entry in staged.entries()] == [
        ("execution", 1),
        ("execution", 2),
        ("ended", 2),
        ("gate", None),
        ("effect", 1),
        ("ended", 1),
    ]
    assert staged.entries("gate") == [
        {"kind": "gate", "gate": "ic12 waits for weather.ended", "how": "opened"}
    ]


def test_loop_that_runs_one_by_one_is_let_go_by_force() -> None:
    staged = Staged({"train": {"kind": "write", "returns_after": ["weather.ended"]}})

    async def run() -> str:
        train = asyncio.create_task(staged.world.aexecute("train", {}))
        await asyncio.sleep(0)
        assert staged.entries("effect", "ended") == []
        staged.clock.now += 0.2
        staged.world.tick()
        return await train

    assert "token" in asyncio.run(run())
    assert [entry["kind"] for entry in staged.entries()] == ["execution", "gate", "effect", "ended"]
    assert staged.entries("gate") == [
        {"kind": "gate", "gate": "train waits for weather.ended", "how": "forced"}
    ]


def test_blocking_body_is_let_go_by_the_worlds_own_timer() -> None:
    journal = Journal(lambda entry: world.watch(entry))
    tools: dict[str, Arguments] = {"t": {"kind": "read", "returns_after": ["never.ended"]}}
    world = World(scenario(tools), seed=0, journal=journal, quiet_seconds=0.01)
    world.execute("t", {})
    world.close()
    assert [entry["kind"] for entry in journal] == ["execution", "gate", "ended"]


def test_body_that_is_cancelled_while_it_waits_has_no_effect() -> None:
    staged = Staged({"pay": {"kind": "write", "returns_after": ["never.ended"]}})

    async def run() -> None:
        pay = asyncio.create_task(staged.world.aexecute("pay", {}))
        await asyncio.sleep(0)
        pay.cancel()
        with pytest.raises(asyncio.CancelledError):
            await pay

    asyncio.run(run())
    staged.clock.now += 1
    staged.world.tick()
    assert [entry["kind"] for entry in staged.entries()] == ["execution", "ended"]
    assert staged.entries("ended") == [
        {"kind": "ended", "execution": 1, "how": "raised", "result": "CancelledError: "}
    ]


def test_body_that_waits_when_the_case_ends_stays_without_an_end() -> None:
    staged = Staged({"pay": {"kind": "write", "returns_after": ["never.ended"]}})

    async def run() -> None:
        pay = asyncio.create_task(staged.world.aexecute("pay", {}))
        await asyncio.sleep(0)
        staged.world.close()
        with pytest.raises(CaseEnded):
            await pay

    asyncio.run(run())
    assert [entry["kind"] for entry in staged.entries()] == ["execution"]
