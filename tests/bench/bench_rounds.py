"""CPU of a round: the reference loop's own, beside that of the SDK which makes the request.

    python tests/bench/bench_rounds.py [--repeat N] [--rounds N] [--dialects ...] [--watched ...]

A run has so many rounds, each with a read and a write, over HTTP from the fake. Counted is the
CPU time of the loop's thread: `loop` is what runs in the reference loop and in what it calls
(with the store: SQLite, and the system calls of its commits), `sdk` what runs in the SDK (HTTP,
parsing, models and back). What asyncio itself spends on sockets and tasks belongs to neither.
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import json
import pstats
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Final

import anthropic
import openai
from anthropic import AsyncAnthropic
from metered import Meter, Steps
from openai import AsyncOpenAI
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from loopcheck.fake_providers.provider import Provider, nothing
from loopcheck.fake_providers.script import (
    DIALECTS,
    MODES,
    Attempt,
    Call,
    DialectName,
    Mode,
    Say,
    Script,
    Turn,
)
from loopcheck.fake_providers.server import Server
from loopcheck.reference_loop import Limits, LoopTool, ReferenceLoop, SqliteStore
from loopcheck.reference_loop.adapters.chat import ChatAdapter
from loopcheck.reference_loop.adapters.messages import MessagesAdapter
from loopcheck.reference_loop.adapters.responses import ResponsesAdapter
from loopcheck.reference_loop.arguments import JsonObject
from loopcheck.reference_loop.telemetry.events import Observer
from loopcheck.reference_loop.telemetry.otel import opentelemetry_observer

PROMPT: Final = "Move the appointments of next week into the new calendar."
RESULT: Final = json.dumps({"entries": [{"title": "Dentist", "at": "09:30"}] * 8})
SCHEMA: Final[JsonObject] = {
    "type": "object",
    "properties": {
        "day": {"type": "string"},
        "hours": {"type": "array", "items": {"type": "integer"}},
        "note": {"type": "string"},
    },
    "required": ["day", "hours"],
    "additionalProperties": False,
}


@dataclass
class MeteredStream:
    """An SDK's stream, whose work is the SDK's."""

    inner: Any
    meter: Meter

    @property
    def response(self) -> object:
        return self.inner.response

    def __aiter__(self) -> AsyncIterator[object]:
        return self

    async def __anext__(self) -> object:
        return await Steps(self.inner.__anext__(), "sdk", self.meter)

    async def close(self) -> None:
        await Steps(self.inner.close(), "sdk", self.meter)


def meter_sdk(resource: Any, meter: Meter) -> None:
    """Has everything that the SDK does for `create` counted as its own."""
    create = meter.function("sdk", resource.create)

    async def metered(*args: Any, **options: Any) -> object:
        answer = await create(*args, **options)
        return MeteredStream(answer, meter) if options.get("stream") is True else answer

    resource.create = metered


def meter_models(meter: Meter) -> ExitStack:
    """Has it counted as the SDK's own what it does to give its models as JSON."""
    restored = ExitStack()
    for model in (anthropic.BaseModel, openai.BaseModel):
        restored.callback(setattr, model, "to_dict", model.to_dict)
        setattr(model, "to_dict", meter.plain("sdk", model.to_dict))  # noqa: B010
    return restored


def adapter(dialect: DialectName, mode: Mode, url: str, meter: Meter) -> Any:
    stream = mode == "stream"
    if dialect == "messages":
        claude = AsyncAnthropic(base_url=url, api_key="sk-bench-0123456789", max_retries=0)
        meter_sdk(claude.messages, meter)
        return MessagesAdapter(client=claude, model="claude", stream=stream)
    client = AsyncOpenAI(base_url=f"{url}/v1", api_key="sk-bench-0123456789", max_retries=0)
    if dialect == "chat":
        meter_sdk(client.chat.completions, meter)
        return ChatAdapter(client=client, model="gpt-4o", stream=stream)
    meter_sdk(client.responses, meter)
    return ResponsesAdapter(client=client, model="gpt-4o", stream=stream)


def script(rounds: int) -> Script:
    """So many responses, of which all but the last ask for a read and a write."""
    turns = [
        Turn(number=number, attempts=(Attempt(content=_asked(number), stop="calls"),))
        for number in range(1, rounds)
    ]
    end = Turn(number=rounds, attempts=(Attempt(content=(Say("All is moved. " * 10),)),))
    return Script(turns=(*turns, end), otherwise=(end,), prompt=PROMPT, tools=("look", "book"))


def _asked(number: int) -> tuple[Say | Call, ...]:
    hours = list(range(8, 18))
    look = json.dumps({"day": f"2026-10-{number:02}", "hours": hours})
    book = json.dumps({"day": f"2026-11-{number:02}", "hours": hours, "note": "moved, as asked"})
    return (
        Say("I look at that day first, and book the new one. " * 2),
        Call(label=f"look{number}", tool="look", arguments=look),
        Call(label=f"book{number}", tool="book", arguments=book),
    )


