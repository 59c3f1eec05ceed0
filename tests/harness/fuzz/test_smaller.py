"""What can be taken away from a scenario, beside what Hypothesis takes away by itself."""

from __future__ import annotations

from loopcheck.harness.fuzz.smaller import smaller
from loopcheck.harness.scenario.load import load_text
from loopcheck.harness.scenario.model import Scenario, ToolModel
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


LANED = """\
format: 1
title: Two conversations
rule: Nothing of it matters.
needs: [lanes, server_state]
dialects: [responses]
modes: [stream]
prompt: Please do it.
state: server
tools:
  book: {kind: write, args: {seat: integer}}
  look: {kind: read}
turns:
  - calls: [{as: a, tool: book, raw_args: '{"seat":1}', form: custom}]
lanes:
  left:
    if: {tools: [look]}
    turns:
      - calls: [{as: b, tool: look, args: {}}, {as: c, tool: book, args: {seat: 2}}]
      - say: Done.
"""


BOOK = ToolModel(kind="write", args={"seat": "integer"})


def loaded(text: str) -> Scenario:
    return load_text(text.encode(), file="full.yaml", id="")


def test_each_has_something_less() -> None:
    for full in (FULL, LANED):
        texts = [write(scenario) for scenario in smaller(loaded(full))]
        assert len(set(texts)) == len(texts)
        assert write(loaded(full)) not in texts


def test_a_lane_goes_whole_or_in_parts() -> None:
    found = list(smaller(loaded(LANED)))
    assert any(one.lanes == {} and list(one.tools) == ["book"] for one in found)
    lanes = [one.lanes["left"].turns for one in found if one.lanes]
    labels = [[[call.label for call in turn.calls] for turn in turns] for turns in lanes]
    parts: list[list[list[str]]] = [[[]], [["b", "c"]], [["b"], []], [["c"], []]]
    assert all(part in labels for part in parts)


def test_state_goes_back_to_the_client() -> None:
    assert "client" in [one.state for one in smaller(loaded(LANED))]


def test_a_custom_call_becomes_a_plain_one() -> None:
    first = [one.turns[0].calls[0] for one in smaller(loaded(LANED)) if one.turns[0].calls]
    plain = next(call for call in first if call.form == "function")
    assert (plain.args, plain.raw_args) == ({"seat": 1}, None)


def test_calls_in_lanes_lose_the_argument_that_their_tool_loses() -> None:
    less = next(one for one in smaller(loaded(LANED)) if not one.tools.get("book", BOOK).args)
    assert less.lanes["left"].turns[0].calls[1].args == {}


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
