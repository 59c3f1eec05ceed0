"""A case as its conductor hears it: journal entries go in by hand."""

from __future__ import annotations

from dataclasses import dataclass, field

from loopcheck.harness.conductor import Conductor
from loopcheck.harness.journal import Entry, Journal
from loopcheck.harness.legs import Leg
from loopcheck.harness.scenario.load import load_text
from loopcheck.harness.scenario.model import Scenario
from loopcheck.harness.task import Outcome, Pending, ended, final, paused

HEAD = """\
format: 1
title: T
rule: R
needs: [approval, input, resume, cancel, follow_up]
modes: [stream]
prompt: Book seat 12.
tools:
  reserve: {kind: write, args: {seat: integer}, approval: ask}
  confirm: {kind: ask, args: {text: string}}
turns:
  - calls: [{as: book, tool: reserve, args: {seat: 12}}]
  - calls: [{as: more, tool: reserve, args: {seat: 13}}]
  - calls: [{as: sure, tool: confirm, args: {text: Sure?}}]
"""
ARGUMENTS: dict[str, dict[str, object]] = {
    "book": {"seat": 12},
    "more": {"seat": 13},
    "sure": {"text": "Sure?"},
}
CANCELLED = ended("cancelled", "cancelled_by_user")
DONE = final("Done.")


def scenario(*rules: str, messages: tuple[str, ...] = ()) -> Scenario:
    entries = "".join(f"  - {message}\n" for message in messages)
    meanwhile = f"meanwhile: [{', '.join(rules)}]\n"
    return load_text((HEAD + entries + meanwhile).encode(), file="x.yaml", id="x")


def pending(*labels: str, call_id: str | None = None, **arguments: object) -> list[Pending]:
    """The calls that wait, under the ids that they were issued with unless another is given."""
    return [
        Pending(
            call_id=f"id-{label}" if call_id is None else call_id,
            tool="confirm" if label == "sure" else "reserve",
            arguments=arguments or ARGUMENTS[label],
        )
        for label in labels
    ]


@dataclass
class Held:
    """What is done to the target."""

    done: list[str] = field(default_factory=list)

    def cancel(self) -> None:
        self.done.append("cancel")

    def end(self, *, orderly: bool) -> None:
        self.done.append("restart" if orderly else "kill")


class Conducted:
    """A conductor with its journal and a target that does nothing by itself."""

    def __init__(self, *rules: str, messages: tuple[str, ...] = ()) -> None:
        self.journal = Journal(self._watch)
        self.conductor = Conductor(scenario(*rules, messages=messages), self.journal.record)
        self.held = Held()
        self.journal.record("case")
        self.legs = [self.conductor.first]

    def _watch(self, entry: Entry) -> None:
        self.conductor.watch(entry)

    @property
    def leg(self) -> Leg:
        return self.legs[-1]

    @property
    def done(self) -> list[str]:
        return self.held.done

    def asked(self, *labels: str, call_id: str | None = None) -> None:
        """The target runs, and has been asked for these calls."""
        self.conductor.begins(self.held)
        calls = [
            {
                "label": label,
                "tool": "confirm" if label == "sure" else "reserve",
                "arguments": '{"text":"Sure?"}' if label == "sure" else f'{{"seat": {seat}}}',
                "call_id": f"id-{label}" if call_id is None else call_id,
                "sent": "whole",
            }
            for label, seat in ((label, ARGUMENTS[label].get("seat")) for label in labels)
        ]
        self.journal.record("response", request=1, calls=calls)

    def started(self, label: str, execution: int = 1) -> None:
        self.conductor.begins(self.held)
        self.journal.record("execution", execution=execution, label=label)

    def ends(self, *outcomes: Outcome) -> Leg | None:
        """The leg ends with these outcomes; what follows is begun."""
        self.conductor.has_ended()
        for outcome in outcomes:
            calls = [
                {"call_id": c.call_id, "tool": c.tool, "arguments": c.arguments}
                for c in outcome.pending
            ]
            self.journal.record("outcome", state=outcome.state, pending=calls)
        leg = self.conductor.next(outcomes)
        if leg is not None:
            self.legs.append(leg)
            self.journal.record("leg", leg=leg.number, how=leg.how, run=leg.run)
        return leg

    def pauses(self, *labels: str, run: str | None = "r-17") -> Leg | None:
        return self.ends(paused(pending=pending(*labels), run=run))

    def entries(self, kind: str, *fields: str) -> list[tuple[object, ...]]:
        """These fields of every entry of a kind."""
        return [
            tuple(entry[name] for name in fields) for entry in self.journal if entry["kind"] == kind
        ]
