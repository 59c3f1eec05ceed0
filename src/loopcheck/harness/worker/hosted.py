"""Runs a Python target for the worker protocol, unchanged."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from loopcheck.harness import task as task_values
from loopcheck.harness.prices import Prices
from loopcheck.harness.stop import Stop
from loopcheck.harness.target import Target, TargetError, cut_short, outcome_of
from loopcheck.harness.task import Lane, Limits, Message, Outcome, Task
from loopcheck.harness.worker.importing import import_target
from loopcheck.harness.worker.protocol import (
    PROTOCOL,
    Card,
    CardDocument,
    Ended,
    ErrorDocument,
    Errored,
    OutcomeDocument,
    PendingDocument,
    Resume,
    Run,
    well_formed,
)
from loopcheck.harness.worker.remote_recorder import RemoteRecorder
from loopcheck.harness.worker.remote_tools import remote_tool

T = TypeVar("T")


class Hosted:
    """A target by name. It is imported when first needed; one event loop serves all its runs,
    since frameworks cache clients that belong to the loop they were made in."""

    def __init__(self, reference: str) -> None:
        self._reference = reference
        self._imported: Target | None = None
        self._lock = threading.Lock()
        self._running: tuple[str, Stop] | None = None
        self._cancelled: str | None = None
        self._runner = asyncio.Runner()

    def __enter__(self) -> Hosted:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._runner.close()

    def hello(self) -> Card | Errored:
        """The target's card, or why there is none."""
        try:
            card = self._target().card()
        except Exception as error:
            return _errored(None, error)
        return Card(card=CardDocument(**card.model_dump()), protocol=PROTOCOL)

    def cancel(self, seq: str) -> None:
        """Tells the run of that command that the user wants no more, also where the command has
        come and the run has not begun. May come from any thread."""
        with self._lock:
            self._cancelled, running = seq, self._running
        if running is not None and running[0] == seq:
            running[1].request()

    def meanwhile(self, wait: Callable[[], T]) -> T:
        """Waits, while what earlier runs have left behind in the event loop goes on, as it would
        in any service."""
        return self._runner.run(asyncio.to_thread(wait))

    def run(self, command: Run | Resume) -> Ended | Errored:
        """The outcome of one run, or why there is none."""
        try:
            outcome = self._outcome(command)
        except Exception as error:
            return _errored(command.seq, error)
        return Ended(
            seq=command.seq,
            outcome=OutcomeDocument(
                state=outcome.state,
                reason=well_formed(outcome.reason),
                text=well_formed(outcome.text),
                exception=outcome.exception,
                run=outcome.run,
                place=outcome.place,
                pending=tuple(PendingDocument(**asdict(call)) for call in outcome.pending),
            ),
        )

    def _target(self) -> Target:
        if self._imported is None:
            self._imported = import_target(self._reference)
        return self._imported

    def _outcome(self, command: Run | Resume) -> Outcome:
        target = self._target()
        task = _task(command, blocking=not target.is_async)
        with self._lock:
            self._running = command.seq, task.stop
            is_cancelled = self._cancelled == command.seq
        if is_cancelled or (isinstance(command, Resume) and command.cancel):
            task.stop.request()
        try:
            ended = self._ended(target, task)
        finally:
            self._running = None
        if isinstance(ended, Outcome):
            return ended
        raise TargetError(
            f"target {target.name!r} returned {type(ended).__name__}; "
            "return loopcheck.final(text) or another Outcome"
        )

    def _ended(self, target: Target, task: Task) -> object:
        if target.is_async:
            return self._runner.run(_awaited(target, task))
        try:
            return target(task)
        except TargetError:
            raise
        except (Exception, SystemExit) as error:
            return outcome_of(error, target.ends)


async def _awaited(target: Target, task: Task) -> object:
    try:
        made = target(task)
        return await made if inspect.isawaitable(made) else made
    except TargetError:
        raise
    except asyncio.CancelledError as error:
        return cut_short(error, task, target.ends)
    except (Exception, SystemExit) as error:
        return outcome_of(error, target.ends)


def _task(command: Run | Resume, *, blocking: bool) -> Task:
    document = command.task
    folder = Path(document.folder)
    folder.mkdir(parents=True, exist_ok=True)
    return Task(
        case=document.case or command.seq,
        dialect=document.dialect,
        stream=document.stream,
        base_url=document.base_url,
        api_key=document.api_key,
        model=document.model,
        prompt=document.prompt,
        earlier=tuple(Message(**said.model_dump()) for said in document.earlier),
        state=document.state,
        lanes=tuple(Lane(**lane.model_dump()) for lane in document.lanes),
        specs=tuple(remote_tool(tool, blocking=blocking) for tool in document.tools),
        limits=Limits(**document.limits.model_dump()),
        prices=Prices(**document.prices.model_dump()) if document.prices else Prices(),
        tool_choice=document.tool_choice,
        folder=folder,
        run=document.run,
        follows=document.follows,
        resume=_resumption(command) if isinstance(command, Resume) else None,
        clock_seconds=document.clock_seconds,
        tool_seconds=document.tool_seconds,
        openapi=document.openapi,
        mcp=document.mcp,
        recorder=None if document.own is None else RemoteRecorder(document.own),
    )


def _resumption(command: Resume) -> task_values.Resume:
    decisions = tuple(task_values.Decision(**d.model_dump()) for d in command.decisions)
    return task_values.Resume(run=command.run, decisions=decisions)


def _errored(seq: str | None, error: Exception) -> Errored:
    kind = getattr(error, "kind", type(error).__name__)
    message = well_formed(" ".join(str(error).split()))
    return Errored(seq=seq, errored=ErrorDocument(type=kind, message=message))
