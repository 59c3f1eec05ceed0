"""Runs a Python target for the worker protocol, unchanged."""

from __future__ import annotations

import asyncio
import inspect
from pathlib import Path
from types import TracebackType

from loopcheck.harness.target import Target, TargetError, outcome_of
from loopcheck.harness.task import Limits, Outcome, Task
from loopcheck.harness.worker.importing import import_target
from loopcheck.harness.worker.protocol import (
    PROTOCOL,
    Card,
    CardDocument,
    Ended,
    ErrorDocument,
    Errored,
    OutcomeDocument,
    Run,
    TaskDocument,
    well_formed,
)
from loopcheck.harness.worker.remote_tools import remote_tool


class Hosted:
    """A target by name. It is imported when first needed; one event loop serves all its runs,
    since frameworks cache clients that belong to the loop they were made in."""

    def __init__(self, reference: str) -> None:
        self._reference = reference
        self._imported: Target | None = None
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

    def run(self, command: Run) -> Ended | Errored:
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
            ),
        )

    def _target(self) -> Target:
        if self._imported is None:
            self._imported = import_target(self._reference)
        return self._imported

    def _outcome(self, command: Run) -> Outcome:
        target = self._target()
        task = _task(command.task, case=command.seq, blocking=not target.is_async)
        ended = self._ended(target, task)
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
    except (Exception, SystemExit, asyncio.CancelledError) as error:
        return outcome_of(error, target.ends)


def _task(document: TaskDocument, *, case: str, blocking: bool) -> Task:
    folder = Path(document.folder)
    folder.mkdir(parents=True, exist_ok=True)
    return Task(
        case=document.case or case,
        dialect=document.dialect,
        stream=document.stream,
        base_url=document.base_url,
        api_key=document.api_key,
        model=document.model,
        prompt=document.prompt,
        specs=tuple(remote_tool(tool, blocking=blocking) for tool in document.tools),
        limits=Limits(**document.limits.model_dump()),
        tool_choice=document.tool_choice,
        folder=folder,
    )


def _errored(seq: str | None, error: Exception) -> Errored:
    kind = getattr(error, "kind", type(error).__name__)
    message = well_formed(" ".join(str(error).split()))
    return Errored(seq=seq, errored=ErrorDocument(type=kind, message=message))
