"""The world: executes the tools of a scenario and writes down what really happened."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from loopcheck.fake_providers.wire import JsonObject
from loopcheck.harness.journal import Entry, Journal
from loopcheck.harness.points import PointTracker
from loopcheck.harness.scenario.model import Behaviour, Scenario, ToolModel
from loopcheck.harness.task import Tool
from loopcheck.harness.world import behaviours, results
from loopcheck.harness.world.attribution import Attribution
from loopcheck.harness.world.callables import build_tool
from loopcheck.harness.world.gates import CaseEnded, Gates, Opening, Waiter
from loopcheck.harness.world.ledger import Committed, Ledger, answer, operation_of


@dataclass(frozen=True, slots=True, kw_only=True)
class _Body:
    """A tool body that was entered."""

    number: int
    nth: int
    tool: str
    model: ToolModel
    label: str | None
    arguments: JsonObject
    operation_id: str | None
    behaviour: Behaviour
    token: str


class World:
    """The tools of one case and the systems behind them; safe to use from any thread.

    `watch` has to be the journal's watcher: calls are known and gates open through it. With a
    `clock` of the caller's own, gates are forced by `tick()` only.
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
        # Reentrant, since whatever is recorded under it comes back through the watcher.
        self._lock = threading.RLock()
        self._points = PointTracker()
        self._attribution = Attribution(
            {name: model.parameters for name, model in self._tools.items()}
        )
        self._ledger = Ledger()
        self._gates = Gates(record=self._record_gate, quiet_seconds=quiet_seconds, clock=clock)
        self._entered: Counter[str] = Counter()
        self._labelled: Counter[str | None] = Counter()
        self._tokens: dict[str | None, set[str]] = {}
        self._closed = False

    def watch(self, entry: Entry) -> None:
        """Takes note of a journal entry, and opens the gates that waited for it."""
        with self._lock:
            if entry["kind"] == "response":
                self._attribution.issue(entry)
            self._gates.happened(self._points.feed(entry))

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
        body = self._enter(tool, arguments, call_id, operation_id)
        waiter = self._gates.wait_for(body.label or tool, body.model.returns_after)
        if waiter is not None:
            with self._interruptible(body, waiter):
                waiter.opened.result()
        return self._finish(body)

    async def aexecute(
        self,
        tool: str,
        arguments: JsonObject,
        *,
        call_id: str | None = None,
        operation_id: str | None = None,
    ) -> str:
        """The same as `execute`, without blocking the event loop."""
        body = self._enter(tool, arguments, call_id, operation_id)
        waiter = self._gates.wait_for(body.label or tool, body.model.returns_after)
        if waiter is not None:
            with self._interruptible(body, waiter):
                await asyncio.wrap_future(waiter.opened)
        return self._finish(body)

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
        with self._lock:
            word, document = answer(model.lookup, self._ledger.find(tool, operation_id))
            self._journal.record("lookup", tool=tool, operation_id=operation_id, answer=word)
        return document

    def tick(self) -> None:
        """Forces the gate that waits longest, if nothing happened for `quiet_seconds`."""
        self._gates.tick()

    def close(self) -> None:
        """Ends the bodies that wait, and executes nothing more."""
        with self._lock:
            self._closed = True
        self._gates.close()

    def _model(self, tool: str) -> ToolModel:
        if tool not in self._tools:
            known = ", ".join(self._tools) or "none"
            raise LookupError(f"there is no tool {tool!r}; tools here: {known}")
        return self._tools[tool]

    def _enter(
        self, tool: str, arguments: JsonObject, call_id: str | None, operation_id: str | None
    ) -> _Body:
        model = self._model(tool)
        # A copy, as JSON: what the loop does with its arguments later must not reach the journal.
        given: JsonObject = json.loads(json.dumps(arguments, default=str))
        with self._lock:
            if self._closed:
                raise CaseEnded
            body = self._body(tool, model, given, call_id, operation_id)
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
    ) -> _Body:
        label = self._attribution.take(tool, arguments, call_id)
        self._entered[tool] += 1
        self._labelled[label] += 1
        nth = self._entered[tool]
        behaviour = behaviours.choose(
            model, label=label, of_tool=nth, of_label=self._labelled[label]
        )
        token = results.token(self._seed, tool, nth) if behaviours.carries_token(behaviour) else ""
        if token:
            self._tokens.setdefault(label, set()).add(token)
        return _Body(
            number=self._entered.total(),
            nth=nth,
            tool=tool,
            model=model,
            label=label,
            arguments=arguments,
            operation_id=operation_id,
            behaviour=behaviour,
            token=token,
        )

    @contextmanager
    def _interruptible(self, body: _Body, waiter: Waiter) -> Iterator[None]:
        try:
            yield
        except CaseEnded:
            raise
        except BaseException as error:
            self._gates.leave(waiter)
            self._record_end(body, "raised", behaviours.described(error))
            raise

    def _finish(self, body: _Body) -> str:
        if behaviours.commits(body.model, body.behaviour):
            self._commit(body)
        value = results.value(body.model, body.nth)
        ending = behaviours.ending(body.behaviour, body.tool, value, body.token)
        self._record_end(body, ending.how, ending.text)
        if ending.exception is not None:
            raise ending.exception
        return ending.text

    def _commit(self, body: _Body) -> None:
        effect = Committed(
            tool=body.tool,
            arguments=body.arguments,
            operation=operation_of(body.model, body.arguments),
            operation_id=body.operation_id,
        )
        with self._lock:
            recognised = self._ledger.commit(effect, deduplicates=body.model.deduplicates)
            self._journal.record(
                "effect",
                execution=body.number,
                tool=body.tool,
                arguments=body.arguments,
                operation=effect.operation,
                deduplicated=recognised,
            )

    def _record_end(self, body: _Body, how: str, text: str) -> None:
        self._journal.record("ended", execution=body.number, how=how, result=text)

    def _record_gate(self, gate: str, how: Opening) -> None:
        self._journal.record("gate", gate=gate, how=how)

    def _spec(self, name: str, *, blocking: bool) -> Tool:
        model = self._tools[name]
        call, acall = self._calls(name)
        return build_tool(
            name,
            model.description,
            model.parameters,
            "write" if model.kind == "write" else "read",
            model.operation,
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
