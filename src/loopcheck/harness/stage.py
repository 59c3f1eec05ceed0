"""Puts a case on: provider, world and journal behind one base URL of a loopback server."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from loopcheck.fake_providers.dialects import dialect
from loopcheck.fake_providers.provider import Provider
from loopcheck.fake_providers.script import DialectName
from loopcheck.fake_providers.server import App, Server
from loopcheck.fake_providers.wire import HttpRequest, Reply
from loopcheck.harness.cases import CaseSpec
from loopcheck.harness.journal import FORMAT, Journal
from loopcheck.harness.scenario.compile import compile_script
from loopcheck.harness.task import Limits, Outcome, Task
from loopcheck.harness.world import World
from loopcheck.harness.world.http import tool_app

MODELS: dict[DialectName, str] = {
    "responses": "gpt-4o",
    "chat": "gpt-4o",
    "messages": "claude-sonnet-4-6",
}
_WORLD_PATHS = ("/tools/", "/operations")


@dataclass(slots=True, kw_only=True)
class OpenCase:
    """A case that is on: hand its task to the loop, then end it with what came of it."""

    spec: CaseSpec
    journal: Journal
    world: World
    root: str
    api_key: str
    timed_out: threading.Event = field(default_factory=threading.Event)

    def task(self, *, blocking: bool, folder: Path) -> Task:
        """The task as a loop in this process gets it."""
        scenario = self.spec.scenario
        return Task(
            case=self.spec.id,
            dialect=self.spec.dialect,
            stream=self.spec.mode == "stream",
            base_url=self._base_url,
            api_key=self.api_key,
            model=MODELS[self.spec.dialect],
            prompt=scenario.prompt,
            specs=self.world.specs(blocking=blocking),
            limits=Limits(**scenario.limits.model_dump()),
            tool_choice=scenario.tool_choice,
            folder=folder,
        )

    def document(self, *, folder: Path) -> dict[str, object]:
        """The task as the worker protocol carries it."""
        scenario = self.spec.scenario
        return {
            "case": self.spec.id,
            "dialect": self.spec.dialect,
            "stream": self.spec.mode == "stream",
            "base_url": self._base_url,
            "api_key": self.api_key,
            "model": MODELS[self.spec.dialect],
            "prompt": scenario.prompt,
            "tool_choice": scenario.tool_choice,
            "limits": scenario.limits.model_dump(),
            "folder": str(folder),
            "tools": [self._tool_document(name) for name in scenario.client_tools],
        }

    def _tool_document(self, name: str) -> dict[str, object]:
        tool = self.spec.scenario.tools[name]
        lookup = f"{self.root}/operations" if tool.lookup != "none" else None
        return {
            "name": name,
            "description": tool.description,
            "parameters": tool.parameters,
            "kind": tool.kind,
            "operation": tool.operation,
            "invoke": f"{self.root}/tools/{name}",
            "lookup": lookup,
        }

    @property
    def _base_url(self) -> str:
        return dialect(self.spec.dialect).base_url(self.root)

    def record_outcome(self, outcome: Outcome) -> None:
        self.journal.record(
            "outcome",
            state=outcome.state,
            reason=outcome.reason,
            text=outcome.text,
            exception=outcome.exception,
        )

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
    ) -> Iterator[OpenCase]:
        """Puts the case on; after `seconds` its streams are cut and its gates let go. The request
        rules that `lenient` names are left out, beside those that the scenario leaves out."""
        key = self._key(spec)
        case, app = self._build(spec, key, target, seed, lenient)
        self._server.mount(key, app)
        cancel = self._bound(case, key, seconds)
        try:
            yield case
        finally:
            cancel()
            case.world.close()
            self._server.unmount(key)

    def _key(self, spec: CaseSpec) -> str:
        with self._lock:
            self._count += 1
            slug = re.sub(r"[^a-z0-9]+", "-", spec.scenario.id.lower()).strip("-")[-40:]
            return f"{self._count}-{slug}"

    def _build(
        self, spec: CaseSpec, key: str, target: str, seed: int, lenient: frozenset[str]
    ) -> tuple[OpenCase, App]:
        journal = Journal(lambda entry: world.watch(entry))
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
        case = OpenCase(
            spec=spec,
            journal=journal,
            world=world,
            root=f"{self._server.url}/c/{key}",
            api_key=api_key,
        )
        return case, _routed(case, provider, tool_app(world))

    def _bound(self, case: OpenCase, key: str, seconds: float) -> Callable[[], None]:
        """Arranges that the case is given up after `seconds`; returns what cancels that."""
        loop = self._server.loop

        def give_up() -> None:
            case.timed_out.set()
            case.world.close()
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


def _routed(case: OpenCase, provider: Provider, tools: App) -> App:
    """The case's endpoints: the world's tools, and the provider for everything else."""

    def app(request: HttpRequest) -> Reply | Awaitable[Reply]:
        if request.path.startswith(_WORLD_PATHS):
            return tools(request)
        try:
            return provider.handle(request)
        except Exception as error:
            case.record_broken("harness", f"{type(error).__name__}: {error}")
            raise

    return app
