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
from loopcheck.harness.selftest.voices import Call, Reply, Result
from loopcheck.harness.task import Decision, Outcome, Task


class Durable(Loop):
    """Keeps every step before it takes the next, and looks up what it cannot know."""

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self.file = task.folder / "steps.json"
        self.reply: Reply | None = None
        self.done: dict[str, str] = {}
        self.outcome: Outcome | None = None

    def run(self) -> Outcome:
        with self.lease():
            if self.file.exists():
                self.load()
            self.outcome = self.outcome or super().run()
            self.save()
        return self.outcome

    def lease(self) -> AbstractContextManager[None]:
        """Lets one process at a time work on the run."""
        return _locked(self)

    def recall(self, decisions: tuple[Decision, ...]) -> Reply | None:
        self.decided += decisions
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
            if call.call_id not in self.done:
                self.done[call.call_id] = self.execute(call)
                self.save()
        return [Result(call.call_id, self.done[call.call_id]) for call in calls]

    def carry(self, reply: Reply, results: list[Result]) -> None:
        super().carry(reply, results)
        self.reply = None
        self.save()

    def save(self) -> None:
        outcome = self.outcome if self.outcome and self.outcome.state != "paused" else None
        kept = {
            "history": self.history,
            "reply": asdict(self.reply) if self.reply is not None else None,
            "done": self.done,
            "outcome": asdict(outcome) if outcome is not None else None,
        }
        with NamedTemporaryFile("w", dir=self.file.parent, delete=False) as new:
            json.dump(kept, new)
        Path(new.name).replace(self.file)

    def load(self) -> None:
        kept = json.loads(self.file.read_text(encoding="utf-8"))
        self.history, self.done = kept["history"], kept["done"]
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

    def enter(self, tool: str, arguments: JsonObject) -> str:
        return self.spec(tool).call(arguments)


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
        fresh = [call for call in calls if call.call_id not in self.done]
        self.done |= dict.fromkeys((call.call_id for call in fresh), "done")
        self.save()
        self.done |= {call.call_id: self.execute(call) for call in fresh}
        return super().results(calls)


class Leaseless(Durable):
    """Lets every process that comes along go on with the run."""

    def lease(self) -> AbstractContextManager[None]:
        return nullcontext()


honest, unasking, turnwise = target_of(Durable), target_of(Unasking), target_of(Turnwise)
afresh, hopeful, leaseless = target_of(Afresh), target_of(Hopeful), target_of(Leaseless)
