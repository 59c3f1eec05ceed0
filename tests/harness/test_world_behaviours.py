"""Bodies that hang, commit late, are refused, wait to commit, or hand back images."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import ClassVar

import pytest
from worlds import Arguments, Staged

from loopcheck.harness.journal import Entry
from loopcheck.harness.tool_values import ImagePart, Parts, RateLimited, TextPart
from loopcheck.harness.world import World
from loopcheck.harness.world.course import CallerLeft
from loopcheck.harness.world.gates import CaseEnded

PAY: Arguments = {"to": "Ann"}


def paying(*behaves: object, **keys: object) -> Staged:
    behaviours = {"behaves": list(behaves)} if behaves else {}
    pay = {"kind": "write", "args": {"to": "string"}, "operation": ["to"], **behaviours, **keys}
    staged = Staged({"pay": pay, "look": {"kind": "read", "returns_after": ["pay.committed"]}})
    staged.issue(("pay", "pay", '{"to":"Ann"}'))
    return staged


def cancelled(staged: Staged, **options: str) -> None:
    """Pays in a task that is cancelled while the body waits."""

    async def run() -> None:
        task = asyncio.create_task(staged.world.aexecute("pay", PAY, **options))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())


def in_thread(staged: Staged, then: Callable[[], object]) -> BaseException | None:
    """Pays in a thread, goes on when the body was entered, ends the case, and returns what the
    body raised."""
    with ThreadPoolExecutor(1) as pool:
        paid = pool.submit(staged.world.execute, "pay", PAY)
        staged.await_entry("execution")
        then()
        staged.world.close()
        return paid.exception(timeout=10)


class TestHanging:
    @pytest.mark.parametrize(
        ("behaviour", "course"),
        [
            ("never-answers", ["execution 1", "ended 1 abandoned"]),
            ("commit-then-hang", ["execution 1", "effect 1", "ended 1 abandoned"]),
            ("commit-late", ["execution 1", "ended 1 abandoned", "effect 1"]),
        ],
    )
    def test_caller_gives_up_by_cancelling(self, behaviour: str, course: list[str]) -> None:
        staged = paying(behaviour)
        cancelled(staged)
        staged.world.close()
        assert staged.course() == course
        assert staged.entries("ended")[0]["result"] == "CancelledError: "
        assert staged.entries("execution")[0]["token"] == ""

    @pytest.mark.parametrize(
        ("behaviour", "course"),
        [
            ("never-answers", ["ended 1 abandoned"]),
            ("commit-then-hang", ["effect 1", "ended 1 abandoned"]),
            ("commit-late", ["ended 1 abandoned", "effect 1"]),
        ],
    )
    def test_caller_that_times_out(self, behaviour: str, course: list[str]) -> None:
        staged = paying(behaviour)

        async def run() -> None:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(staged.world.aexecute("pay", PAY), 0.001)
            assert staged.course()[1:] == course

        asyncio.run(run())

    @pytest.mark.parametrize("behaviour", ["never-answers", "commit-then-hang", "commit-late"])
    def test_thread_stays_until_the_case_ends(self, behaviour: str) -> None:
        staged = paying(behaviour)
        raised = in_thread(staged, lambda: None)
        assert isinstance(raised, CaseEnded)
        effects = 0 if behaviour == "never-answers" else 1
        assert len(staged.entries("effect")) == effects
        (ended,) = staged.entries("ended")
        assert (ended["how"], ended["execution"]) == ("abandoned", 1)

    def test_caller_whose_thread_hangs_has_given_up_when_it_sends_a_result(self) -> None:
        staged = paying("commit-late")
        in_thread(staged, lambda: staged.ask_again("call_pay"))
        kinds = [entry["kind"] for entry in staged.journal]
        assert kinds == ["response", "execution", "request", "ended", "effect"]
        assert staged.entries("ended")[0]["result"] == "its call was given another result"

    def test_result_of_another_call_says_nothing(self) -> None:
        staged = paying("commit-late")
        staged.issue(("other", "look", "{}"))
        in_thread(staged, lambda: staged.ask_again("call_other"))
        kinds = [entry["kind"] for entry in staged.journal if entry["kind"] != "response"]
        assert kinds[:2] == ["execution", "request"]
        assert staged.course() == ["execution 1", "ended 1 abandoned", "effect 1"]

    @pytest.mark.parametrize("state", ["completed", "paused"])
    def test_nobody_waits_any_more_when_the_run_is_over(self, state: str) -> None:
        staged = paying("commit-late")

        def end() -> None:
            staged.journal.record("outcome", state=state, reason="", text="", exception=None)
            assert staged.course() == ["execution 1", "ended 1 abandoned", "effect 1"]

        in_thread(staged, end)
        assert [entry["result"] for entry in staged.entries("ended")] == ["the run was over"]

    def test_gates_are_not_forced_for_them(self) -> None:
        staged = paying("never-answers", returns_after=["look.ended"])

        def tick() -> None:
            staged.clock.now += 10
            staged.world.tick()

        in_thread(staged, tick)
        assert staged.entries("gate") == []

    def test_read_that_hangs_has_no_effect(self) -> None:
        staged = Staged({"pay": {"kind": "read", "behaves": ["commit-late"]}})
        cancelled(staged)
        assert staged.course() == ["execution 1", "ended 1 abandoned"]

    def test_late_effect_opens_gates_and_counts_as_one_of_its_operation(self) -> None:
        staged = paying("commit-late", "normal", deduplicates=True)

        async def run() -> None:
            look = asyncio.create_task(staged.world.aexecute("look", {}))
            pay = asyncio.create_task(staged.world.aexecute("pay", PAY, operation_id="op-1"))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            pay.cancel()
            assert "token" in await look
            await staged.world.aexecute("pay", PAY, operation_id="op-1")

        asyncio.run(run())
        assert [entry["deduplicated"] for entry in staged.entries("effect")] == [False, True]

    @pytest.mark.parametrize(
        ("behaviour", "course"),
        [
            ("never-answers", ["execution 1", "ended 1 abandoned"]),
            ("commit-late", ["execution 1", "ended 1 abandoned", "effect 1"]),
        ],
    )
    def test_caller_that_closes_its_connection(self, behaviour: str, course: list[str]) -> None:
        staged = paying(behaviour)
        left: Future[None] = Future()

        async def run() -> None:
            task = asyncio.create_task(staged.world.aperform("pay", PAY, left=left))
            await asyncio.sleep(0)
            left.set_result(None)
            assert staged.course() == course
            ending = await task
            assert (ending.how, type(ending.exception)) == ("abandoned", CallerLeft)

        asyncio.run(run())
        staged.world.close()
        assert staged.course() == course
        assert staged.entries("ended")[0]["result"] == "CallerLeft: the connection was closed"

    def test_body_that_does_not_hang_is_carried_out_whoever_has_left(self) -> None:
        staged = paying(returns_after=["look.started"])
        staged.issue(("look", "look", "{}"))
        left: Future[None] = Future()

        async def run() -> None:
            task = asyncio.create_task(staged.world.aperform("pay", PAY, left=left))
            await asyncio.sleep(0)
            left.set_result(None)
            await staged.world.aexecute("look", {})
            assert (await task).how == "result"

        asyncio.run(run())
        assert len(staged.entries("effect")) == 1


class TestRefusals:
    @pytest.mark.parametrize(
        ("entry", "seconds", "headers"),
        [
            ("rate-limited", None, ()),
            ({"rate-limited": "1 s"}, 1.0, (("retry-after", "1"),)),
            ({"rate-limited": "300 ms"}, 0.3, (("retry-after", "1"),)),
        ],
    )
    def test_busy_system(
        self, entry: object, seconds: float | None, headers: tuple[tuple[str, str], ...]
    ) -> None:
        staged = paying(entry, "normal")
        with pytest.raises(RateLimited, match=r"^pay is busy: too many requests$") as raised:
            staged.world.execute("pay", PAY)
        assert raised.value.retry_after == seconds
        assert staged.course() == ["execution 1", "ended 1 rejected"]
        assert "token" in staged.world.execute("pay", PAY)
        assert staged.course()[2:] == ["execution 2", "effect 2", "ended 2 result"]

        ending = asyncio.run(paying(entry).world.aperform("pay", PAY))
        assert (ending.how, ending.status, ending.headers) == ("rejected", 429, headers)

    @pytest.mark.parametrize(
        ("permission", "hows"),
        [
            ("denied", ["rejected", "rejected", "rejected"]),
            (["granted", "denied"], ["result", "rejected", "rejected"]),
            (["denied", "granted"], ["rejected", "result", "result"]),
        ],
    )
    def test_executors_answer_is_one_an_execution(self, permission: object, hows: object) -> None:
        staged = paying(permission=permission)
        endings = [asyncio.run(staged.world.aperform("pay", PAY)) for _ in range(3)]
        assert [ending.how for ending in endings] == hows
        ended = staged.entries("ended")
        assert [entry["how"] for entry in ended] == hows
        refusals = {ending.text for ending in endings if ending.how == "rejected"}
        assert refusals == {"PermissionError: rejected by the executor: pay is not allowed"}
        assert len(staged.entries("effect")) == [e.how for e in endings].count("result")
        tokens = [bool(entry["token"]) for entry in staged.entries("execution")]
        assert tokens == [entry["how"] == "result" for entry in ended]

    def test_denied_body_waits_for_nothing_and_does_nothing(self) -> None:
        staged = paying("commit-late", permission="denied", commits_after=["look.ended"])
        with pytest.raises(PermissionError):
            asyncio.run(staged.world.aexecute("pay", PAY))
        staged.world.close()
        assert staged.course() == ["execution 1", "ended 1 rejected"]

    @pytest.mark.parametrize(("behaviour", "status"), [("rejects", 403), ("raises", 500)])
    def test_status_of_what_a_tool_raises(self, behaviour: str, status: int) -> None:
        ending = asyncio.run(paying(behaviour).world.aperform("pay", PAY))
        assert (ending.status, ending.headers) == (status, ())

    def test_tool_that_a_person_answers_is_never_run(self) -> None:
        staged = Staged({"ask": {"kind": "ask", "args": {"what": "string"}}})
        message = "ask is answered by a person: a loop asks for the answer, and never runs"
        with pytest.raises(PermissionError, match=message):
            staged.world.execute("ask", {"what": "Which seat?"})
        assert staged.course() == ["execution 1", "ended 1 rejected"]
        (spec,) = staged.world.specs(blocking=True)
        assert (spec.kind, spec.name) == ("ask", "ask")


class TestCommitGate:
    def test_effect_comes_with_its_point_and_the_result_with_its_own(self) -> None:
        staged = paying(commits_after=["look.started"], returns_after=["look.ended"])
        staged.issue(("look", "look", "{}"))

        async def run() -> None:
            await asyncio.gather(
                staged.world.aexecute("pay", PAY), staged.world.aexecute("look", {})
            )

        asyncio.run(run())
        assert staged.course() == [
            "execution 1",
            "execution 2",
            "effect 1",
            "ended 2 result",
            "ended 1 result",
        ]
        assert [entry["gate"] for entry in staged.entries("gate")] == [
            "pay waits for look.started",
            "look waits for pay.committed",
            "pay waits for look.ended",
        ]

    def test_threads_too(self) -> None:
        staged = paying(commits_after=["look.started"])
        staged.issue(("look", "look", "{}"))
        with ThreadPoolExecutor(1) as pool:
            paid = pool.submit(staged.world.execute, "pay", PAY)
            staged.await_entry("execution")
            staged.world.execute("look", {})
            assert "token" in paid.result(timeout=10)
        assert staged.course()[:3] == ["execution 1", "execution 2", "effect 1"]

    @pytest.mark.parametrize(
        ("keys", "course"),
        [
            (
                {"commits_after": ["pay.started"], "returns_after": ["never.ended"]},
                ["execution 1", "effect 1", "ended 1 raised"],
            ),
            (
                {"commits_after": ["never.ended"], "returns_after": ["pay.started"]},
                ["execution 1", "ended 1 raised"],
            ),
        ],
    )
    def test_body_that_is_cancelled_before_or_after_its_effect(
        self, keys: dict[str, object], course: list[str]
    ) -> None:
        staged = paying(**keys)
        cancelled(staged)
        assert staged.course() == course

    def test_without_an_effect_there_is_nothing_to_wait_for(self) -> None:
        staged = paying("raises", commits_after=["never.ended"])
        with pytest.raises(RuntimeError, match="pay failed"):
            staged.world.execute("pay", PAY)

    def test_it_is_let_go_by_force_as_any_gate(self) -> None:
        staged = paying(commits_after=["never.ended"])

        async def run() -> str:
            pay = asyncio.create_task(staged.world.aexecute("pay", PAY))
            await asyncio.sleep(0)
            staged.clock.now += 0.2
            staged.world.tick()
            return await pay

        assert "token" in asyncio.run(run())
        assert [entry["how"] for entry in staged.entries("gate")] == ["forced"]

    def test_hanging_body_commits_at_its_point(self) -> None:
        staged = paying("commit-then-hang", commits_after=["look.started"])
        staged.issue(("look", "look", "{}"))
        in_thread(staged, lambda: staged.world.execute("look", {}))
        assert staged.course()[:3] == ["execution 1", "execution 2", "effect 1"]


class TestParts:
    PARTS: ClassVar[Arguments] = {
        "returns_parts": [{"text": "Plan"}, {"image": "png"}, {"image": "png"}]
    }

    @pytest.mark.parametrize("blocking", [True, False])
    def test_parts_carry_the_token_of_their_execution(self, blocking: bool) -> None:
        staged = paying(**self.PARTS)
        execute = staged.world.execute if blocking else _blocking(staged.world.aexecute)
        result = execute("pay", PAY)
        (token,) = staged.world.tokens(["pay"])
        assert isinstance(result, Parts)
        assert result == f"Plan {token}\n[image]\n[image]"
        text, first, second = result.parts
        assert text == TextPart(f"Plan {token}")
        assert isinstance(first, ImagePart)
        assert isinstance(second, ImagePart)
        assert first != second
        assert token.encode() in first.data
        assert token.encode() in second.data

    def test_each_execution_has_images_of_its_own(self) -> None:
        staged = paying(**self.PARTS)
        results = [staged.world.execute("pay", PAY) for _ in range(2)]
        images = {part for result in results if isinstance(result, Parts) for part in result.parts}
        assert len(images) == 6

    def test_journal_has_the_text_and_the_parts(self) -> None:
        staged = paying(**self.PARTS)
        result = staged.world.execute("pay", PAY)
        assert isinstance(result, Parts)
        (ended,) = staged.entries("ended")
        assert type(ended["result"]) is str
        assert (ended["result"], ended["parts"]) == (result, result.content)

    def test_function_of_the_tool_gives_them_too(self) -> None:
        pay = paying(**self.PARTS).world.specs(blocking=True)[0].function
        assert isinstance(pay(to="Ann"), Parts)

    def test_other_behaviours_go_before(self) -> None:
        staged = paying("empty", "hostile", **self.PARTS)
        assert staged.world.execute("pay", PAY) == ""
        assert not isinstance(staged.world.execute("pay", PAY), Parts)


class TestLookupsOfOpenOperations:
    def look_up(self, staged: Staged) -> object:
        return staged.world.lookup("pay", "op-1")["status"]

    def test_found_cannot_tell_before_a_body_that_may_commit_has_ended(self) -> None:
        staged = paying("commit-late", lookup="found")

        async def run() -> None:
            pay = asyncio.create_task(staged.world.aexecute("pay", PAY, operation_id="op-1"))
            await asyncio.sleep(0)
            assert self.look_up(staged) == "inconclusive"
            pay.cancel()
            await asyncio.wait({pay})
            assert self.look_up(staged) == "found"

        asyncio.run(run())
        answers = [entry["answer"] for entry in staged.entries("lookup")]
        assert answers == ["inconclusive", "found"]

    def test_after_absent_the_late_effect_never_comes(self) -> None:
        staged = paying("commit-late", "normal", lookup="absent")

        async def run() -> None:
            pay = asyncio.create_task(staged.world.aexecute("pay", PAY, operation_id="op-1"))
            await asyncio.sleep(0)
            assert self.look_up(staged) == "absent"
            pay.cancel()
            await asyncio.wait({pay})

        asyncio.run(run())
        staged.world.close()
        assert staged.course() == ["execution 1", "ended 1 abandoned"]

    def test_after_absent_a_body_that_waited_is_called_off(self) -> None:
        staged = paying(lookup="absent", commits_after=["look.started"])
        staged.issue(("look", "look", "{}"))

        async def run() -> None:
            pay = asyncio.create_task(staged.world.aexecute("pay", PAY, operation_id="op-1"))
            await asyncio.sleep(0)
            assert self.look_up(staged) == "absent"
            look = asyncio.create_task(staged.world.aexecute("look", {}))
            with pytest.raises(RuntimeError, match="pay was called off: it was said to have no"):
                await pay
            look.cancel()

        asyncio.run(run())
        assert staged.course()[:3] == ["execution 1", "execution 2", "ended 1 rejected"]
        assert staged.entries("effect") == []

    def test_absent_holds_for_what_was_begun_before_and_for_that_operation_alone(self) -> None:
        staged = paying("commit-late", "commit-late", "normal", lookup="absent")

        async def run() -> None:
            tasks = [
                asyncio.create_task(staged.world.aexecute("pay", PAY, operation_id=operation))
                for operation in ("op-1", "op-2")
            ]
            await asyncio.sleep(0)
            assert self.look_up(staged) == "absent"
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
            await staged.world.aexecute("pay", PAY, operation_id="op-1")
            assert self.look_up(staged) == "found"

        asyncio.run(run())
        assert [entry["execution"] for entry in staged.entries("effect")] == [2, 3]


def test_nothing_is_recorded_under_a_lock_of_the_worlds() -> None:
    """Whoever hears of an entry may act on the case from another thread before it returns."""
    staged = paying("commit-late", "normal", lookup="found")

    visiting = threading.Lock()

    def watch(entry: Entry) -> None:
        World.watch(staged.world, entry)
        if visiting.acquire(blocking=False):
            other = threading.Thread(target=staged.world.lookup, args=("pay", "op-2"))
            other.start()
            other.join(10)
            assert not other.is_alive()
            visiting.release()

    staged.world.watch = watch  # type: ignore[method-assign]
    cancelled(staged, operation_id="op-1")
    staged.world.execute("pay", PAY)
    staged.world.close()
    assert staged.course()[:3] == ["execution 1", "ended 1 abandoned", "effect 1"]


def _blocking(function: Callable[..., Awaitable[str]]) -> Callable[..., str]:
    async def run(*args: object) -> str:
        return await function(*args)

    return lambda *args: asyncio.run(run(*args))
