"""The reference loop as the driver of a provider adapter. Needs `loopcheck[reference]`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager, nullcontext
from dataclasses import replace
from typing import Any, Final, TypeAlias

from loopcheck.fake_providers.wire import JsonObject
from loopcheck.harness.target import TargetError
from loopcheck.harness.targets import people
from loopcheck.harness.task import Outcome, Resume, Task, Tool
from loopcheck.harness.tool_values import Part, Parts, RateLimited
from loopcheck.harness.tool_values import TextPart as GivenText
from loopcheck.reference_loop import (
    AnswerError,
    AskAfter,
    Clock,
    Content,
    ImagePart,
    Limits,
    LookUp,
    LoopOutcome,
    LoopTool,
    Policy,
    ProviderAdapter,
    ReferenceLoop,
    Retries,
    RunTakenError,
    Said,
    SqliteStore,
    StorableAdapter,
    Store,
    TextPart,
    ToolFailure,
    ToolLimits,
    UnknownRunError,
)
from loopcheck.reference_loop.tools import Invoke

# What a fake asks to wait for is over at once, and nothing is judged by how long it took.
LONGEST_WAIT_SECONDS: Final = 0.02
# A process that was killed holds its run for so long.
LEASE_SECONDS: Final = 1.0
_TAKEN_SECONDS: Final = 0.05

# Any: what a conversation is, is the adapter's own affair.
AdapterFactory: TypeAlias = Callable[
    [Task], ProviderAdapter[Any] | AbstractAsyncContextManager[ProviderAdapter[Any]]
]


def driven(factory: AdapterFactory) -> Callable[[Task], Awaitable[Outcome]]:
    """A loop over the adapter that the factory makes for each task."""

    async def drive(task: Task) -> Outcome:
        if not task.lanes:
            return await _talked(factory, task)
        talks = [asyncio.ensure_future(_talked(factory, one)) for one in _conversations(task)]
        try:
            return _together(await asyncio.gather(*talks))
        finally:
            for talk in talks:
                talk.cancel()
            await asyncio.wait(talks)

    return drive


async def _talked(factory: AdapterFactory, task: Task) -> Outcome:
    """How one conversation ends, with an adapter and a store of its own."""
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
        with _store(adapter, task) as store:
            return await _run(adapter, task, store)


def _conversations(task: Task) -> Iterator[Task]:
    """The conversation that has no name, and those of the lanes."""
    yield replace(task, lanes=())
    for lane in task.lanes:
        folder = task.folder / f"lane-{lane.name}"
        folder.mkdir(exist_ok=True)
        offered = [spec for spec in task.specs if lane.tools is None or spec.name in lane.tools]
        yield replace(
            task,
            lanes=(),
            folder=folder,
            model=lane.model or task.model,
            specs=tuple(offered),
        )


def _together(outcomes: Iterable[Outcome]) -> Outcome:
    """The outcome of all: that of the conversation without a name, which comes first, unless
    another did not get to its end. People are told of everything that waits for them."""
    first, *others = outcomes
    ended = next((one for one in (first, *others) if one.state != "completed"), first)
    if ended.state != "paused":
        return ended
    return replace(ended, pending=tuple(p for one in (first, *others) for p in one.pending))


@contextmanager
def _store(adapter: ProviderAdapter[Any], task: Task) -> Iterator[Store | None]:
    """The runs of this case, where the adapter's conversations can be kept."""
    if not isinstance(adapter, StorableAdapter):
        yield None
        return
    store = SqliteStore(
        task.folder / "runs.sqlite", lease_seconds=LEASE_SECONDS, synchronous="normal"
    )
    try:
        yield store
    finally:
        store.close()


