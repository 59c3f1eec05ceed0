"""Worlds for tests: a scenario of tools, a journal, and a clock that moves by hand."""

from __future__ import annotations

from dataclasses import dataclass, field
from queue import Queue

from loopcheck.harness.journal import Entry, Journal
from loopcheck.harness.scenario.model import Scenario
from loopcheck.harness.world import World

Arguments = dict[str, object]
SEED = 7


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


def scenario(tools: dict[str, Arguments]) -> Scenario:
    return Scenario.model_validate(
        {
            "format": 1,
            "title": "A test",
            "rule": "None.",
            "prompt": "Do it.",
            "turns": [],
            "tools": tools,
        }
    )


@dataclass
class Staged:
    """A world whose journal it watches; `clock` moves by hand."""

    tools: dict[str, Arguments]
    clock: Clock = field(default_factory=Clock)
    seed: int = SEED

    def __post_init__(self) -> None:
        self._recorded: Queue[Entry] = Queue()
        self.journal = Journal(self._watch)
        self.world = World(
            scenario(self.tools),
            seed=self.seed,
            journal=self.journal,
            quiet_seconds=0.2,
            clock=self.clock,
        )

    def _watch(self, entry: Entry) -> None:
        self.world.watch(entry)
        self._recorded.put(entry)

    def await_entry(self, kind: str) -> None:
        """Waits until another thread has recorded an entry of this kind, each entry once."""
        while self._recorded.get(timeout=10)["kind"] != kind:
            pass

    def ask_again(self, *call_ids: str) -> None:
        """Journals a request that holds results under these call ids."""
        items = [{"kind": "result", "call_id": call_id} for call_id in call_ids]
        self.journal.record("request", request=2, role="turn", turn=2, conversation=items)

    def course(self) -> list[str]:
        """What became of the bodies, as short words in order: `ended 1 abandoned`."""
        return [
            f"{entry['kind']} {entry['execution']} {entry.get('how', '')}".rstrip()
            for entry in self.entries("execution", "effect", "ended")
        ]

    def issue(self, *calls: tuple[str, str, str], call_ids: tuple[str | None, ...] = ()) -> None:
        """Journals a response with these calls: label, tool, arguments."""
        ids = call_ids or tuple(f"call_{label}" for label, _, _ in calls)
        self.journal.record(
            "response",
            request=1,
            calls=[
                {
                    "label": label,
                    "tool": tool,
                    "arguments": text,
                    "call_id": call_id,
                    "sent": "whole",
                }
                for (label, tool, text), call_id in zip(calls, ids, strict=True)
            ],
        )

    def entries(self, *kinds: str) -> list[Entry]:
        """The entries of these kinds (all but responses, when none is named), without numbers."""
        return [
            {key: value for key, value in entry.items() if key != "n"}
            for entry in self.journal
            if entry["kind"] in kinds or (not kinds and entry["kind"] != "response")
        ]

    def labels(self) -> list[object]:
        """The labels of the executions, in order."""
        return [entry["label"] for entry in self.entries("execution")]
