"""The reference loop on trial where the service keeps the conversation and something goes wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopcheck.harness.cases import expand
from loopcheck.harness.cli import trial
from loopcheck.harness.config import TargetSource
from loopcheck.harness.inprocess import InProcess
from loopcheck.harness.results import CaseResult
from loopcheck.harness.runner import RunOptions, run_target
from loopcheck.harness.scenario.load import load_text
from loopcheck.harness.stage import Stage
from loopcheck.harness.targets.reference import reference

HEAD = """
format: 1
title: The service keeps the conversation
rule: Nothing of it is lost or doubled.
dialects: [responses, messages]
state: server
prompt: Cancel both orders.
tools:
  cancel: {kind: write, args: {order: string}}
"""
EXPECT = """
expect:
  must:
    effects: {cancel: {at_most: 2}}
  should:
    effects: {cancel: 2}
    results: {one: own, two: own}
    outcome: %s
"""
BROKEN_OFF = """
needs: [server_state]
turns:
  - calls: [{as: one, tool: cancel, args: {order: A-1}}]
  - calls: [{as: two, tool: cancel, args: {order: A-2}}]
    attempts: [{fault: reset, at: {frame: terminal}}, {fault: http, error: server}, normal]
  - say: Done.
"""
SAID_MORE = """
needs: [server_state, follow_up]
turns:
  - calls: [{as: one, tool: cancel, args: {order: A-1}}]
  - say: Done.
  - user: And the other?
  - calls: [{as: two, tool: cancel, args: {order: A-2}}]
  - say: That, too.
"""
DECIDED = """
  ask: {kind: write, args: {order: string}, approval: ask}
needs: [server_state, approval, resume]
turns:
  - calls: [{as: one, tool: cancel, args: {order: A-1}}]
  - calls:
      - {as: two, tool: cancel, args: {order: A-2}}
      - {as: asked, tool: ask, args: {order: A-3}}
  - say: Done.
meanwhile:
  - {when: asked.waiting, after: 3 hours, do: deny}
"""
KILLED = """
needs: [server_state, resume]
modes: [stream]
turns:
  - calls: [{as: one, tool: cancel, args: {order: A-1}}]
  - calls: [{as: two, tool: cancel, args: {order: A-2}}]
  - say: Done.
meanwhile:
  - {when: {in: two, after: A-}, do: [kill, resume]}
"""


def results(
    text: str, outcome: str = "completed", source: TargetSource | None = None
) -> list[CaseResult]:
    """Of all cases of this scenario, in this process or in a worker."""
    scenario = load_text((HEAD + text + EXPECT % outcome).encode(), file="kept.yaml", id="kept")
    made = InProcess(reference) if source is None else trial.driver(source)
    with Stage() as stage, made as driver:
        ran = run_target(driver, list(expand([scenario])), stage, RunOptions(case_seconds=20))
    assert ran.broken is None
    return list(ran.cases)


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        (BROKEN_OFF, "{any_of: [completed, failed]}"),
        (SAID_MORE, "[completed, completed]"),
        (DECIDED, "completed"),
    ],
)
def test_nothing_of_the_conversation_is_lost(text: str, outcome: str) -> None:
    found = results(text, outcome)
    assert [(one.verdict, one.findings) for one in found] == [("pass", ())] * 4


@pytest.mark.slow
def test_a_process_that_dies_leaves_a_conversation_to_go_on_with() -> None:
    target = "loopcheck.harness.targets.reference:reference"
    found = results(KILLED, source=TargetSource(name="reference", python=target, cwd=Path.cwd()))
    assert [one.verdict for one in found] == ["pass"] * 2
    # A thread goes on from each response once. Whether it has done so, the process that died did
    # not hear: the next one asks, is refused, and sends everything.
    refused = [f.expected for one in found for f in one.findings]
    assert refused == ["rule M38-continued kept in request 3"]