async def _run(adapter: ProviderAdapter[Any], task: Task, store: Store | None) -> Outcome:
    answers = people.Answers(task.folder)
    loop = ReferenceLoop(
        adapter,
        [_tool(spec, answers) for spec in task.specs],
        _limits(task),
        retries=Retries(first_seconds=0.0),  # a fake needs no time to recover
        policy=Policy(permissions=people.permissions(task.specs)),
        tool_limits=ToolLimits(seconds=task.tool_seconds),
        price=lambda used: task.prices.of(used.input_tokens, used.output_tokens),
        store=store,
        tool_choice=task.tool_choice,
        clock=_clock(task),
    )
    stop = task.stop.event()
    runs = _Runs(task)
    if store is None and (task.resume is not None or task.follows):
        raise TargetError(
            f"{type(adapter).__name__} has no dump() and load(), so its runs cannot go on; do not "
            "declare approval, input, resume or follow_up"
        )
    if task.resume is not None:
        answers.keep(task.resume.decisions)
        ended = await _resumed(loop, runs, task, task.resume, stop)
    elif task.follows:
        after = loop.conversation(runs.latest)
        ended = await loop.run(task.prompt, run_id=runs.next(), after=after, stop=stop)
    else:
        ended = await loop.run(task.prompt, run_id=runs.latest, earlier=_earlier(task), stop=stop)
    return Outcome(
        state=ended.state,
        reason=ended.reason,
        text=ended.text,
        run=None if store is None else ended.run_id,
        pending=people.pending(ended.questions),
    )


class _Runs:
    """The runs of one conversation: each message of the user is a run of its own in the store."""

    def __init__(self, task: Task) -> None:
        self._name = task.run
        self._file = task.folder / "runs.txt"

    @property
    def _count(self) -> int:
        return len(self._file.read_text().split()) if self._file.exists() else 0

    @property
    def latest(self) -> str:
        return f"{self._name}.{self._count}" if self._count else self._name

    @property
    def before(self) -> str | None:
        """The run whose conversation the latest one goes on with."""
        count = self._count
        return f"{self._name}.{count - 1}" if count > 1 else self._name if count else None

    def next(self) -> str:
        with self._file.open("a") as file:
            file.write("more\n")
        return self.latest


async def _resumed(
    loop: ReferenceLoop[Any], runs: _Runs, task: Task, resume: Resume, stop: asyncio.Event
) -> LoopOutcome:
    """Goes on with the run, once nobody else works on it."""
    run_id = runs.latest
    while True:
        try:
            ended = await loop.resume(run_id, stop=stop)
            decisions = people.approvals(resume.decisions, ended.questions)
            if not decisions:
                return ended
            return await loop.resume(run_id, decisions=decisions, stop=stop)
        except RunTakenError:
            await asyncio.sleep(_TAKEN_SECONDS)
        except AnswerError:  # another process has answered meanwhile
            continue
        except UnknownRunError:  # it died before it was on record
            if runs.before is None:
                said = _earlier(task)
                return await loop.run(task.prompt, run_id=run_id, earlier=said, stop=stop)
            after = loop.conversation(runs.before)
            return await loop.run(task.prompt, run_id=run_id, after=after, stop=stop)


def _earlier(task: Task) -> list[Said]:
    return [Said(role=message.role, text=message.text) for message in task.earlier]


def _clock(task: Task) -> Clock:
    """The real clock, ahead by what the scenario says has passed."""
    return Clock(wall=lambda: time.time() + task.clock_seconds, sleep=_short_sleep)


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
        cost=given.cost,
        context_tokens=given.context,
        repeats=given.repeats,
    )


def _tool(spec: Tool, answers: people.Answers) -> LoopTool:
    return LoopTool(
        name=spec.name,
        description=spec.description,
        parameters=spec.parameters,
        kind="write" if spec.kind == "write" else "read",
        operation=spec.operation,
        invoke=answers.tell if spec.kind == "ask" else _invoke(spec),
        look_up=None if spec.look_up is None else _look_up(spec.look_up),
        deduplicates=spec.deduplicates,
    )


def _invoke(spec: Tool) -> Invoke:
    async def invoke(arguments: JsonObject, *, call_id: str, operation_id: str | None) -> str:
        try:
            given = await spec.acall(arguments, call_id=call_id, operation_id=operation_id)
        except RateLimited as error:
            raise ToolFailure(
                "rate_limited", str(error), retryable=True, retry_after=error.retry_after
            ) from error
        return Content(map(_part, given.parts)) if isinstance(given, Parts) else given

    return invoke


def _part(part: Part) -> TextPart | ImagePart:
    if isinstance(part, GivenText):
        return TextPart(part.text)
    return ImagePart(part.data, part.media_type)


def _look_up(ask: Callable[[str], JsonObject]) -> AskAfter:
    async def look_up(operation_id: str) -> LookUp:
        told = await asyncio.to_thread(ask, operation_id)
        match told.get("status"):
            case "found":
                return LookUp("found", str(told.get("result", "")))
            case "absent":
                return LookUp("absent")
        return LookUp("inconclusive")

    return look_up
