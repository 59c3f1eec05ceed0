"""Scenarios in which people decide, give up, and processes die."""

from __future__ import annotations

from loopcheck.harness.scenario.load import load_text
from loopcheck.harness.scenario.model import Scenario

RESERVE = """
  reserve_seat:
    kind: write
    args: {event: string, seat: integer}
    operation: [event, seat]
    lookup: found
"""
BOOKS = """
turns:
  - calls: [{as: book, tool: reserve_seat, args: {event: E1, seat: 12}}]
  - say: Booked.
"""
LOST = """
format: 1
title: A seat is reserved once although the reservation's response is lost
rule: After an approval, a write whose response is lost is never sent a second time.
needs: [approval, resume, operation_ids]
prompt: Book a seat in workshop WS-7 for participant P-104.
tools:
  check_availability:
    kind: read
    args: {event: string, participant: string}
    returns: {free_seats: 3, eligible: true}
  reserve_seat:
    kind: write
    args: {event: string, participant: string, seat: {type: integer, minimum: 1}}
    approval: ask
    operation: [event, participant]
    behaves: [commit-then-lose-response, normal]
    lookup: found
turns:
  - calls: [{as: avail, tool: check_availability, args: {event: WS-7, participant: P-104}}]
  - calls: [{as: book, tool: reserve_seat, args: {event: WS-7, participant: P-104, seat: 12}}]
  - optional: true
    calls: [{as: again, tool: reserve_seat, args: {event: WS-7, participant: P-104, seat: 12}}]
  - optional: true
    say: Finished.
meanwhile:
  - {when: book.waiting, after: 2 hours, do: approve}
  - {when: again.waiting, do: approve}
expect:
  must:
    executions: {check_availability: 1, reserve_seat: {at_most: 2}}
    effects: {reserve_seat: 1}
    outcome: {any_of: [completed, paused, failed]}
    order: [book.approved < book.started]
  should:
    executions: {reserve_seat: 1}
    outcome: {any_of: [completed, paused]}
"""
KILL = f"""
format: 1
title: A booking that was committed before the process died is not booked again
rule: A run that died behind a write goes on without writing again.
needs: [resume, operation_ids]
prompt: Book seat 12 of E1.
tools:{RESERVE}{BOOKS}
meanwhile:
  - {{when: book.committed, do: [kill, resume]}}
expect:
  must:
    effects: {{reserve_seat: 1}}
    executions: {{reserve_seat: 1}}
    outcome: completed
"""
RESTART = KILL.replace("kill, resume", "restart, resume")
CANCEL = """
format: 1
title: Nothing new starts behind a cancellation
rule: A run that was cancelled while a tool ran asks nothing more.
needs: [cancel]
prompt: Look up E1 and book it.
tools:
  look_up:
    kind: read
    args: {event: string}
    returns_after: run.cancelling
turns:
  - calls: [{as: look, tool: look_up, args: {event: E1}}]
  - calls: [{as: more, tool: look_up, args: {event: E2}}]
meanwhile:
  - {when: look.started, do: cancel}
expect:
  must:
    executions: {look_up: {at_most: 1}}
  should:
    outcome: cancelled
    requests: {total: 1}
"""
TWICE = f"""
format: 1
title: Two processes that resume one run book once
rule: One of two processes that resume one run wins.
needs: [approval, resume, operation_ids]
prompt: Book seat 12 of E1.
tools:{RESERVE}    approval: ask
{BOOKS}
meanwhile:
  - {{when: book.waiting, do: {{approve: book, at_once: 2}}}}
expect:
  must:
    effects: {{reserve_seat: 1}}
    executions: {{reserve_seat: 1}}
    outcome: completed
"""
GIVEN_UP = f"""
format: 1
title: A run that waits for a person is given up
rule: What nobody approved is not run.
needs: [approval, resume, cancel]
prompt: Book seat 12 of E1.
tools:{RESERVE}    approval: ask
{BOOKS}
meanwhile:
  - {{when: book.waiting, do: cancel}}
expect:
  must:
    executions: {{reserve_seat: 0}}
    requests: {{total: 1}}
  should:
    outcome: cancelled/cancelled_by_user
"""
HELD = f"""
format: 1
title: The process dies while a tool works
rule: What the system behind the tool has done is found out, and not done again.
needs: [resume, operation_ids]
prompt: Book seat 12 of E1.
tools:{RESERVE}{BOOKS}
meanwhile:
  - {{when: book.started, do: [kill, resume]}}
expect:
  must:
    effects: {{reserve_seat: 1}}
    executions: {{reserve_seat: 1}}
    order: [book.ended < turn2.asked]
    outcome: completed
"""
IDLE = f"""
format: 1
title: The process dies while a person thinks
rule: An approval is carried out by the process that there is.
needs: [approval, resume]
prompt: Book seat 12 of E1.
tools:{RESERVE}    approval: ask
{BOOKS}
meanwhile:
  - {{when: book.waiting, do: [kill, approve]}}
expect:
  must:
    executions: {{reserve_seat: 1}}
    outcome: completed
"""
PARTS = f"""
format: 1
title: A conversation goes on, and another begins
rule: Each part is answered by its own turns.
needs: [follow_up]
prompt: Book seat 12 of E1.
tools:{RESERVE}{BOOKS}
  - user: And where is it?
  - say: By the window.
  - run: Which seats are free?
  - say: None.
expect:
  must:
    executions: {{reserve_seat: 1}}
    outcome: [completed, completed, completed]
    requests: {{total: 4, turn3: 1, turn4: 1}}
"""


def named(name: str, text: str) -> Scenario:
    return load_text(text.lstrip().encode(), file=f"{name}.yaml", id=f"control/{name}")
