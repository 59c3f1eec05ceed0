"""Drives a worker: a target in a process of its own that can crash, hang and be killed."""

from __future__ import annotations

import queue
import re
import shlex
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from types import TracebackType
from typing import Final, Literal, NoReturn, TypeAlias

from loopcheck.fake_providers.wire import JsonObject
from loopcheck.harness import task as task_values
from loopcheck.harness.results import TargetCard
from loopcheck.harness.task import Outcome
from loopcheck.harness.worker._process import MAX_LINE, WorkerProcess
from loopcheck.harness.worker.protocol import (
    PROTOCOL,
    Answer,
    Bye,
    Cancel,
    Card,
    DecisionDocument,
    Ended,
    Errored,
    Hello,
    Malformed,
    Resume,
    Run,
    Skipped,
    TaskDocument,
    read_answer,
    to_line,
)

_Received: TypeAlias = tuple[int, Answer | Malformed]
FailureKind: TypeAlias = Literal["crashed", "hung", "errored", "protocol", "import"]

MAX_NOISE: Final = 1000
_NOISE_CHARACTERS: Final = 200
_DEATH_SECONDS: Final = 0.5
_CANCEL_SECONDS: Final = 1.0
_ORDERLY_SECONDS: Final = 2.0
_LOOK_SECONDS: Final = 0.2
_ERROR: Final = re.compile(r"[A-Z]\w*(Error|Exception)\b.*:")
_PLACE: Final = re.compile(r"(?:file://)?(/.+:\d+)$")


class WorkerFailure(Exception):
    """A worker gave no outcome. `stderr` is the end of what it wrote there.

    `crashed`: it ended; `hung`: it did not answer in time and was killed; `errored`: it says
    that it broke; `protocol`: it says what makes no sense; `import`: there is no such target.
    After all but `errored` it has to be started again.
    """

    def __init__(self, kind: FailureKind, message: str, stderr: str) -> None:
        super().__init__(message)
        self.kind: FailureKind = kind
        self.message = message
        self.stderr = stderr


class WorkerSkipped(Exception):
    """A worker declined a run, in its own words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumption:
    """How a run goes on. `of` is the worker's `latest` word for it, also where another process
    of that worker goes on with it; `cancelled` where it does so only to be cancelled."""

    resume: task_values.Resume
    of: str
    cancelled: bool = False


def _never() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Noise:
    """A line of a worker's stdout that answers nothing, cut to a bearable length."""

    line: int
    text: str


