"""What can be taken away from a scenario, beside what Hypothesis takes away by itself."""

from __future__ import annotations

from loopcheck.harness.fuzz.smaller import smaller
from loopcheck.harness.scenario.load import load_text
from loopcheck.harness.scenario.model import Scenario
from loopcheck.harness.scenario.write import write

FULL = """\
format: 1
title: Everything
rule: Nothing of it matters.
needs: [thinking, hosted, cancel]
dialects: [messages]
modes: [stream]
prompt: Please do it.
tools:
  book: {kind: write, args: {seat: integer, name: string}, returns: done, operation: [name]}
  search: {kind: hosted, type: web_search}
turns:
  - items:
      - {think: Hm.}
      - call: {as: web, tool: search, args: {}}
      - hosted_result: {of: web, value: A report.}
      - call: {as: a, tool: book, args: {seat: 1, name: x}}
  - say: Done.
meanwhile:
  - {when: run.ended, do: cancel}
  - {when: a.started, do: cancel}
"""


def loaded(text: str) -> Scenario:
    return load_text(text.encode(), file="full.yaml", id="")


def test_each_has_something_less() -> None:
    texts = [write(scenario) for scenario in smaller(loaded(FULL))]
    assert len(set(texts)) == len(texts)
    assert write(loaded(FULL)) not in texts


def test_what_belongs_together_goes_together() -> None:
    found = [one for one in smaller(loaded(FULL)) if "book" in one.tools]
    without_call = next(one for one in smaller(loaded(FULL)) if not one.labels)
    assert [str(rule.when[0]) for rule in without_call.meanwhile] == ["run.ended"]
    without_name = next(one for one in found if list(one.tools["book"].args) == ["seat"])
    assert without_name.tools["book"].operation == ()


def test_items_become_short_where_they_can() -> None:
    turns = [one.turns[0] for one in smaller(loaded(FULL))]
    short = next(turn for turn in turns if turn.items is None and turn.think == "Hm.")
    assert [call.label for call in short.calls] == ["a"]


def test_a_call_loses_the_argument_that_its_tool_loses() -> None:
    found = [one for one in smaller(loaded(FULL)) if "book" in one.tools]
    less = next(one for one in found if list(one.tools["book"].args) == ["name"])
    calls = {call.label: call.args for call in less.turns[0].every_call}
    assert calls["a"] == {"name": "x"}
