"""Answers the calls of one response: every call gets exactly one result, whatever happens.

Reads that stand together run together. A write waits for all that precedes it and runs alone,
so that writes happen in the order in which the model asked for them. No tool is ever run again
by itself: only the model, told what happened, can ask again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from loopcheck.reference_loop import schema
from loopcheck.reference_loop.arguments import ArgumentError, JsonObject, parse
from loopcheck.reference_loop.events import CallResult, ProposedCall
from loopcheck.reference_loop.operations import Done, OperationBook, Unknown, operation_id
from loopcheck.reference_loop.results import error_text, is_error
from loopcheck.reference_loop.tools import LoopTool, catalogue

OUTCOME_UNKNOWN = (
    "Whether this took effect is unknown. Do not simply ask again: find out first, or tell the "
    "user that the outcome is unknown."
)


@dataclass(frozen=True, slots=True)
class _Ready:
    """A call that may run, as soon as it is its turn."""

    call: ProposedCall
    tool: LoopTool
    arguments: JsonObject


class Executor:
    """Runs the tools of one run, and remembers which operations were carried out in it."""

    def __init__(self, tools: Iterable[LoopTool]) -> None:
        self._tools = catalogue(tools)
        self._book = OperationBook()

    async def answer(self, calls: Sequence[ProposedCall]) -> tuple[CallResult, ...]:
        """One result for each call, in the order of the calls."""
        prepared = [self._prepare(call) for call in calls]
        results: list[CallResult] = []
        for batch in _batches(prepared):
            if len(batch) == 1:
                results.append(await self._settle(batch[0]))
            else:
                async with asyncio.TaskGroup() as group:
                    tasks = [group.create_task(self._settle(item)) for item in batch]
                results.extend(task.result() for task in tasks)
        return tuple(results)

    def _prepare(self, call: ProposedCall) -> _Ready | CallResult:
        try:
            arguments = parse(call.arguments_text)
        except ArgumentError as error:
            return _refused(call, None, error.code, error.message)
        tool = self._tools.get(call.name)
        if tool is None:
            known = ", ".join(self._tools) or "none"
            message = f"There is no tool {call.name!r}. Tools: {known}."
            return _refused(call, arguments, "unknown_tool", message)
        try:
            problems = schema.problems(tool.parameters, arguments)
        except schema.InvalidSchema as error:
            return _refused(call, arguments, "invalid_schema", str(error))
        if problems:
            return _refused(call, arguments, "invalid_arguments", "; ".join(problems))
        return _Ready(call, tool, arguments)

    async def _settle(self, item: _Ready | CallResult) -> CallResult:
        if isinstance(item, CallResult):
            return item
        operation = operation_id(item.tool, item.arguments)
        if operation is None or item.tool.kind == "read":
            return await self._run(item, operation)
        return await self._run_once(item, operation)

    async def _run_once(self, item: _Ready, operation: str) -> CallResult:
        known = self._book.entry(operation)
        if isinstance(known, Unknown):
            known = await self._find_out(item.tool, operation, known)
        if isinstance(known, Unknown):
            return _failed(item, "outcome_unknown", f"It was begun before. {OUTCOME_UNKNOWN}")
        if known is None:
            return await self._run(item, operation)
        if known.arguments != item.arguments:
            message = f"This was already done, with other arguments: {known.arguments}"
            return _failed(item, "already_done", message)
        return _result(item, known.text)

    async def _find_out(
        self, tool: LoopTool, operation: str, known: Unknown
    ) -> Done | Unknown | None:
        if tool.look_up is None:
            return known
        try:
            found = await tool.look_up(operation)
        except Exception:
            return known  # a look-up that fails tells nothing
        if found.answer == "inconclusive":
            return known
        if found.answer == "absent":
            self._book.strike(operation)
            return None
        done = Done(known.arguments, found.text)
        self._book.enter(operation, done)
        return done

    async def _run(self, item: _Ready, operation: str | None) -> CallResult:
        call_id = item.call.call_id
        try:
            text = await item.tool.invoke(item.arguments, call_id=call_id, operation_id=operation)
        except PermissionError as error:
            return _failed(item, "not_permitted", f"The tool was not run: {error}")
        except Exception as error:
            return self._raised(item, operation, error)
        if operation is not None and not is_error(text):
            self._book.enter(operation, Done(item.arguments, text))
        return _result(item, text)

    def _raised(self, item: _Ready, operation: str | None, error: Exception) -> CallResult:
        what = f"{type(error).__name__}: {error}"
        if item.tool.kind == "read":
            passing = isinstance(error, ConnectionError | TimeoutError)
            return _failed(item, "tool_failed", what, retryable=passing)
        # An exception does not say how far a write came: it may have been raised after the
        # effect, or the answer alone may have been lost.
        if operation is not None:
            self._book.enter(operation, Unknown(item.arguments))
        return _failed(item, "outcome_unknown", f"{what}. {OUTCOME_UNKNOWN}")


def _batches(items: Sequence[_Ready | CallResult]) -> Iterator[list[_Ready | CallResult]]:
    together: list[_Ready | CallResult] = []
    for item in items:
        if isinstance(item, _Ready) and item.tool.kind == "write":
            if together:
                yield together
                together = []
            yield [item]
        else:
            together.append(item)
    if together:
        yield together


def _result(item: _Ready, text: str) -> CallResult:
    return CallResult(
        call_id=item.call.call_id, text=text, is_error=is_error(text), arguments=item.arguments
    )


def _failed(item: _Ready, code: str, message: str, *, retryable: bool = False) -> CallResult:
    return _refused(item.call, item.arguments, code, message, retryable=retryable)


def _refused(
    call: ProposedCall,
    arguments: JsonObject | None,
    code: str,
    message: str,
    *,
    retryable: bool = False,
) -> CallResult:
    text = error_text(code, message, retryable=retryable)
    return CallResult(call_id=call.call_id, text=text, is_error=True, arguments=arguments)
