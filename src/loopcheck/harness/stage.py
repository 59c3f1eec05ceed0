"""Puts a case on: provider, world and journal behind one base URL of a loopback server."""

from __future__ import annotations

import asyncio
import re
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Final

from loopcheck.fake_providers.dialects import dialect
from loopcheck.fake_providers.provider import Provider
from loopcheck.fake_providers.script import DialectName
from loopcheck.fake_providers.server import App, Server
from loopcheck.fake_providers.wire import HttpRequest, Reply
from loopcheck.harness.cases import CaseSpec
from loopcheck.harness.conductor import Conductor
from loopcheck.harness.journal import FORMAT, Entry, Journal
from loopcheck.harness.legs import FIRST_RUN, Leg
from loopcheck.harness.prices import PRICES
from loopcheck.harness.scenario.compile import compile_script
from loopcheck.harness.task import Limits, Message, Outcome, Task
from loopcheck.harness.world import World, openapi
from loopcheck.harness.world.endpoints import Endpoints

MODELS: dict[DialectName, str] = {
    "responses": "gpt-4o",
    "chat": "gpt-4o",
    "messages": "claude-sonnet-4-6",
}
_TOOL_SECONDS: Final = 0.5
_LOOK_SECONDS: Final = 0.1
_LONGEST_LOOKS: Final = 20
# A connection is accepted, read, and answered by a task, each in a round of the server's loop.
_ROUNDS: Final = 8
_GLANCE_SECONDS: Final = 0.005
_SETTLE_SECONDS: Final = 2.0