def tools(meter: Meter) -> list[LoopTool]:
    async def body(arguments: JsonObject, *, call_id: str, operation_id: str | None) -> str:
        return RESULT

    invoke = meter.function("tools", body)
    look = LoopTool(name="look", description="", parameters=SCHEMA, kind="read", invoke=invoke)
    book = LoopTool(
        name="book",
        description="",
        parameters=SCHEMA,
        kind="write",
        invoke=invoke,
        operation=("day",),
    )
    return [look, book]


@dataclass
class Setting:
    """What is run again and again."""

    server: Server
    dialect: DialectName
    mode: Mode
    stored: bool
    rounds: int
    observers: Sequence[Observer]

    def run(self, around: Callable[[], AbstractContextManager[object]] = nullcontext) -> Meter:
        """One run, from a fresh client and a fresh store to its answer."""
        provider = Provider(
            script=script(self.rounds),
            dialect=self.dialect,
            mode=self.mode,
            seed=0,
            record=nothing,
        )
        url = self.server.mount("bench", provider.handle)
        try:
            with tempfile.TemporaryDirectory() as folder:
                return asyncio.run(self._work(url, Path(folder), around))
        finally:
            self.server.unmount("bench")

    async def _work(
        self, url: str, folder: Path, around: Callable[[], AbstractContextManager[object]]
    ) -> Meter:
        meter = Meter()
        asyncio.get_running_loop().set_task_factory(meter.tasks)
        store = SqliteStore(folder / "runs.sqlite3") if self.stored else None
        speaks = adapter(self.dialect, self.mode, url, meter)
        loop: ReferenceLoop[Any] = ReferenceLoop(
            speaks,
            tools(meter),
            Limits(rounds=self.rounds + 1),
            store=store,
            observe=self.observers,
        )
        meter.spent_ns.clear()
        with around(), meter_models(meter):
            outcome = await Steps(loop.run(PROMPT), "loop", meter)
        await speaks.client.close()
        if store is not None:
            store.close()
        if (outcome.state, outcome.rounds) != ("completed", self.rounds):
            raise SystemExit(f"the run ended as {outcome}")
        return meter


def _by_opentelemetry() -> list[Observer]:
    """With its SDK, which keeps the spans in memory."""
    tracers = TracerProvider(shutdown_on_exit=False)
    tracers.add_span_processor(SimpleSpanProcessor(InMemorySpanExporter()))
    meters = MeterProvider([InMemoryMetricReader()], shutdown_on_exit=False)
    return [opentelemetry_observer(tracer_provider=tracers, meter_provider=meters)]


WATCHED: Final[dict[str, Callable[[], list[Observer]]]] = {
    "nobody": list,
    "callback": lambda: [Observer(lambda event: None)],
    "opentelemetry": _by_opentelemetry,
}


def measure(setting: Setting, repeat: int) -> None:
    setting.run()
    spent = [setting.run().spent_ns for _ in range(repeat)]
    per_round = {
        owner: [one[owner] / setting.rounds / 1000 for one in spent]
        for owner in ("loop", "sdk", "event loop")
    }
    ratios = [one["loop"] / one["sdk"] for one in spent]
    shown = "   ".join(f"{owner} {_range(values, 0)} us" for owner, values in per_round.items())
    name = f"{setting.dialect} {setting.mode} {'sqlite' if setting.stored else 'no store'}"
    print(f"{name:26} {shown}   loop/sdk {_range(ratios, 2)}", flush=True)


def _range(values: list[float], digits: int) -> str:
    return f"{median(values):.{digits}f} ({min(values):.{digits}f} to {max(values):.{digits}f})"


def profile(setting: Setting) -> None:
    """Where the loop spends its time; the profiler makes all of it longer."""
    found = cProfile.Profile()
    setting.run(lambda: found)
    pstats.Stats(found).sort_stats("tottime").print_stats("reference_loop|sqlite|json|copy", 40)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--repeat", type=int, default=9)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--dialects", nargs="+", default=DIALECTS, choices=DIALECTS)
    parser.add_argument("--modes", nargs="+", default=MODES, choices=MODES)
    parser.add_argument("--watched", choices=WATCHED, default="nobody")
    parser.add_argument("--profile", action="store_true")
    options = parser.parse_args()
    print(f"CPU a round, median of {options.repeat} runs of {options.rounds} rounds (and range)")
    with Server() as server:
        for dialect in options.dialects:
            for mode in options.modes:
                for stored in (False, True):
                    watched = WATCHED[options.watched]()
                    setting = Setting(server, dialect, mode, stored, options.rounds, watched)
                    if options.profile:
                        profile(setting)
                    else:
                        measure(setting, options.repeat)


if __name__ == "__main__":
    main()
