"""Resuming, cancelling and ending a worker: our Python host and the client that drives it."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from processes import is_gone, wait_until
from worker_targets import PATIENCE, document

from loopcheck.harness.task import Decision, Outcome, Pending, Resume
from loopcheck.harness.worker.client import Resumption, Worker, WorkerFailure, python_worker

TARGETS = """
import asyncio, os, time
from loopcheck.harness.target import loop
from loopcheck.harness.task import Pending, ended, final, paused

CAN = ["approval", "resume", "cancel"]
CALL = Pending(call_id="c1", tool="reserve", arguments={"seat": 12})
left = set()

def begun(task):
    (task.folder / "pid").write_text(str(os.getpid()))
    (task.folder / "begun").touch()

def waited(task):
    begun(task)
    deadline = time.monotonic() + 20
    while not task.stop.requested and time.monotonic() < deadline:
        time.sleep(0.01)
    return ended("cancelled", "cancelled_by_user") if task.stop.requested else final("late")

@loop(dialects=["chat"], can=CAN)
def plain(task):
    if task.resume is not None:
        said = [(d.call_id, d.tool, d.arguments, d.decide, d.reason, d.value)
                for d in task.resume.decisions]
        return final(f"{task.run} {task.resume.run} {task.stop.requested} {said}")
    match task.prompt:
        case "pause":
            return paused(pending=[CALL], run="r-17")
        case "stop?":
            return final(str(task.stop.requested))
        case "tidy":
            try:
                return waited(task)
            finally:
                (task.folder / "tidied").touch()
    return waited(task)

@loop(dialects=["chat"], can=CAN)
async def coroutine(task):
    match task.prompt:
        case "leave":
            left.add(asyncio.create_task(leave(task)))
            return final("left")
        case "tidy":
            try:
                begun(task)
                await asyncio.sleep(20)
            finally:
                (task.folder / "tidied").touch()
    begun(task)
    await task.stop.cancels(asyncio.sleep(20))

async def leave(task):
    await asyncio.sleep(0)
    (task.folder / "left").touch()