@dataclass(slots=True, kw_only=True)
class OpenCase:
    """A case that is on: hand its task to the loop, then end it with what came of it."""

    spec: CaseSpec
    journal: Journal
    world: World
    endpoints: Endpoints
    root: str
    api_key: str
    conductor: Conductor
    provider: Provider
    handle: App
    drain: Callable[[], None]
    timed_out: threading.Event = field(default_factory=threading.Event)

    def task(self, leg: Leg, *, blocking: bool, folder: Path) -> Task:
        """The task as a loop in this process gets it."""
        scenario = self.spec.scenario
        return Task(
            case=self.spec.id,
            dialect=self.spec.dialect,
            stream=self.spec.mode == "stream",
            base_url=self._base_url,
            api_key=self.api_key,
            model=MODELS[self.spec.dialect],
            prompt=leg.prompt,
            earlier=self._earlier(leg),
            state=scenario.state,
            lanes=scenario.conversations,
            specs=self.world.specs(blocking=blocking),
            limits=Limits(**scenario.limits.model_dump()),
            prices=PRICES[self.spec.dialect],
            tool_choice=scenario.tool_choice,
            folder=folder / leg.run,
            run=leg.run,
            follows=leg.follows,
            resume=leg.resume,
            clock_seconds=leg.clock_seconds,
            tool_seconds=self._tool_seconds,
            openapi=f"{self.root}/openapi.json",
            mcp=f"{self.root}/mcp",
            recorder=self.world.own,
        )

    def document(self, leg: Leg, *, folder: Path) -> dict[str, object]:
        """The task as the worker protocol carries it."""
        scenario = self.spec.scenario
        return {
            "case": self.spec.id,
            "dialect": self.spec.dialect,
            "stream": self.spec.mode == "stream",
            "base_url": self._base_url,
            "api_key": self.api_key,
            "model": MODELS[self.spec.dialect],
            "prompt": leg.prompt,
            "earlier": [asdict(said) for said in self._earlier(leg)],
            "state": scenario.state,
            "lanes": [asdict(lane) for lane in scenario.conversations],
            "tool_choice": scenario.tool_choice,
            "limits": scenario.limits.model_dump(),
            "prices": asdict(PRICES[self.spec.dialect]),
            "folder": str(folder / leg.run),
            "run": leg.run,
            "follows": leg.follows,
            "clock_seconds": leg.clock_seconds,
            "tool_seconds": self._tool_seconds,
            "openapi": f"{self.root}/openapi.json",
            "mcp": f"{self.root}/mcp",
            "own": f"{self.root}/own",
            "tools": [self._tool_document(name) for name in scenario.client_tools],
        }

    def _earlier(self, leg: Leg) -> tuple[Message, ...]:
        """What was said before: in the first run, since every other begins a history of its own."""
        return self.spec.scenario.said_earlier if leg.run == FIRST_RUN else ()

    def _tool_document(self, name: str) -> dict[str, object]:
        tool = self.spec.scenario.tools[name]
        lookup = f"{self.root}/operations" if tool.lookup != "none" else None
        return {
            "name": name,
            "description": tool.description,
            "parameters": tool.parameters,
            "kind": tool.kind,
            "operation": tool.operation,
            "approval": tool.approval,
            "deduplicates": tool.deduplicates,
            "invoke": f"{self.root}/tools/{name}",
            "lookup": lookup,
        }

    @property
    def _tool_seconds(self) -> float | None:
        return _TOOL_SECONDS if "tool_timeout" in self.spec.scenario.needs else None

    @property
    def _base_url(self) -> str:
        return dialect(self.spec.dialect).base_url(self.root)

    def record_leg(self, leg: Leg) -> None:
        """A further part of the case begins."""
        self.journal.record(
            "leg",
            leg=leg.number,
            how=leg.how,
            run=leg.run,
            copies=leg.copies,
            clock=leg.clock_seconds,
            cancelled=leg.cancelled,
        )

    def record_end(self, outcomes: Iterable[Outcome]) -> None:
        """How the target ended this part of the case: with outcomes, by its death, or by both
        where it died while it gave one."""
        self.conductor.has_ended()
        if self.spec.scenario.meanwhile:
            self.drain()  # what was on its way when a cancellation was heard came before the end
        for outcome in outcomes:
            self.record_outcome(outcome)
        if self.conductor.death is not None:
            self._settle()
            self.journal.record("died", how=self.conductor.death)

    def _settle(self) -> None:
        """Waits for the bodies that a process which died has left behind, unless a gate holds
        them: the systems behind the tools live on."""
        self.drain()
        deadline = time.monotonic() + _SETTLE_SECONDS
        while self.world.is_at_work and time.monotonic() < deadline:
            time.sleep(_GLANCE_SECONDS)

    def record_outcome(self, outcome: Outcome) -> None:
        fields: dict[str, object] = {}
        if outcome.run is not None:
            fields["run"] = outcome.run
        if outcome.pending:
            fields["pending"] = [asdict(call) for call in outcome.pending]
        if outcome.place is not None:
            fields["place"] = outcome.place
        self.journal.record(
            "outcome",
            state=outcome.state,
            reason=outcome.reason,
            text=outcome.text,
            exception=outcome.exception,
            **fields,
        )

    async def quiet(self) -> None:
        """Returns when nothing has happened in the case for a while, and no body runs, or when
        both take too long."""
        for _ in range(_LONGEST_LOOKS):
            seen = len(self.journal)
            await asyncio.sleep(_LOOK_SECONDS)
            if len(self.journal) == seen and not self._is_busy:
                return

    @property
    def _is_busy(self) -> bool:
        """Whether a tool body runs."""
        kinds = Counter(entry["kind"] for entry in self.journal)
        return kinds["execution"] > kinds["ended"]

    def record_broken(self, kind: str, what: str) -> None:
        """The run ended in a way that no loop chose; kind is target, hung or harness."""
        self.journal.record("broken", fault=kind, what=what)


