"""Runs of what targets are given: an earlier conversation, stored state, limits, conditions."""

from __future__ import annotations

from pathlib import Path

import pytest
import stored_loops

from loopcheck.harness.cases import CaseSpec, expand
from loopcheck.harness.cli import trial
from loopcheck.harness.config import TargetSource
from loopcheck.harness.inprocess import InProcess
from loopcheck.harness.results import CaseResult
from loopcheck.harness.runner import RunOptions, run_target
from loopcheck.harness.scenario.load import load_builtin, load_text
from loopcheck.harness.scenario.model import Scenario
from loopcheck.harness.stage import Stage
from loopcheck.harness.target import Target
from loopcheck.harness.targets.reference import reference

DELTA = "history/server-conversation-delta"
EARLIER = "history/earlier-conversation"


def builtin(id: str) -> Scenario:
    return next(scenario for scenario in load_builtin() if scenario.id == id)


def run(target: Target | TargetSource, scenario: Scenario) -> list[CaseResult]:
    """The results of the cases that the target declares, in this process or in a worker."""
    cases: list[CaseSpec] = list(expand([scenario]))
    made = InProcess(target) if isinstance(target, Target) else trial.driver(target)
    with Stage() as stage, made as driver:
        results = run_target(driver, cases, stage, RunOptions(case_seconds=20))
    assert results.broken is None
    return [case for case in results.cases if case.verdict != "not declared"]


def texts(results: list[CaseResult]) -> list[str]:
    return [f"{f.level}: {f.expected}; {f.seen}" for result in results for f in result.findings]


@pytest.mark.parametrize(
    "target",
    [stored_loops.by_previous_response, stored_loops.by_conversation, stored_loops.by_thread],
    ids=lambda target: target.name,
)
@pytest.mark.parametrize(
    "id", ["history/server-conversation-delta", "history/earlier-conversation"]
)
def test_a_loop_that_leaves_the_conversation_to_the_service(target: Target, id: str) -> None:
    results = run(target, builtin(id))

    assert [result.verdict for result in results] == ["pass"]
    assert texts(results) == []


@pytest.mark.parametrize(
    "id", ["history/server-conversation-delta", "history/earlier-conversation"]
)
def test_a_worker_is_given_the_same(id: str) -> None:
    loop = "stored_loops:by_previous_response"
    source = TargetSource(name="stored", python=loop, cwd=Path(__file__).parent)

    assert [(r.verdict, texts([r])) for r in run(source, builtin(id))] == [("pass", [])]


def test_a_loop_that_sends_what_the_service_has_is_found_out() -> None:
    results = run(stored_loops.on_the_client, builtin(DELTA))

    assert texts(results) == [
        "should: turn2 is asked for with result cancel sent, and no more; "
        "user, call cancel, result cancel",
        "should: turn3 is asked for with result list sent, and no more; "
        "user, call cancel, result cancel, call list, result list",
    ]


def test_the_reference_loop_leaves_the_conversation_to_the_service() -> None:
    results = run(reference, builtin(DELTA))

    assert [result.verdict for result in results] == ["pass"] * 4
    assert texts(results) == []


ECHO = b"""
format: 1
title: What was said earlier reads like the script
rule: It is no part of the task.
needs: [earlier]
prompt: Again.
earlier: [{user: Again.}, {say: Done.}, {user: Again.}, {say: Finished.}]
tools: {look: {kind: read}}
turns:
  - calls: [{as: view, tool: look, args: {}}]
  - say: Done.
expect:
  must:
    executions: {look: 1}
    requests: {total: 2}
    history: {turn2: {order: [user, say, user, say, user, call view, result view]}}
"""


def test_what_was_said_earlier_is_not_taken_for_the_script() -> None:
    results = run(reference, load_text(ECHO, file="x", id="x"))

    assert [result.verdict for result in results] == ["pass"] * 6
    assert texts(results) == []


RUNS = b"""
format: 1
title: Another run begins anew
rule: It has a history of its own.
needs: [earlier]
modes: [whole]
prompt: Again.
earlier: [{user: Again.}, {say: Done.}]
turns:
  - say: Done.
  - run: Another.
  - say: Done, too.
expect:
  must:
    executions: {}
    history: {turn1: {sent: [user, say, user]}, turn2: {sent: [user]}}
"""


def test_another_run_begins_with_nothing_earlier() -> None:
    results = run(reference, load_text(RUNS, file="x", id="x"))

    assert [result.verdict for result in results] == ["pass"] * 3
    assert texts(results) == []


@pytest.mark.parametrize(
    ("id", "outcome"),
    [
        ("limits/same-call-repeats", "limit/repeated_calls"),
        ("limits/cost-exceeded", "limit/max_cost"),
        ("limits/cost-exceeded@context-is-full", "limit/context_limit"),
    ],
)
def test_the_reference_loop_stops_at_each_limit(id: str, outcome: str) -> None:
    results = run(reference, builtin(id))

    assert {result.outcome for result in results} == {outcome}
    assert texts(results) == []


def test_a_call_is_answered_as_long_as_it_is_asked_for() -> None:
    results = run(reference, builtin("limits/forced-choice-terminates@as-long-as-it-is-asked-for"))

    assert {(r.outcome, r.summary) for r in results} == {
        ("completed/final_answer", "2 requests, 1 execution, 0 effects")
    }
