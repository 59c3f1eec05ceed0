"""The reference loop as the driver of a provider adapter. Needs `loopcheck[reference]`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any, Final, TypeAlias

from loopcheck.harness.target import TargetError
from loopcheck.harness.task import Outcome, Task, Tool
from loopcheck.reference_loop import (
    Clock,
    Limits,
    LoopTool,
    ProviderAdapter,
    ReferenceLoop,
    Retries,
)

# What a fake asks to wait for is over at once, and nothing is judged by how long it took.
LONGEST_WAIT_SECONDS: Final = 0.02

# Any: what a conversation is, is the adapter's own affair.
AdapterFactory: TypeAlias = Callable[
    [Task], ProviderAdapter[Any] | AbstractAsyncContextManager[ProviderAdapter[Any]]
]


def driven(factory: AdapterFactory) -> Callable[[Task], Awaitable[Outcome]]:
    """A loop over the adapter that the factory makes for each task."""

    async def drive(task: Task) -> Outcome:
        made = factory(task)
        if not isinstance(made, AbstractAsyncContextManager):
            made = nullcontext(made)
        async with made as adapter:
            for needed in ("start", "request", "append"):
                if not callable(getattr(adapter, needed, None)):
                    raise TargetError(
                        f"{type(adapter).__name__} is no provider adapter: it has no "
                        f"{needed}(); see loopcheck.reference_loop.ProviderAdapter"
                    )
            return await _run(adapter, task)

    return drive


async def _run(adapter: ProviderAdapter[Any], task: Task) -> Outcome:
    loop = ReferenceLoop(
        adapter,
        map(_tool, task.specs),
        _limits(task),
        retries=Retries(first_seconds=0.0),  # a fake needs no time to recover
        tool_choice=task.tool_choice,
        clock=Clock(sleep=_short_sleep),
    )
    outcome = await loop.run(task.prompt)
    return Outcome(state=outcome.state, reason=outcome.reason, text=outcome.text)


async def _short_sleep(seconds: float) -> None:
    await asyncio.sleep(min(seconds, LONGEST_WAIT_SECONDS))


def _limits(task: Task) -> Limits:
    given = task.limits
    rounds = Limits().rounds if given.rounds is None else given.rounds
    return Limits(
        rounds=rounds,
        tool_calls=given.tool_calls,
        seconds=given.seconds,
        tokens=given.tokens,
    )


def _tool(spec: Tool) -> LoopTool:
    return LoopTool(
        name=spec.name,
        description=spec.description,
        parameters=spec.parameters,
        kind=spec.kind,
        operation=spec.operation,
        invoke=spec.acall,
    )