class Worker:
    """A worker by its command, not yet started. One run at a time.

    `env` is added to this process's environment. `noise` lists what it printed on stdout beside
    its answers, up to a bound, over all its starts.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        name: str,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
    ) -> None:
        self.name = name
        self.noise: list[Noise] = []
        self._command = tuple(command)
        self._cwd = cwd
        self._env = env
        self._process: WorkerProcess | None = None
        self._inbox: queue.SimpleQueue[_Received | None] = queue.SimpleQueue()
        self._runs = 0
        self._sending = threading.Lock()
        self._sent: str | None = None
        self._grace = _DEATH_SECONDS

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def is_running(self) -> bool:
        """Whether it was started and has not ended."""
        return self._process is not None and self._process.is_alive

    @property
    def latest(self) -> str:
        """The `seq` of the latest run."""
        return f"k{self._runs}"

    def start(self, timeout: float) -> TargetCard:
        """Starts it, anew if it runs, and returns its card. Raises WorkerFailure."""
        self.close()
        self._process = self._spawn()
        self._grace = _DEATH_SECONDS
        deadline = time.monotonic() + timeout
        hello = Hello(loopcheck=metadata.version("loopcheck"))
        what = f"answer hello within {timeout:g} s"
        match self._ask(hello, deadline=deadline, what=what):
            case Card(card=card, protocol=protocol) if protocol == PROTOCOL:
                return card.card()
            case Card(protocol=protocol):
                versions = f"it speaks protocol {protocol}, this loopcheck {PROTOCOL}"
                self._fail("protocol", versions)
            case Errored(errored=errored):
                self._fail("import", errored.message)
            case _:
                self._fail("protocol", "it answered hello without a card")

    def run(
        self,
        document: JsonObject,
        *,
        timeout: float,
        is_cancelled: Callable[[], bool] = _never,
    ) -> Outcome:
        """Hands it a task, and returns the outcome. Raises WorkerFailure, or WorkerSkipped.

        `is_cancelled` tells whether a `cancel()` came before the task was sent.
        """
        command = Run(seq=self._next_seq(), task=TaskDocument.model_validate(document))
        return self._outcome(command, timeout, is_cancelled)

    def resume(
        self,
        document: JsonObject,
        how: Resumption,
        *,
        timeout: float,
        is_cancelled: Callable[[], bool] = _never,
    ) -> Outcome:
        """Has it go on with a run of before. Raises WorkerFailure, or WorkerSkipped."""
        command = Resume(
            seq=self._next_seq(),
            of=how.of,
            run=how.resume.run,
            decisions=tuple(DecisionDocument(**asdict(d)) for d in how.resume.decisions),
            cancel=how.cancelled,
            task=TaskDocument.model_validate(document),
        )
        return self._outcome(command, timeout, is_cancelled)

    def cancel(self) -> None:
        """Tells the run that was sent that the user wants no more; the run answers. May come from
        any thread."""
        process = self._process
        if process is None:
            return
        with self._sending:
            if self._sent is not None:
                with suppress(OSError):  # it has ended, and so has its run
                    deadline = time.monotonic() + _CANCEL_SECONDS
                    process.send(to_line(Cancel(seq=self._sent)), deadline=deadline)

    def end(self, *, orderly: bool) -> None:
        """Ends its process, by SIGKILL unless it is to be orderly; what waits for an answer is
        told that it crashed. May come from any thread."""
        process = self._process
        if process is not None and orderly:
            self._grace = _ORDERLY_SECONDS  # it may close its stdout long before it is gone
            process.ask_to_end(grace=_ORDERLY_SECONDS)
        elif process is not None:
            process.kill()

    def _next_seq(self) -> str:
        self._runs += 1
        return self.latest

    def _outcome(
        self, command: Run | Resume, timeout: float, is_cancelled: Callable[[], bool]
    ) -> Outcome:
        deadline = time.monotonic() + timeout
        try:
            answer = self._ask(
                command, deadline=deadline, what=f"end within {timeout:g} s", also=is_cancelled
            )
        finally:
            self._sent = None
        match answer:
            case Ended(outcome=outcome):
                return outcome.outcome()
            case Skipped(skipped=reason):
                raise WorkerSkipped(reason)
            case Errored(errored=errored):
                message = f"{errored.type}: {errored.message}"
                raise WorkerFailure("errored", message, self._running().stderr)
            case _:
                self._fail("protocol", "it answered a run with a card")

    def close(self, *, grace: float = 2.0) -> None:
        """Says bye, waits `grace` seconds, and kills what is left. May be called again."""
        process, self._process = self._process, None
        if process is None:
            return
        try:
            process.send(to_line(Bye()), deadline=time.monotonic())
        except OSError:
            process.stop(grace=0)
        else:
            process.stop(grace=grace)

    def _spawn(self) -> WorkerProcess:
        inbox: queue.SimpleQueue[_Received | None] = queue.SimpleQueue()
        self._inbox = inbox
        try:
            return WorkerProcess(
                self._command,
                cwd=self._cwd,
                env=self._env,
                on_line=lambda number, line: self._sort(inbox, number, line),
                on_end=lambda: inbox.put(None),
            )
        except OSError as error:
            why = f"cannot start {shlex.join(self._command)}: {error.strerror}: {error.filename}"
            raise WorkerFailure("crashed", why, "") from None

    def _sort(self, inbox: queue.SimpleQueue[_Received | None], number: int, line: bytes) -> None:
        answer: Answer | Malformed | None
        if len(line) >= MAX_LINE:
            answer = Malformed(None, f"it is longer than {MAX_LINE} bytes")
        else:
            answer = read_answer(line)
        if answer is None:
            self._note(number, line.decode(errors="replace").rstrip())
        else:
            inbox.put((number, answer))

    def _note(self, number: int, text: str) -> None:
        if len(self.noise) < MAX_NOISE:
            self.noise.append(Noise(number, text[:_NOISE_CHARACTERS]))

    def _ask(
        self,
        command: Hello | Run | Resume,
        *,
        deadline: float,
        what: str,
        also: Callable[[], bool] = _never,
    ) -> Answer:
        """Its answer to the command; `also` tells whether to cancel it at once."""
        process = self._running()
        noted = len(self.noise)
        seq = None if isinstance(command, Hello) else command.seq
        try:
            with self._sending:
                lines = to_line(command)
                if seq is not None and also():
                    lines += to_line(Cancel(seq=seq))
                process.send(lines, deadline=deadline)
                self._sent = seq
            number, answer = self._answer(process, seq, deadline)
        except TimeoutError:
            self._fail("hung", f"it did not {what} and was killed{self._strayed(noted)}")
        except (BrokenPipeError, EOFError):
            self._fail("crashed", "")
        if isinstance(answer, Malformed):
            self._fail("protocol", f"line {number} of its stdout: {answer.why}")
        return answer

    def _answer(self, process: WorkerProcess, seq: str | None, deadline: float) -> _Received:
        """The next answer that concerns this command; others are noted."""
        while (left := deadline - time.monotonic()) > 0:
            try:
                received = self._inbox.get(timeout=min(left, _LOOK_SECONDS))
            except queue.Empty:
                # A child may hold its stdout open.
                if process.is_alive:
                    continue
                received = None
            if received is None:
                raise EOFError
            number, answer = received
            if seq is None or isinstance(answer, Card) or answer.seq in (None, seq):
                return received
            self._note(number, f"an answer to {answer.seq}, which was not asked")
        raise TimeoutError

    def _strayed(self, noted: int) -> str:
        """What came where an answer should have, in words."""
        strays = self.noise[noted:]
        return (
            f"; the last on its stdout, line {strays[-1].line}: {strays[-1].text}" if strays else ""
        )

    def _running(self) -> WorkerProcess:
        if self._process is None:
            raise WorkerFailure("crashed", "it is not running", "")
        return self._process

    def _fail(self, kind: FailureKind, message: str) -> NoReturn:
        process, self._process = self._running(), None
        code = process.stop(grace=self._grace if kind == "crashed" else 0)
        raise WorkerFailure(kind, message or _death(code, process.stderr), process.stderr)


def python_worker(
    target: str, *, name: str, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> Worker:
    """A worker that hosts the Python target `module:attribute`, found from its directory."""
    command = (sys.executable, "-m", "loopcheck.harness.worker.host", target)
    return Worker(command, name=name, cwd=cwd, env=env)


def _death(code: int | None, stderr: str) -> str:
    if code is None:
        what = "it closed its stdout without an answer"
    elif code < 0:
        what = f"it was killed by {signal.Signals(-code).name}"
    else:
        what = f"it ended with exit code {code}"
    words = [line.strip() for line in stderr.splitlines() if line.strip()]
    if not words:
        return what
    # Node says what went wrong in the middle, and where in the beginning.
    errors = [line for line in words if _ERROR.match(line)]
    place = _PLACE.match(words[0])
    told = f"{what}; its last words: {errors[-1] if errors else words[-1]}"
    return f"{told} ({place[1]})" if place else told
