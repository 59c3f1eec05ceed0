"""The world: executes the tools of a scenario and writes down what really happened."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from concurrent.futures import Future
from functools import partial
from typing import Literal

from loopcheck.fake_providers.wire import JsonObject
from loopcheck.harness.journal import Entry, Journal
from loopcheck.harness.points import PointTracker
from loopcheck.harness.scenario.model import Scenario, ToolModel
from loopcheck.harness.task import Tool
from loopcheck.harness.world import behaviours, results
from loopcheck.harness.world.attribution import Attribution
from loopcheck.harness.world.behaviours import Ending
from loopcheck.harness.world.bodies import Bodies, Body
from loopcheck.harness.world.callables import build_tool
from loopcheck.harness.world.course import Course, Courses, adrive, drive
from loopcheck.harness.world.gates import CaseEnded, Gates, Opening
from loopcheck.harness.world.own_tools import OwnFunction, OwnTools, recorded

# What the world knows of an agent's own function that the scenario does not have.
_UNKNOWN = ToolModel(kind="read")


class World:
    """The tools of one case and the systems behind them; safe to use from any thread.

    `watch` has to be the journal's watcher: calls are known and gates open through it. With a
    `clock` of the caller's own, gates are forced by `tick()` only. `own` is what records an
    agent's own functions.
    """

    def __init__(
        self,
        scenario: Scenario,
        *,
        seed: int,
        journal: Journal,
        quiet_seconds: float = 0.2,
        clock: Callable[[], float] | None = None,
    ) -> None:
        self._tools = scenario.client_tools
        self._seed = seed
        self._journal = journal
        # Nothing is recorded under it, since whatever is comes back through the watcher.
        self._lock = threading.Lock()
        self._points = PointTracker()
        self._attribution = Attribution(
            {name: model.parameters for name, model in self._tools.items()}
        )
        self._bodies = Bodies(journal.record)
        self._gates = Gates(record=self._record_gate, quiet_seconds=quiet_seconds, clock=clock)
        self._courses = Courses(self._gates, self._bodies)
        self.own = OwnTools(self._enter_own, self._courses, self._gates)
        self._entered: Counter[str] = Counter()
        self._labelled: Counter[str | None] = Counter()
        self._tokens: dict[str | None, set[str]] = {}
        self._closed = False

    def watch(self, entry: Entry) -> None:
        """Takes note of a journal entry, and opens the gates that waited for it."""
        with self._lock:
            if entry["kind"] == "response":
                self._attribution.issue(entry)
            points = self._points.feed(entry)
        self._gates.happened(points)
        self._bodies.passed(points)

    def has_passed(self, point: str) -> bool:
        """Whether this point in time of the case has passed."""
        with self._lock:
            return self._points.has_passed(point)

    def execute(
        self,
        tool: str,
        arguments: JsonObject,
        *,
        call_id: str | None = None,
        operation_id: str | None = None,
    ) -> str:
        """Runs a tool's body and returns its result; raises what the tool raises, LookupError
        for a tool that does not exist, and CaseEnded after `close`."""
        return _handed_back(drive(self._begin(tool, arguments, call_id, operation_id)))

    async def aexecute(
        self,
        tool: str,
        arguments: JsonObject,
        *,
        call_id: str | None = None,
        operation_id: str | None = None,
    ) -> str:
        """The same as `execute`, without blocking the event loop."""
        ending = await self.aperform(tool, arguments, call_id=call_id, operation_id=operation_id)
        return _handed_back(ending)

    async def aperform(
        self,
        tool: str,
        arguments: JsonObject,
        *,
        call_id: str | None = None,
        operation_id: str | None = None,
        left: Future[None] | None = None,
    ) -> Ending:
        """The same, with how the body ended as a value: what the tool raises is in it.

        `left` is done when the caller has closed its connection. A body that hangs is given up
        at that moment, and any other is carried out all the same.
        """
        return await adrive(self._begin(tool, arguments, call_id, operation_id, left))

    def record(self, function: OwnFunction, *, name: str | None = None) -> OwnFunction:
        """The agent's own function, so that its runs count as executions.

        It stays a function of the same kind, name, signature and docstring. Under the name of a
        tool of the scenario it behaves as the scenario says: where that has no effect, the world
        stands in for the function, which does not run; where it has one, the world commits it
        after the function has returned. Raises TypeError for what is no plain function.
        """
        return recorded(function, self.own, self._parameters, name=name)

    def specs(self, *, blocking: bool) -> tuple[Tool, ...]:
        """The tools as a loop is given them, in the scenario's order. A tool that the scenario
        makes blocking is a plain function for asynchronous loops, too."""
        return tuple(self._spec(name, blocking=blocking) for name in self._tools)

    def tokens(self, labels: Iterable[str]) -> frozenset[str]:
        """The tokens in the results of the executions that belong to these calls."""
        with self._lock:
            return frozenset().union(*(self._tokens.get(label, ()) for label in labels))

    def lookup(self, tool: str, operation_id: str) -> JsonObject:
        """What the system says became of an operation. Raises LookupError for tools that have no
        look-up, or do not exist."""
        model = self._model(tool)
        if model.lookup == "none":
            raise LookupError(f"{tool} has no look-up of operations")
        return self._bodies.look_up(tool, operation_id, model.lookup)

    @property
    def is_at_work(self) -> bool:
        """Whether a tool body goes on, which no gate holds."""
        return self._bodies.open > self._gates.held

    def tick(self) -> None:
        """Forces the gate that waits longest, if nothing happened for `quiet_seconds`."""
        self._gates.tick()

    def close(self) -> None:
        """Ends the bodies that wait, and executes nothing more."""
        with self._lock:
            self._closed = True
        self._bodies.give_up_all("the case was over")
        self._gates.close()

    def _model(self, tool: str) -> ToolModel:
        if tool not in self._tools:
            known = ", ".join(self._tools) or "none"
            raise LookupError(f"there is no tool {tool!r}; tools here: {known}")
        return self._tools[tool]

    def _parameters(self, tool: str) -> JsonObject:
        return self._tools.get(tool, _UNKNOWN).parameters

    def _begin(
        self,
        tool: str,
        arguments: JsonObject,
        call_id: str | None,
        operation_id: str | None,
        left: Future[None] | None = None,
    ) -> Course:
        body = self._enter(tool, self._model(tool), arguments, call_id, operation_id)
        return self._courses.course(body, left=left)

    def _enter_own(self, tool: str, arguments: JsonObject) -> Body:
        return self._enter(tool, self._tools.get(tool, _UNKNOWN), arguments, None, None)

    def _enter(
        self,
        tool: str,
        model: ToolModel,
        arguments: JsonObject,
        call_id: str | None,
        operation_id: str | None,
    ) -> Body:
        # A copy, as JSON: what the loop does with its arguments later must not reach the journal.
        given: JsonObject = json.loads(json.dumps(arguments, default=str))
        with self._lock:
            if self._closed:
                raise CaseEnded
            body = self._body(tool, model, given, call_id, operation_id)
            self._bodies.enter(body)
        self._journal.record(
            "execution",
            execution=body.number,
            tool=tool,
            arguments=body.arguments,
            label=body.label,
            call_id=call_id,
            operation_id=operation_id,
            token=body.token,
        )
        return body

    def _body(
        self,
        tool: str,
        model: ToolModel,
        arguments: JsonObject,
        call_id: str | None,
        operation_id: str | None,
    ) -> Body:
        label = self._attribution.take(tool, arguments, call_id)
        self._entered[tool] += 1
        self._labelled[label] += 1
        nth = self._entered[tool]
        chosen = behaviours.choose(model, label=label, of_tool=nth, of_label=self._labelled[label])
        has_token = behaviours.carries_token(model, chosen)
        token = results.token(self._seed, tool, nth) if has_token else ""
        if token:
            self._tokens.setdefault(label, set()).add(token)
        return Body(
            number=self._entered.total(),
            nth=nth,
            tool=tool,
            model=model,
            label=label,
            arguments=arguments,
            operation_id=operation_id,
            chosen=chosen,
            token=token,
        )

    def _record_gate(self, gate: str, how: Opening) -> None:
        self._journal.record("gate", gate=gate, how=how)

    def _spec(self, name: str, *, blocking: bool) -> Tool:
        model = self._tools[name]
        call, acall = self._calls(name)
        return build_tool(
            name,
            model.description,
            model.parameters,
            _kind(model),
            model.operation,
            approval=model.approval,
            look_up=None if model.lookup == "none" else partial(self.lookup, name),
            deduplicates=model.deduplicates,
            call=call,
            acall=acall,
            blocking=blocking or model.body == "blocking",
        )

    def _calls(self, name: str) -> tuple[Callable[..., str], Callable[..., Awaitable[str]]]:
        def call(
            arguments: JsonObject, call_id: str | None = None, operation_id: str | None = None
        ) -> str:
            return self.execute(name, arguments, call_id=call_id, operation_id=operation_id)

        async def acall(
            arguments: JsonObject, call_id: str | None = None, operation_id: str | None = None
        ) -> str:
            return await self.aexecute(name, arguments, call_id=call_id, operation_id=operation_id)

        return call, acall


def _kind(model: ToolModel) -> Literal["read", "write", "ask"]:
    """The kind of a tool that a loop is given, which is never a hosted one."""
    return "read" if model.kind == "hosted" else model.kind


def _handed_back(ending: Ending) -> str:
    if ending.exception is not None:
        raise ending.exception
    return ending.text
