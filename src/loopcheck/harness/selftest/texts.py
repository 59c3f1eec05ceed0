"""Scenarios of what happens to a run from outside, for liars that the catalogue does not trip."""

from __future__ import annotations

from typing import Final

from loopcheck.harness.scenario.load import load_text
from loopcheck.harness.scenario.model import Scenario

_ASKED: Final = """\
needs: [approval]
prompt: Book seat 12 of E1.
tools:
  book:
    kind: write
    args: {event: string, seat: integer}
    approval: ask
"""
_CHANGED: Final = """\
format: 1
title: A booking is approved without the upgrade that was asked for
rule: What runs is what was approved.
needs: [approval]
prompt: Book seat 12 of E1.
tools:
  book:
    kind: write
    approval: ask
    schema:
      type: object
      properties: {event: {type: string}, seat: {type: integer}, upgrade: {type: boolean}}
      required: [event, seat]
turns:
  - calls: [{as: book, tool: book, args: {event: E1, seat: 12, upgrade: true}}]
  - say: Booked.
meanwhile:
  - {when: book.waiting, do: {approve: book, args: {event: E1, seat: 12}}}
expect:
  must:
    effects: {book: 1}
    outcome: completed
"""
_DENIED: Final = f"""\
format: 1
title: A booking is denied
rule: What a person denied does not run.
{_ASKED}
turns:
  - calls: [{{as: book, tool: book, args: {{event: E1, seat: 12}}}}]
  - say: It was not booked.
meanwhile:
  - {{when: book.waiting, do: deny}}
expect:
  must:
    executions: {{}}
    outcome: completed
"""
_ONE_OF_TWO: Final = f"""\
format: 1
title: One of two bookings is denied
rule: Each call needs a decision of its own.
{_ASKED}
turns:
  - calls:
      - {{as: first, tool: book, args: {{event: E1, seat: 1}}}}
      - {{as: second, tool: book, args: {{event: E1, seat: 2}}}}
  - say: One is booked.
meanwhile:
  - {{when: [first.waiting, second.waiting], do: [{{approve: first}}, {{deny: second}}]}}
expect:
  must:
    executions: {{book: [{{event: E1, seat: 1}}]}}
    outcome: completed
"""
_ONE_AFTER_ANOTHER: Final = f"""\
format: 1
title: A second booking is denied after the first was approved
rule: An approval is good for one call.
{_ASKED}
turns:
  - calls: [{{as: first, tool: book, args: {{event: E1, seat: 1}}}}]
  - calls: [{{as: second, tool: book, args: {{event: E1, seat: 2}}}}]
  - say: One is booked.
meanwhile:
  - {{when: first.waiting, do: approve}}
  - {{when: second.waiting, do: deny}}
expect:
  must:
    executions: {{book: 1}}
    outcome: completed
"""
_BESIDE: Final = """\
format: 1
title: A note is taken beside a booking that waits for a person
rule: Nothing goes on while a person is asked, and nothing is done twice for it.
needs: [approval]
prompt: Take a note, and book seat 12 of E1.
tools:
  note: {kind: write, args: {text: string}, returns_after: run.paused}
  book: {kind: write, args: {event: string, seat: integer}, approval: ask}
turns:
  - calls:
      - {as: note, tool: note, args: {text: E1}}
      - {as: book, tool: book, args: {event: E1, seat: 12}}
  - say: Booked.
meanwhile:
  - {when: book.waiting, after: 2 hours, do: approve}
expect:
  must:
    effects: {note: 1, book: 1}
    outcome: completed
"""
_DISABLED: Final = """\
format: 1
title: The model asks for a tool that is disabled
rule: A disabled tool does not run.
needs: [approval]
prompt: Cancel the booking of seat 12.
tools:
  cancel_booking: {kind: write, args: {seat: integer}, approval: disabled}
turns:
  - calls: [{as: gone, tool: cancel_booking, args: {seat: 12}}]
  - say: That cannot be done.
expect:
  must:
    executions: {}
    outcome: completed
"""
_GIVEN_UP: Final = """\
format: 1
title: A run is given up while the first of two tools runs
rule: Nothing new begins behind the end of a run.
needs: [cancel]
prompt: Look up E1, E2 and E3.
tools:
  look_up: {kind: read, args: {event: string}, returns_after: run.ended}
turns:
  - calls:
      - {as: one, tool: look_up, args: {event: E1}}
      - {as: two, tool: look_up, args: {event: E2}}
  - optional: true
    calls: [{as: three, tool: look_up, args: {event: E3}}]
  - optional: true
    say: That is all.
meanwhile:
  - {when: one.started, do: cancel}
expect:
  must:
    executions: {look_up: {at_most: 2}}
    outcome: cancelled
"""
_GIVEN_UP_BEHIND: Final = """\
format: 1
title: A run is given up just when a booking is done
rule: What is done is done, and is said to be.
needs: [cancel]
prompt: Book seat 12 of E1.
tools:
  book: {kind: write, args: {event: string, seat: integer}}
turns:
  - calls: [{as: book, tool: book, args: {event: E1, seat: 12}}]
  - optional: true
    say: Nothing was booked.
meanwhile:
  - {when: book.ended, do: cancel}
expect:
  must:
    effects: {book: 1}
    outcome: cancelled
"""
_TEXTS: Final = {
    "changed": _CHANGED,
    "denied": _DENIED,
    "one-of-two": _ONE_OF_TWO,
    "one-after-another": _ONE_AFTER_ANOTHER,
    "beside": _BESIDE,
    "disabled": _DISABLED,
    "given-up": _GIVEN_UP,
    "given-up-behind": _GIVEN_UP_BEHIND,
}


def load() -> list[Scenario]:
    """The scenarios, by ids such as `selftest/denied`."""
    return [
        load_text(text.encode(), file=f"selftest/{name}.yaml", id=f"selftest/{name}")
        for name, text in _TEXTS.items()
    ]
