"""The course of one tool body, step by step, and what takes it there in threads and in tasks."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator
from concurrent.futures import Future
from typing import TypeAlias

from loopcheck.harness.scenario.tool_model import Points
from loopcheck.harness.world import behaviours, results
from loopcheck.harness.world.behaviours import Ending
from loopcheck.harness.world.bodies import Bodies, Body
from loopcheck.harness.world.gates import CaseEnded, Gates, Waiter

# Each step is a waiter to wait for; None has an agent's own function run, and wants its result.
Course: TypeAlias = Generator[Waiter | None, object, Ending]


class CallerLeft(Exception):
    """Whoever called the tool over a connection has closed it."""

    def __init__(self) -> None:
        super().__init__("the connection was closed")


class Courses:
    """Makes the courses of bodies."""

    def __init__(self, gates: Gates, bodies: Bodies) -> None:
        self._gates = gates
        self._bodies = bodies

    def course(self, body: Body, *, own: bool = False, left: Future[None] | None = None) -> Course:
        """From the entry of the body to its end. An exception that is thrown in is what met it
        there; it is journalled and goes on to the caller.

        `left` is done when the caller has closed its connection. A body that hangs is given up
        at that moment, and any other is carried out, whoever hears of it.
        """
        refused = behaviours.refusal(body.model, body.chosen, body.tool)
        if refused is not None:
            return self._end(body, behaviours.rejected(refused))
        value = results.value(body.model, body.nth)
        if own and behaviours.runs_own_body(body.chosen):
            value = yield from self._own(body)
        if body.chosen.name == "never-answers":
            return (yield from self._hang(body, left))
        if behaviours.commits(body.model, body.chosen):
            yield from self._gate(body, body.model.commits_after)
        return (yield from self._committed(body, value, own=own, left=left))

    def _own(self, body: Body) -> Generator[None, object, object]:
        try:
            return (yield None)
        except CaseEnded:
            raise
        except BaseException as error:
            self._end(body, Ending("raised", behaviours.described(error)))
            raise

    def _committed(
        self, body: Body, value: object, *, own: bool, left: Future[None] | None
    ) -> Course:
        name = body.chosen.name
        if name == "commit-late":
            return (yield from self._hang(body, left))
        # Without a gate of its own the effect comes with the end.
        if not (body.model.commits_after or name == "commit-then-hang"):
            yield from self._gate(body, body.model.returns_after)
        withdrawn = self._commit(body)
        if withdrawn is not None:
            return withdrawn
        if name == "commit-then-hang":
            return (yield from self._hang(body, left))
        if body.model.commits_after:
            yield from self._gate(body, body.model.returns_after)
        ending = behaviours.ending(body.chosen, body.tool, value, body.token, own=own)
        return self._end(body, ending)

    def _commit(self, body: Body) -> Ending | None:
        """Commits; the end of a body that must not any more."""
        if not behaviours.commits(body.model, body.chosen) or self._bodies.commit(body):
            return None
        error = RuntimeError(f"{body.tool} was called off: it was said to have no effect")
        return self._end(body, behaviours.rejected(error))

    def _gate(self, body: Body, points: Points) -> Generator[Waiter, object, None]:
        waiter = self._gates.wait_for(body.who, points)
        if waiter is None:
            return
        try:
            yield waiter
        except CaseEnded:
            raise
        except BaseException as error:
            self._gates.leave(waiter)
            self._end(body, Ending("raised", behaviours.described(error)))
            raise

    def _hang(self, body: Body, left: Future[None] | None) -> Course:
        self._bodies.hang(body)
        waiter = self._gates.hang(body.who)

        def leave(_: Future[None]) -> None:
            self._bodies.give_up(body, behaviours.described(CallerLeft()))
            self._gates.let_go(waiter, CallerLeft())

        if left is not None:
            left.add_done_callback(leave)
        try:
            yield waiter
        except CallerLeft:
            pass  # which has been journalled
        except BaseException as error:
            self._gates.leave(waiter)
            self._bodies.give_up(body, behaviours.described(error))
            raise
        return behaviours.abandoned(CallerLeft())

    def _end(self, body: Body, ending: Ending) -> Ending:
        self._bodies.end(body, ending)
        return ending


def drive(course: Course, run: Callable[[], object] = lambda: None) -> Ending:
    """Takes a body to its end in the calling thread; `run` is the agent's own function."""
    try:
        step = next(course)
        while True:
            try:
                value = run() if step is None else step.opened.result()
            except BaseException as error:
                step = course.throw(error)
            else:
                step = course.send(value)
    except StopIteration as stop:
        ended: Ending = stop.value
        return ended


async def _nothing() -> None:
    """What a tool of the world's own has for a body."""


async def _opened(waiter: Waiter) -> None:
    await asyncio.wrap_future(waiter.opened)


async def adrive(course: Course, run: Callable[[], Awaitable[object]] = _nothing) -> Ending:
    """The same in a task."""
    try:
        step = next(course)
        while True:
            try:
                value = await (run() if step is None else _opened(step))
            except BaseException as error:
                step = course.throw(error)
            else:
                step = course.send(value)
    except StopIteration as stop:
        ended: Ending = stop.value
        return ended
