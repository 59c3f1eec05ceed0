from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from textwrap import dedent

import pytest
from processes import is_gone, wait_until
from worker_targets import PATIENCE, TARGETS, document

from loopcheck.harness.results import TargetCard
from loopcheck.harness.task import Outcome
from loopcheck.harness.worker.client import Worker, WorkerFailure, python_worker


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("targets")
    (folder / "targets.py").write_text(TARGETS, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def kept(folder: Path) -> Iterator[Worker]:
    with python_worker("targets:plain", name="plain", cwd=folder) as worker:
        yield worker


@pytest.fixture
def plain(kept: Worker) -> Worker:
    """A running worker; another test may have used it before."""
    if not kept.is_running:
        kept.start(PATIENCE)
    return kept


class TestPythonTargets:
    def test_the_card_answers_hello(self, folder: Path) -> None:
        with python_worker("targets:plain", name="plain", cwd=folder) as worker:
            card = worker.start(PATIENCE)
            assert worker.is_running
        assert not worker.is_running
        assert card.packages.keys() == {"pydantic"}
        assert card == TargetCard(
            name="plain",
            version="7",
            runtime=f"python {sys.version.split()[0]}",
            packages=card.packages,
            dialects=("chat",),
            modes=("stream",),
            can=("parallel",),
        )

    @pytest.mark.parametrize(
        ("prompt", "outcome"),
        [
            (
                "echo",
                Outcome(
                    state="completed",
                    reason="final_answer",
                    text="once/lost[chat-stream] chat True 8",
                ),
            ),
            (
                "raise",
                Outcome(state="failed", reason="KeyError", text="'lost'", exception="KeyError"),
            ),
            ("limit", Outcome(state="limit", reason="Limit", text="8 rounds", exception="Limit")),
            (
                "exit",
                Outcome(state="failed", reason="SystemExit", text="3", exception="SystemExit"),
            ),
            ("half", Outcome(state="completed", reason="final_answer", text="\ufffd")),
        ],
    )
    def test_how_a_run_ends(
        self, plain: Worker, tmp_path: Path, prompt: str, outcome: Outcome
    ) -> None:
        assert plain.run(document(prompt, tmp_path), timeout=PATIENCE) == outcome
        assert plain.noise == []

    def test_a_target_may_print(self, plain: Worker, tmp_path: Path) -> None:
        """What it prints is not taken for answers, and what it reads is not a command."""
        plain.start(PATIENCE)
        outcome = plain.run(document("print", tmp_path), timeout=PATIENCE)
        assert (outcome.text, plain.noise) == ("", [])
        with pytest.raises(WorkerFailure) as raised:
            plain.run(document("die", tmp_path), timeout=PATIENCE)
        lines = ["to stdout", "to fd 1", "from a child", "goodbye"]
        assert raised.value.stderr.splitlines() == lines

    def test_coroutines_share_one_loop(self, folder: Path) -> None:
        with python_worker("targets:coroutine", name="coroutine", cwd=folder) as worker:
            worker.start(PATIENCE)
            ends = [worker.run(document(p), timeout=PATIENCE) for p in ("", "raise", "cancel", "")]
        assert ends[0] == ends[3]
        assert ends[0].state == "refused"
        assert [end.reason for end in ends[1:3]] == ["ConnectionError", "CancelledError"]

    @pytest.mark.parametrize(
        ("prompt", "message"),
        [
            (
                "int",
                "TargetError: target 'plain' returned int; "
                "return loopcheck.final(text) or another Outcome",
            ),
            ("misdeclared", "TargetError: no model was given"),
        ],
    )
    def test_a_broken_target_is_errored_and_goes_on(
        self, plain: Worker, tmp_path: Path, prompt: str, message: str
    ) -> None:
        with pytest.raises(WorkerFailure) as raised:
            plain.run(document(prompt, tmp_path), timeout=PATIENCE)
        assert (raised.value.kind, raised.value.message) == ("errored", message)
        assert plain.run(document("echo", tmp_path), timeout=PATIENCE).state == "completed"

    def test_a_task_that_no_target_can_be_given(self, plain: Worker) -> None:
        with pytest.raises(WorkerFailure) as raised:
            plain.run(document("echo", Path(__file__)), timeout=PATIENCE)
        assert raised.value.kind == "errored"
        assert raised.value.message.startswith("FileExistsError: ")


class TestEnds:
    def test_a_crash(self, plain: Worker, tmp_path: Path) -> None:
        with pytest.raises(WorkerFailure) as raised:
            plain.run(document("die", tmp_path), timeout=PATIENCE)
        assert raised.value.kind == "crashed"
        assert raised.value.message == "it ended with exit code 3; its last words: goodbye"
        assert not plain.is_running
        plain.start(PATIENCE)
        assert plain.run(document("echo", tmp_path), timeout=PATIENCE).state == "completed"

    def test_a_signal(self, plain: Worker, tmp_path: Path) -> None:
        with pytest.raises(WorkerFailure, match=r"^it was killed by SIGSEGV"):
            plain.run(document("kill", tmp_path), timeout=PATIENCE)

    def test_a_hang_is_killed_with_its_children(self, plain: Worker, tmp_path: Path) -> None:
        with pytest.raises(WorkerFailure) as raised:
            plain.run(document("hang", tmp_path), timeout=0.8)
        assert raised.value.kind == "hung"
        assert raised.value.message == "it did not end within 0.8 s and was killed"
        child = int((tmp_path / "child").read_text(encoding="utf-8"))
        wait_until(lambda: is_gone(child))

    def test_a_run_without_a_start(self, folder: Path) -> None:
        worker = python_worker("targets:plain", name="plain", cwd=folder)
        with pytest.raises(WorkerFailure, match="it is not running"):
            worker.run(document("echo"), timeout=PATIENCE)

    def test_a_command_that_is_not_there(self, tmp_path: Path) -> None:
        worker = Worker(["no-such-program", "worker file"], name="x", cwd=tmp_path)
        with pytest.raises(WorkerFailure) as raised:
            worker.start(PATIENCE)
        assert raised.value.message == (
            "cannot start no-such-program 'worker file': No such file or directory: no-such-program"
        )

    @pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
    def test_no_worker_outlives_its_harness(self, folder: Path) -> None:
        """Neither a hanging target, when the harness is killed without a chance to clean up."""
        harness = folder / "harness.py"
        harness.write_text(
            dedent("""
            import pathlib, threading
            from loopcheck.harness.worker.client import python_worker
            worker = python_worker("targets:plain", name="plain")
            worker.start(10)
            print(worker._process._process.pid, flush=True)
            worker.run(DOCUMENT, timeout=60)
            """).replace("DOCUMENT", repr(document("hang", folder))),
            encoding="utf-8",
        )
        command = [sys.executable, str(harness)]
        with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            worker = int(process.stdout.readline())
            wait_until((folder / "child").exists)
            process.send_signal(signal.SIGKILL)
        wait_until(lambda: is_gone(worker))
        with suppress(ProcessLookupError):
            os.kill(int((folder / "child").read_text(encoding="utf-8")), signal.SIGKILL)

    def test_a_worker_outlives_the_thread_that_started_it(self, folder: Path) -> None:
        with python_worker("targets:plain", name="plain", cwd=folder) as worker:
            thread = threading.Thread(target=worker.start, args=(PATIENCE,))
            thread.start()
            thread.join()
            assert worker.run(document("echo", folder), timeout=PATIENCE).state == "completed"
