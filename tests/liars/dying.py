"""What happens to the loops of `durable`, and who is found out by it."""

from __future__ import annotations

from durable import afresh, hopeful, leaseless, turnwise, unasking

from loopcheck.harness.scenario.load import load_text
from loopcheck.harness.scenario.model import Scenario
from loopcheck.harness.selftest.liar import Liar
from loopcheck.harness.target import Target

KILLED = """\
format: 1
title: A process dies when the first of two bookings is done
rule: What was done is not done again, and what was not done is not forgotten.
needs: [resume, operation_ids]
prompt: Look E1 up and book seats 1 and 2.
tools:
  look_up: {kind: read, args: {event: string}}
  book:
    kind: write
    args: {event: string, seat: integer}
    operation: [event, seat]
    lookup: found
turns:
  - calls: [{as: look, tool: look_up, args: {event: E1}}]
  - calls:
      - {as: one, tool: book, args: {event: E1, seat: 1}}
      - {as: two, tool: book, args: {event: E1, seat: 2}}
  - say: Both are booked.
meanwhile:
  - {when: one.committed, do: [kill, resume]}
expect:
  must:
    effects: {book: 2}
    executions: {look_up: {at_most: 2}, book: 2}
    outcome: completed
"""
TWICE = """\
format: 1
title: An approval comes in twice at once
rule: One of two processes that go on with a run wins.
needs: [approval, resume]
prompt: Book seat 12 of E1.
tools:
  book:
    kind: write
    args: {event: string, seat: integer}
    approval: ask
    returns_after: book.started.2
turns:
  - calls: [{as: book, tool: book, args: {event: E1, seat: 12}}]
  - say: Booked.
meanwhile:
  - {when: book.waiting, do: {approve: book, at_once: 2}}
expect:
  must:
    executions: {book: 1}
    outcome: completed
"""


def _liar(
    target: Target, check: str, *ways: str, scenario: str = "killed", also: tuple[str, ...] = ()
) -> Liar:
    cases = tuple(f"selftest/{scenario}[{way}]" for way in ways)
    return Liar(target=target, check=check, cases=cases, also=frozenset(also))


LIARS: tuple[Liar, ...] = (
    _liar(unasking, "execution.once", "chat-stream", also=("effect.once",)),
    _liar(turnwise, "effect.once", "responses-whole"),
    _liar(afresh, "effect.once", "messages-stream"),
    _liar(hopeful, "scenario.expects", "chat-whole"),
    _liar(
        leaseless,
        "execution.once",
        "chat-whole",
        "responses-stream",
        "messages-whole",
        scenario="twice",
    ),
)


def scenarios() -> list[Scenario]:
    """The scenarios that they are tried in."""
    texts = {"killed": KILLED, "twice": TWICE}
    return [
        load_text(text.encode(), file=f"selftest/{name}.yaml", id=f"selftest/{name}")
        for name, text in texts.items()
    ]
