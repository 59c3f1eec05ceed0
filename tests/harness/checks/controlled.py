"""Journals of runs that people decide on, give up and resume, written by hand."""

from __future__ import annotations

from journals import SEAT, Json, Written, call, scenario

from loopcheck.harness.scenario.model import Scenario

TOOLS: Json = {
    "reserve_seat": {
        "kind": "write",
        "args": {"event": "string", "seat": "integer"},
        "approval": "ask",
    },
    "get_weather": {"kind": "read", "args": {"city": "string"}},
}
OTHER: Json = {"event": "E1", "seat": 13}
WAITS: Json = {"call_id": "call_book", "tool": "reserve_seat", "arguments": SEAT}


def asking(**keys: object) -> Scenario:
    """A scenario in which a person approves the write."""
    return scenario(**{"tools": TOOLS, "needs": ["approval", "resume", "cancel"], **keys})


def disabled() -> Scenario:
    tools = {**TOOLS, "reserve_seat": {**TOOLS["reserve_seat"], "approval": "disabled"}}  # type: ignore[dict-item]
    return scenario(tools=tools, needs=["approval"])


def paused(*calls: Json, of: Scenario | None = None) -> Written:
    """A journal up to the pause at this call."""
    journal = Written(of or asking())
    journal.ask()
    journal.answer(*(calls or (call("book"),)))
    journal.end("paused", "awaiting_approval", pending=[WAITS])
    return journal


def decide(
    journal: Written,
    word: str = "approve",
    arguments: Json | None = None,
    *,
    label: str = "book",
    pending: bool = True,
) -> int:
    return journal.note(
        "decision",
        decide=word,
        label=label,
        call_id=f"call_{label}",
        tool="reserve_seat",
        arguments=SEAT if arguments is None else arguments,
        pending=pending,
        reason="",
        value=None,
    )


def leg(journal: Written, how: str = "resume", run: str = "r1") -> int:
    return journal.note("leg", leg=2, how=how, run=run, copies=1, clock=0.0, cancelled=False)


def cancel(journal: Written) -> int:
    return journal.note("action", do="cancel", when=["book.started"])


def died(journal: Written) -> int:
    journal.note("action", do="kill", when=["book.committed"])
    return journal.note("died", how="killed")


def goes_on(journal: Written, result: str) -> Written:
    """The model hears of the result and ends."""
    journal.carry()
    journal.result("call_book", result)
    journal.ask(2)
    journal.answer(text="Done.")
    journal.end(text="Done.")
    return journal
