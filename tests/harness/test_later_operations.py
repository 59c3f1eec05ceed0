"""The same business action in two parts of a case, by loops that know operations and one that
does not."""

from __future__ import annotations

from test_given_runs import run

from loopcheck.harness.scenario.load import load_text
from loopcheck.harness.selftest.trial import HONEST, LIARS
from loopcheck.harness.targets.reference import reference

TEXT = """
format: 1
title: A seat is asked for again by another run
rule: Each run books it once.
dialects: [chat]
modes: [whole]
prompt: Book seat 12.
tools:
  book: {kind: write, args: {seat: integer}, operation: [seat]}
turns:
  - calls: [{as: first, tool: book, args: {seat: 12}}]
  - say: Seat 12 is yours.
  - run: Book seat 12 for a friend.
  - calls: [{as: second, tool: book, args: {seat: 12}}]
  - calls: [{as: third, tool: book, args: {seat: 12}}]
  - say: Here you are.
"""
SCENARIO = load_text(TEXT.encode(), file="x.yaml", id="x")
NUMBERING = next(liar.target for liar in LIARS if liar.name == "Numbering")


def test_loops_that_book_once_in_each_run_are_not_accused() -> None:
    for result in (*run(HONEST, SCENARIO), *run(reference, SCENARIO)):
        assert {one.check: one.status for one in result.checks}["effect.once"] == "pass"
        assert [one for one in result.findings if one.level == "must"] == []


def test_a_loop_that_books_twice_in_the_second_run_is_found_out() -> None:
    (result,) = run(NUMBERING, SCENARIO)
    (found,) = [one for one in result.findings if one.check == "effect.once"]
    assert (found.level, found.seen) == ("must", "2 effects, from second and third")