"""
BOOK = Decision(call_id="c1", tool="reserve", arguments={"seat": 12}, decide="approve")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("targets")
    (folder / "targets.py").write_text(TARGETS, encoding="utf-8")
    return folder


def kept(folder: Path, name: str) -> Iterator[Worker]:
    with python_worker(f"targets:{name}", name=name, cwd=folder) as worker:
        yield worker


@pytest.fixture(scope="module")
def kept_plain(folder: Path) -> Iterator[Worker]:
    yield from kept(folder, "plain")


@pytest.fixture(scope="module")
def kept_coroutine(folder: Path) -> Iterator[Worker]:
    yield from kept(folder, "coroutine")


@pytest.fixture
def plain(kept_plain: Worker) -> Worker:
    if not kept_plain.is_running:
        kept_plain.start(PATIENCE)
    return kept_plain


@pytest.fixture
def coroutine(kept_coroutine: Worker) -> Worker:
    if not kept_coroutine.is_running:
        kept_coroutine.start(PATIENCE)
    return kept_coroutine


def resumed(
    worker: Worker, folder: Path, *decisions: Decision, run: str | None = None, **more: bool
) -> str:
    how = Resumption(resume=Resume(run=run, decisions=decisions), of=worker.latest, **more)
    return worker.resume(document("pause", folder), how, timeout=PATIENCE).text


class Running:
    """A run in a thread of its own, which has begun."""

    def __init__(self, worker: Worker, folder: Path, prompt: str = "wait") -> None:
        self._pool = ThreadPoolExecutor(1)
        self.folder = folder
        self._run = self._pool.submit(worker.run, document(prompt, folder), timeout=PATIENCE)
        wait_until((folder / "begun").exists)

    @property
    def pid(self) -> int:
        return int((self.folder / "pid").read_text(encoding="utf-8"))

    def outcome(self) -> Outcome:
        with self._pool:
            return self._run.result()

    def failure(self) -> WorkerFailure:
        with self._pool, pytest.raises(WorkerFailure) as raised:
            self._run.result()
        return raised.value


class TestResuming:
    def test_a_pause_says_what_waits(self, plain: Worker, tmp_path: Path) -> None:
        assert plain.run(document("pause", tmp_path), timeout=PATIENCE) == Outcome(
            state="paused",
            reason="awaiting_approval",
            run="r-17",
            pending=(Pending(call_id="c1", tool="reserve", arguments={"seat": 12}),),
        )

    def test_the_target_gets_what_was_decided(self, plain: Worker, tmp_path: Path) -> None:
        deny = Decision(call_id="", tool="t", arguments={}, decide="deny", reason="no", value=None)
        answer = Decision(call_id="c2", tool="t", arguments={}, decide="answer", value=[1, None])
        assert resumed(plain, tmp_path, BOOK, deny, answer, run="r-17") == (
            "r1 r-17 False [('c1', 'reserve', {'seat': 12}, 'approve', '', None), "
            "('', 't', {}, 'deny', 'no', None), ('c2', 't', {}, 'answer', '', [1, None])]"
        )

    def test_another_process_goes_on_with_a_run(self, folder: Path, tmp_path: Path) -> None:
        with python_worker("targets:plain", name="other", cwd=folder) as other:
            other.start(PATIENCE)
            assert resumed(other, tmp_path) == "r1 None False []"

    def test_only_to_be_cancelled(self, plain: Worker, tmp_path: Path) -> None:
        assert resumed(plain, tmp_path, cancelled=True) == "r1 None True []"


class TestCancelling:
    def test_while_it_runs(self, plain: Worker, tmp_path: Path) -> None:
        running = Running(plain, tmp_path)
        plain.cancel()
        assert running.outcome() == Outcome(state="cancelled", reason="cancelled_by_user")

    def test_a_coroutine_is_cancelled_where_it_waits(
        self, coroutine: Worker, tmp_path: Path
    ) -> None:
        running = Running(coroutine, tmp_path)
        coroutine.cancel()
        assert running.outcome() == Outcome(state="cancelled", reason="cancelled_by_user")

    def test_before_the_task_is_sent(self, plain: Worker, tmp_path: Path) -> None:
        asked = document("stop?", tmp_path)
        ends = [
            plain.run(asked, timeout=PATIENCE, is_cancelled=cancelled).text
            for cancelled in (always, never)
        ]
        assert ends == ["True", "False"]

    def test_when_nothing_runs_the_next_run_does_not_hear_of_it(
        self, plain: Worker, tmp_path: Path
    ) -> None:
        plain.run(document("stop?", tmp_path), timeout=PATIENCE)
        plain.cancel()
        assert plain.run(document("stop?", tmp_path), timeout=PATIENCE).text == "False"

    def test_a_worker_that_is_not_running(self, folder: Path) -> None:
        worker = python_worker("targets:plain", name="plain", cwd=folder)
        worker.cancel()
        worker.end(orderly=True)
        assert not worker.is_running

    def test_what_a_run_leaves_behind_goes_on_between_the_runs(
        self, coroutine: Worker, tmp_path: Path
    ) -> None:
        assert coroutine.run(document("leave", tmp_path), timeout=PATIENCE).text == "left"
        wait_until((tmp_path / "left").exists)


def always() -> bool:
    return True


def never() -> bool:
    return False


class TestEnding:
    def test_by_force_while_it_runs(self, plain: Worker, tmp_path: Path) -> None:
        running = Running(plain, tmp_path, "tidy")
        pid = running.pid
        plain.end(orderly=False)
        assert is_gone(pid)
        failure = running.failure()
        assert (failure.kind, failure.message) == ("crashed", "it was killed by SIGKILL")
        assert not plain.is_running
        assert not (tmp_path / "tidied").exists()

    @pytest.mark.parametrize("name", ["plain", "coroutine"])
    def test_in_good_order_while_it_runs(
        self, request: pytest.FixtureRequest, tmp_path: Path, name: str
    ) -> None:
        worker: Worker = request.getfixturevalue(name)
        running = Running(worker, tmp_path, "tidy")
        pid = running.pid
        worker.end(orderly=True)
        assert is_gone(pid)
        assert running.failure().message == f"it ended with exit code {128 + signal.SIGTERM}"
        assert (tmp_path / "tidied").exists()

    @pytest.mark.parametrize("orderly", [True, False])
    def test_when_it_runs_nothing(self, plain: Worker, tmp_path: Path, orderly: bool) -> None:
        plain.end(orderly=orderly)
        assert not plain.is_running
        plain.start(PATIENCE)
        assert plain.run(document("stop?", tmp_path), timeout=PATIENCE).text == "False"

    def test_one_that_does_not_heed_it_is_killed(
        self, folder: Path, tmp_path: Path, deaf: Callable[[], Worker]
    ) -> None:
        worker = deaf()
        running = Running(worker, tmp_path)
        pid = running.pid
        worker.end(orderly=True)
        assert is_gone(pid)
        assert running.failure().message == "it was killed by SIGKILL"


@pytest.fixture
def deaf(folder: Path) -> Iterator[Callable[[], Worker]]:
    """A worker in whose process the signal to end is ignored."""
    text = TARGETS.replace("def begun(task):", f"def begun(task):\n    {IGNORE}")
    (folder / "deaf.py").write_text(text, encoding="utf-8")
    with python_worker("deaf:plain", name="deaf", cwd=folder) as worker:

        def started() -> Worker:
            worker.start(PATIENCE)
            return worker

        yield started


IGNORE = "__import__('signal').signal(__import__('signal').SIGTERM, __import__('signal').SIG_IGN)"
