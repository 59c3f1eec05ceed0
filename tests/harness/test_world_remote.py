"""The world's behaviours as a loop in another process meets them: over HTTP, with our client."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

import pytest
from worlds import Staged

from loopcheck.fake_providers.server import Server
from loopcheck.harness.task import Tool
from loopcheck.harness.tool_values import Parts, RateLimited
from loopcheck.harness.worker.protocol import ToolDocument
from loopcheck.harness.worker.remote_tools import remote_tool
from loopcheck.harness.world.http import tool_app

PAY: dict[str, object] = {"to": "Ann"}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server() as running:
        yield running


@dataclass
class Remote:
    """A world that is served, and its tool `pay` on the other side."""

    staged: Staged
    root: str

    def tool(self, *, blocking: bool) -> Tool:
        model = self.staged.world.specs(blocking=blocking)[0]
        document = ToolDocument(
            name="pay",
            parameters=model.parameters,
            kind=model.kind,
            operation=model.operation,
            invoke=f"{self.root}/tools/pay",
            lookup=f"{self.root}/operations",
        )
        return remote_tool(document, blocking=blocking)


@contextmanager
def served(server: Server, *behaves: object, **keys: object) -> Iterator[Remote]:
    behaviours = {"behaves": list(behaves)} if behaves else {}
    pay = {"kind": "write", "args": {"to": "string"}, "operation": ["to"], **behaviours, **keys}
    staged = Staged({"pay": pay})
    staged.issue(("pay", "pay", '{"to":"Ann"}'))
    root = server.mount("k", tool_app(staged.world))
    try:
        yield Remote(staged, root)
    finally:
        staged.world.close()
        server.unmount("k")
        assert server.errors == ()


@pytest.mark.parametrize(
    ("behaviour", "course"),
    [
        ("never-answers", ["execution 1", "ended 1 abandoned"]),
        ("commit-then-hang", ["execution 1", "effect 1", "ended 1 abandoned"]),
        ("commit-late", ["execution 1", "ended 1 abandoned", "effect 1"]),
    ],
)
class TestHanging:
    def test_loop_that_gives_up_is_heard(
        self, server: Server, behaviour: str, course: list[str]
    ) -> None:
        with served(server, behaviour) as remote:
            tool = remote.tool(blocking=False)

            async def run() -> None:
                call = asyncio.ensure_future(tool.acall(PAY))
                await asyncio.to_thread(remote.staged.await_entry, "execution")
                call.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await call

            asyncio.run(run())
            last = "effect" if behaviour == "commit-late" else "ended"
            remote.staged.await_entry(last)
            assert remote.staged.course() == course
            reason = "CallerLeft: the connection was closed"
            assert remote.staged.entries("ended")[0]["result"] == reason

    def test_thread_stays_until_the_case_ends(
        self, server: Server, behaviour: str, course: list[str]
    ) -> None:
        with served(server, behaviour) as remote, ThreadPoolExecutor(1) as pool:
            called = pool.submit(remote.tool(blocking=True).call, PAY)
            remote.staged.await_entry("execution")
            remote.staged.world.close()
            with pytest.raises(RuntimeError, match="the case has ended"):
                called.result(timeout=10)
            assert remote.staged.course() == course


def test_late_effect_is_there_for_whoever_looks_it_up_next(server: Server) -> None:
    with served(server, "commit-late", lookup="found") as remote:
        tool = remote.tool(blocking=False)
        assert tool.look_up is not None

        async def run(operation: str) -> None:
            call = asyncio.ensure_future(tool.acall(PAY, operation_id=operation))
            await asyncio.to_thread(remote.staged.await_entry, "execution")
            call.cancel()
            await asyncio.wait({call})

        for n in range(20):
            asyncio.run(run(f"op-{n}"))
            assert tool.look_up(f"op-{n}")["status"] == "found"


@pytest.mark.parametrize(("entry", "seconds"), [("rate-limited", None), ("300 ms", 0.3)])
@pytest.mark.parametrize("blocking", [True, False])
def test_busy_system(server: Server, entry: str, seconds: float | None, blocking: bool) -> None:
    behaviour = entry if seconds is None else {"rate-limited": entry}
    with served(server, behaviour) as remote:
        with pytest.raises(RateLimited, match=r"^pay is busy: too many requests$") as raised:
            call(remote, blocking=blocking)
        assert raised.value.retry_after == seconds
        assert remote.staged.course() == ["execution 1", "ended 1 rejected"]


def test_denied_execution(server: Server) -> None:
    with served(server, permission=["granted", "denied"]) as remote:
        assert "token" in call(remote)
        with pytest.raises(PermissionError, match="rejected by the executor: pay is not allowed"):
            call(remote)
        assert remote.staged.course()[3:] == ["execution 2", "ended 2 rejected"]


def test_tool_that_a_person_answers(server: Server) -> None:
    with served(server, kind="ask") as remote, pytest.raises(PermissionError, match="a person"):
        call(remote)


@pytest.mark.parametrize("blocking", [True, False])
def test_parts(server: Server, blocking: bool) -> None:
    with served(server, returns_parts=[{"text": "Plan"}, {"image": "png"}]) as remote:
        result = call(remote, blocking=blocking)
        (token,) = remote.staged.world.tokens(["pay"])
        assert isinstance(result, Parts)
        assert result == f"Plan {token}\n[image]"
        assert result.content == remote.staged.entries("ended")[0]["parts"]


def test_commit_gate_opens_while_the_body_waits(server: Server) -> None:
    with (
        served(server, commits_after=["turn2.asked"]) as remote,
        ThreadPoolExecutor(1) as pool,
    ):
        called = pool.submit(call, remote)
        remote.staged.await_entry("execution")
        assert remote.staged.entries("effect") == []
        remote.staged.ask_again()
        assert "token" in called.result(timeout=10)
        assert remote.staged.course() == ["execution 1", "effect 1", "ended 1 result"]


def test_call_that_is_given_up_before_it_was_sent(server: Server) -> None:
    """No thread is left behind that would call the tool later."""
    with served(server) as remote:
        tool = remote.tool(blocking=False)
        before = set(threading.enumerate())

        async def run() -> None:
            call = asyncio.ensure_future(tool.acall(PAY))
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call

        asyncio.run(run())
        for thread in set(threading.enumerate()) - before:
            thread.join(10)
        assert remote.staged.entries() == []


def call(remote: Remote, *, blocking: bool = True) -> str:
    tool = remote.tool(blocking=blocking)
    if blocking:
        return tool.call(PAY)

    async def run() -> str:
        return await tool.acall(PAY)

    return asyncio.run(run())
