"""Calls whose text is no object, in whose place a person approved something: on journals written
by hand."""

from __future__ import annotations

import pytest
from controlled import WAITS, asking, decide, leg
from journals import SEAT, Json, Written, call, execution_levels

pytestmark = pytest.mark.usefixtures("every_word")
UNREAD: Json = {"unreadable": "[]"}


def approved(presented: Json, *, text: str = "[]", sent: str = "whole") -> Written:
    """A call with this text, of which the target said that it waits with the presented arguments;
    a person approved a seat, which is then taken."""
    journal = Written(asking())
    journal.ask()
    journal.answer(call("book", arguments=text, sent=sent))
    journal.end("paused", "awaiting_approval", pending=[{**WAITS, "arguments": presented}])
    decide(journal)
    leg(journal)
    journal.execute()
    return journal


def test_what_a_person_put_in_place_of_no_object_may_run() -> None:
    journal = approved(UNREAD)
    assert execution_levels(journal) == {}
    assert journal.check("approval.bound").status == "pass"


def test_what_the_target_made_of_it_may_not_though_a_person_approved_it() -> None:
    journal = approved(SEAT)
    assert execution_levels(journal) == {"execution.complete-only": ["must"]}


def test_nor_may_anything_in_place_of_a_call_that_was_cut_on_its_way() -> None:
    journal = approved(UNREAD, text='{"event":"E1","sea', sent="cut")
    assert execution_levels(journal) == {"execution.complete-only": ["must"]}


def test_nor_what_was_approved_of_a_call_that_never_waited() -> None:
    journal = Written(asking())
    journal.ask()
    journal.answer(call("book", arguments="[]"))
    decide(journal, pending=False)
    journal.execute()
    assert execution_levels(journal) == {"execution.complete-only": ["must"]}


def test_what_was_approved_runs_once() -> None:
    journal = approved(UNREAD)
    journal.execute()
    assert execution_levels(journal) == {"execution.complete-only": ["must"]}