class Stage:
    """A loopback server on which cases are put on, any number at once."""

    def __init__(self, *, quiet_seconds: float = 0.2) -> None:
        self._server = Server()
        self._quiet_seconds = quiet_seconds
        self._count = 0
        self._lock = threading.Lock()

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The event loop of its server, which runs in a thread of its own."""
        return self._server.loop

    def __enter__(self) -> Stage:
        self._server.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.__exit__(kind, error, trace)

    @contextmanager
    def open(
        self,
        spec: CaseSpec,
        *,
        target: str,
        seed: int = 0,
        seconds: float = 30.0,
        lenient: frozenset[str] = frozenset(),
        grows: bool = False,
    ) -> Iterator[OpenCase]:
        """Puts the case on; after `seconds` its streams are cut and its gates let go. The request
        rules that `lenient` names are left out, beside those that the scenario leaves out. That of
        one that `grows` is written while it is played."""
        key = self._key(spec)
        case, app = self._build(spec, key, target, seed, lenient, grows)
        self._server.mount(key, app)
        cancel = self._bound(case, key, seconds)
        try:
            yield case
        finally:
            cancel()
            case.endpoints.close()
            self._server.unmount(key)

    def _key(self, spec: CaseSpec) -> str:
        with self._lock:
            self._count += 1
            slug = re.sub(r"[^a-z0-9]+", "-", spec.scenario.id.lower()).strip("-")[-40:]
            return f"{self._count}-{slug}"

    def _build(
        self,
        spec: CaseSpec,
        key: str,
        target: str,
        seed: int,
        lenient: frozenset[str],
        grows: bool,
    ) -> tuple[OpenCase, App]:
        def watch(entry: Entry) -> None:
            world.watch(entry)
            conductor.watch(entry)

        journal = Journal(watch)
        conductor = Conductor(spec.scenario, journal.record, grows=grows)
        world = World(spec.scenario, seed=seed, journal=journal, quiet_seconds=self._quiet_seconds)
        api_key = f"sk-loopcheck-{key}"
        provider = Provider(
            script=compile_script(spec.scenario, spec.dialect, spec.mode),
            dialect=spec.dialect,
            mode=spec.mode,
            seed=seed,
            record=journal.record,
            tokens=world.tokens,
            passed=world.has_passed,
            begun=lambda: conductor.begun,
            rivals=lambda: conductor.has_rivals,
            api_key=api_key,
            on=frozenset(spec.scenario.rules.on),
            off=lenient | frozenset(spec.scenario.rules.off),
        )
        journal.record(
            "case",
            format=FORMAT,
            scenario=spec.scenario.id,
            dialect=spec.dialect,
            mode=spec.mode,
            seed=seed,
            target=target,
        )
        root = f"{self._server.url}/c/{key}"
        case = OpenCase(
            spec=spec,
            journal=journal,
            world=world,
            endpoints=Endpoints(
                world, spec.scenario, partial(openapi.document, spec.scenario, root)
            ),
            root=root,
            api_key=api_key,
            conductor=conductor,
            provider=provider,
            handle=provider.handle,
            drain=partial(_drain, self._server.loop),
        )
        return case, _routed(case)

    def _bound(self, case: OpenCase, key: str, seconds: float) -> Callable[[], None]:
        """Arranges that the case is given up after `seconds`; returns what cancels that."""
        loop = self._server.loop

        def give_up() -> None:
            case.timed_out.set()
            case.endpoints.close()
            self._server.unmount(key)

        timer: asyncio.TimerHandle | None = None

        def arm() -> None:
            nonlocal timer
            timer = loop.call_later(seconds, give_up)

        def disarm() -> None:
            if timer is not None:
                timer.cancel()

        loop.call_soon_threadsafe(arm)

        def cancel() -> None:
            loop.call_soon_threadsafe(disarm)

        return cancel


def _drain(loop: asyncio.AbstractEventLoop) -> None:
    """Returns when the server has taken up what clients had sent before: what a process that died
    or gave up had asked for comes before its end, and before whatever the next one asks for."""

    async def rounds() -> None:
        for _ in range(_ROUNDS):
            await asyncio.sleep(0)

    asyncio.run_coroutine_threadsafe(rounds(), loop).result()


def _routed(case: OpenCase) -> App:
    """The case's endpoints: the world's, and the provider for everything else."""

    def app(request: HttpRequest) -> Reply | Awaitable[Reply]:
        if case.endpoints.serves(request.path):
            return case.endpoints(request)
        try:
            return case.handle(request)
        except Exception as error:
            case.record_broken("harness", f"{type(error).__name__}: {error}")
            raise

    return app
