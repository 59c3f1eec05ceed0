"""A plain loop that survives the death of its process, and loops that do it wrongly.

Each of them is also a target that a worker runs.
"""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict
from pathlib import Path
from tempfile import NamedTemporaryFile

from loopcheck.fake_providers.wire import JsonObject
from loopcheck.harness.selftest.liar import target_of
from loopcheck.harness.selftest.loop import Loop
from loopcheck.harness.selftest.memory import Operation
from loopcheck.harness.selftest.voices import Call, Reply, Result
from loopcheck.harness.task import Decision, Outcome, Task, Tool


class Durable(Loop):
    """Keeps every step before it takes the next, and looks up what it cannot know."""

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self.file = task.folder / "steps.json"
        self.reply: Reply | None = None
        self.begun: list[int] = []
        self.done: dict[str, str] = {}
        self.outcome: Outcome | None = None

    def run(self) -> Outcome:
        with self.lease():
            if self.file.exists():
                self.load()
            self.outcome = self.outcome or self.rest()
            self.save()
        return self.outcome

    def lease(self) -> AbstractContextManager[None]:
        """Lets one process at a time work on the run."""
        return _locked(self)

    def recall(self, decisions: tuple[Decision, ...]) -> Reply | None:
        if self.reply is not None:
            self.decide(self.reply, decisions)
        return self.reply

    def pause(self, reply: Reply, waiting: list[Call]) -> Outcome:
        self.save()
        return super().pause(reply, waiting)

    def step(self, reply: Reply | None) -> Outcome | None:
        self.reply = reply
        self.save()
        return super().step(reply)

    def results(self, calls: list[Call]) -> list[Result]:
        for call in calls:
            if str(call.place) not in self.done:
                self.done[str(call.place)] = self.settled(call)
                self.save()
        return [Result(call.call_id, self.done[str(call.place)]) for call in calls]

    def settled(self, call: Call) -> str:
        """The result of a call, unless a process that died had begun it, and nobody knows more."""
        if call.place in self.begun and not self.can_be_asked(call):
            return "It is unknown whether this was done."
        self.begun.append(call.place)
        self.save()
        return self.execute(call)

    def can_be_asked(self, call: Call) -> bool:
        """Whether a call that was begun can be settled: nothing comes of it when it is repeated,
        or the system behind it knows what became of it."""
        spec = next((spec for spec in self.task.specs if spec.name == call.tool), None)
        if spec is None or spec.kind != "write":
            return True
        return spec.look_up is not None or spec.deduplicates

    def begin(self, spec: Tool, arguments: JsonObject, operation: str) -> str:
        self.operations[operation] = Operation(arguments)
        self.save()
        return super().begin(spec, arguments, operation)

    def carry(self, reply: Reply, results: list[Result]) -> None:
        super().carry(reply, results)
        self.reply = None
        self.save()

    def save(self) -> None:
        outcome = self.outcome if self.outcome and self.outcome.state != "paused" else None
        kept = {
            "history": self.history,
            "reply": asdict(self.reply) if self.reply is not None else None,
            "begun": self.begun,
            "done": self.done,
            "places": self.places,
            "asked": self.asked,
            "operations": {key: asdict(one) for key, one in self.operations.items()},
            "decided": {place: asdict(one) for place, one in self.decided.items()},
            "outcome": asdict(outcome) if outcome is not None else None,
        }
        with NamedTemporaryFile("w", dir=self.file.parent, delete=False) as new:
            json.dump(kept, new)
        Path(new.name).replace(self.file)

    def load(self) -> None:
        kept = json.loads(self.file.read_text(encoding="utf-8"))
        self.history, self.begun, self.done = kept["history"], kept["begun"], kept["done"]
        self.operations = {key: Operation(**one) for key, one in kept["operations"].items()}
        self.places, self.asked = kept["places"], kept["asked"]
        self.decided = {int(place): Decision(**one) for place, one in kept["decided"].items()}
        if kept["reply"] is not None:
            calls = [Call(**call) for call in kept["reply"].pop("calls")]
            self.reply = Reply(calls, **kept["reply"])
        if kept["outcome"] is not None:
            self.outcome = Outcome(**kept["outcome"])


@contextmanager
def _locked(loop: Durable) -> Iterator[None]:
    with (loop.task.folder / "lease").open("w") as lease:
        fcntl.flock(lease, fcntl.LOCK_EX)
        yield


class Unasking(Durable):
    """Runs what it has no result of, without asking what became of it."""

    def settled(self, call: Call) -> str:
        return self.execute(call)

    def enter(self, tool: str, arguments: JsonObject) -> str:
        spec = self.spec(tool)
        self.validate(spec, arguments)
        return spec.call(arguments)


class Turnwise(Unasking):
    """Keeps its history at the end of each turn."""

    def step(self, reply: Reply | None) -> Outcome | None:
        return Loop.step(self, reply)

    def results(self, calls: list[Call]) -> list[Result]:
        return Loop.results(self, calls)


class Afresh(Unasking):
    """Begins again with the prompt when its process died."""

    def load(self) -> None:
        pass


class Hopeful(Durable):
    """Notes calls as done before it runs them."""

    def results(self, calls: list[Call]) -> list[Result]:
        fresh = [call for call in calls if str(call.place) not in self.done]
        self.done |= dict.fromkeys((str(call.place) for call in fresh), "done")
        self.save()
        self.done |= {str(call.place): self.execute(call) for call in fresh}
        return super().results(calls)


class Leaseless(Durable):
    """Lets every process that comes along go on with the run."""

    def settled(self, call: Call) -> str:
        return self.execute(call)

    def lease(self) -> AbstractContextManager[None]:
        return nullcontext()


honest, unasking, turnwise = target_of(Durable), target_of(Unasking), target_of(Turnwise)
afresh, hopeful, leaseless = target_of(Afresh), target_of(Hopeful), target_of(Leaseless)
