"""Deaths of a case: at which points, what is expected then, and which loops they catch."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from dying_loops import pids, source
from processes import is_gone, wait_until
from trial_cases import case

from loopcheck.fake_providers.script import DIALECTS, DialectName
from loopcheck.harness.cases import CaseSpec, Death
from loopcheck.harness.cli.trial import put_on_trial
from loopcheck.harness.config import TargetSource
from loopcheck.harness.deaths import Deaths, complaint, moments, named, struck, with_death
from loopcheck.harness.journal import Entry, load
from loopcheck.harness.results import CaseResult
from loopcheck.harness.runner import RunOptions
from loopcheck.harness.scenario.expectations import AtLeast, AtMost, ExpectLevel
from loopcheck.harness.stage import Stage

ALL = Deaths()
SEAT = ["turn1.asked", "turn1.sent", "seat.started", "seat.committed", "seat.ended"]
SEAT += ["turn2.asked", "turn2.sent"]
JOURNAL: list[Entry] = [
    {"n": 1, "kind": "case"},
    {"n": 2, "kind": "request", "request": 1, "role": "turn", "turn": 1, "conversation": []},
    {
        "n": 3,
        "kind": "response",
        "request": 1,
        "calls": [
            {"label": "seat", "call_id": "c1", "sent": "whole", "tool": "t", "arguments": "{}"}
        ],
    },
    {"n": 4, "kind": "sent", "request": 1},
    {"n": 5, "kind": "outcome", "state": "paused", "pending": [{"call_id": "c1"}]},
    {"n": 6, "kind": "decision", "label": "seat", "decide": "approve"},
    {"n": 7, "kind": "execution", "execution": 1, "label": "seat"},
    {"n": 8, "kind": "execution", "execution": 2, "label": "seat"},
    {
        "n": 9,
        "kind": "request",
        "request": 2,
        "role": "turn",
        "turn": 2,
        "conversation": [{"kind": "result", "call_id": "c1"}],
    },
    {"n": 10, "kind": "outcome", "state": "completed"},
]


def run(
    target: str | TargetSource, folder: Path, specs: Sequence[CaseSpec], deaths: Deaths = ALL
) -> dict[str, CaseResult]:
    """What came of these cases and their deaths, by id."""
    options = RunOptions(deaths=deaths, journal_folder=folder / "journals")
    results: dict[str, CaseResult] = {}

    def progress(result: CaseResult) -> None:
        results[result.case] = result

    made = target if isinstance(target, TargetSource) else source(target, folder)
    put_on_trial(made, specs, options, progress=progress, started=lambda card: None)
    return results


def verdicts(results: dict[str, CaseResult]) -> dict[str, str]:
    return {name.partition("]")[2]: result.verdict for name, result in results.items()}


def test_each_moment_of_a_journal_is_one_point() -> None:
    assert moments(JOURNAL) == [
        "turn1.asked",
        "turn1.sent",
        "run.paused",
        "seat.approved",
        "seat.started",
        "seat.started.2",
        "turn2.asked",
    ]


def test_a_case_with_a_death_is_named_by_its_point() -> None:
    spec = with_death(case(), Death("seat.committed"))
    assert spec.id == "once/seat[chat-whole]+death@seat.committed"
    assert named(spec.id) == ("once/seat[chat-whole]", Death("seat.committed"))
    assert named("once/seat+rivals@turn1.sent") == (
        "once/seat",
        Death("turn1.sent", rivals=True),
    )
    assert named("once/seat[chat-whole]") == ("once/seat[chat-whole]", None)


def test_the_process_is_killed_at_the_point_and_somebody_resumes() -> None:
    spec = with_death(case(), Death("seat.committed"))
    (rule,) = spec.scenario.meanwhile
    assert (rule.when, rule.do) == (("seat.committed",), ("kill", "resume"))
    assert spec.scenario.needs == ("resume",)
    assert spec.scenario.id == "once/seat"


@pytest.mark.parametrize("point", ["run.started", "run.ended", "seta.started", "turn0.asked"])
def test_nobody_dies_where_nothing_can_be_killed(point: str) -> None:
    assert complaint(point, case()) is not None


def test_a_point_that_did_not_come_is_not_exercised() -> None:
    entry: Entry = {"n": 1, "kind": "action", "do": "kill", "when": ["seat.ended"]}
    assert struck([entry], Death("seat.ended"))
    assert not struck([entry], Death("seat.started"))


EXPECTS = """\
turns:
  - calls: [{as: seat, tool: reserve, args: {seat: 12}}, {as: look, tool: find, args: {}}]
  - {calls: [{as: raw, tool: pay, args: {}}], must_reach: true}
expect:
  must:
    executions: {reserve: 1, find: {any_of: [1, {at_most: 2}]}, pay: [{}], ask: {at_least: 1}}
    results: {seat: own}
    outcome: completed
    order: [seat.started < look.started]
    requests: {total: 3, tools: all}
  should:
    effects: {reserve: 1}
"""
TOOLS = """\
format: 1
title: A seat is reserved
rule: A rule.
prompt: Reserve seat 12.
tools:
  reserve: {kind: write, args: {seat: integer}, operation: [seat], lookup: found}
  find: {kind: read}
  pay: {kind: write}
  ask: {kind: read}
"""


def test_what_is_left_of_a_scenarios_expectations() -> None:
    left = with_death(case(EXPECTS, head=TOOLS), Death("seat.started")).scenario.expect
    assert left.must.executions == {
        "reserve": AtMost(at_most=2),  # its system can say that nothing came of the first
        "find": AtMost(at_most=4),
        "pay": AtMost(at_most=1),  # nobody can say what became of it
        "ask": AtLeast(at_least=0),
    }
    assert left.must.effects == {"reserve": AtMost(at_most=1), "pay": AtMost(at_most=1)}
    assert left.must.order == ("seat.started < look.started",)
    assert left.must.requests is not None
    assert (left.must.requests.tools, left.must.requests.total) == ("all", None)
    assert (left.must.outcome, left.must.results) == (None, {})
    assert left.should == ExpectLevel(effects={"reserve": AtMost(at_most=1)})


def test_a_loop_that_lets_two_processes_in_is_caught_by_rivals(tmp_path: Path) -> None:
    spec = with_death(case(), Death("turn1.asked", rivals=True))
    results = run("unlocked", tmp_path, [spec])
    assert verdicts(results) == {"+rivals@turn1.asked": "fail"}
    assert "effect.once" in {f.check for f in results[spec.id].findings}


def test_a_target_that_resumes_nothing_is_told_so_once(tmp_path: Path) -> None:
    results = run("mortal", tmp_path, [case()])
    assert verdicts(results) == {"": "pass", "+death@all": "not declared"}
    assert results["once/seat[chat-whole]+death@all"].reason == "needs resume"


MANY = "turns:\n" + "".join(
    f"  - calls: [{{as: seat{n}, tool: reserve, args: {{seat: {n}}}}}]\n" for n in range(1, 4)
)


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


def check_that_nothing_is_left(folder: Path, spec: CaseSpec, *, times: int) -> int:
    """Runs all deaths of an honest loop so many times, and returns how many there were."""
    run("careful", folder, [case()], Deaths(points=("turn1.sent",)))  # some files stay open
    before = open_files(), threading.active_count()
    died = 0
    for _ in range(times):
        results = run("careful", folder, [spec])
        assert set(verdicts(results).values()) == {"pass"}
        assert {result.outcome for result in results.values()} == {"completed/final_answer"}
        died += len(results) - 1
        for result in results.values():
            entries = load(Path(result.journal or ""))
            assert "outcome" in [entry["kind"] for entry in entries[-2:]]
            assert sum(entry.get("do") == "kill" for entry in entries) == int(result.is_death)
        assert len({result.journal for result in results.values()}) == len(results)
    wait_until(lambda: all(map(is_gone, pids(folder))))
    wait_until(lambda: (open_files(), threading.active_count()) == before)
    return died


needs_proc = pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="there is no /proc")


@needs_proc
def test_a_loop_that_looks_up_what_it_had_begun_survives_every_death_and_nothing_is_left(
    tmp_path: Path,
) -> None:
    assert check_that_nothing_is_left(tmp_path, case(), times=1) == len(SEAT)


@needs_proc
@pytest.mark.slow
def test_many_deaths_leave_no_process_no_open_file_and_no_gap_in_a_journal(tmp_path: Path) -> None:
    """More than two hundred of them with LOOPCHECK_LONG."""
    times = 12 if os.environ.get("LOOPCHECK_LONG") else 2
    assert check_that_nothing_is_left(tmp_path, case(MANY), times=times) >= 17 * times


@pytest.mark.slow
@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_reference_loop_survives_every_death(tmp_path: Path, dialect: DialectName) -> None:
    reference = TargetSource(
        name="reference", python="loopcheck.harness.targets.reference:reference", cwd=tmp_path
    )
    results = run(reference, tmp_path, [case(dialect=dialect, mode="stream")], Deaths(rivals=True))
    assert len(results) == 1 + 2 * len(SEAT)
    assert set(verdicts(results).values()) == {"pass"}


def test_what_a_process_had_asked_for_before_it_died_comes_before_what_the_next_one_does() -> None:
    with Stage() as stage, stage.open(case(), target="t") as opened:
        where = urlsplit(f"{opened.root}/tools/reserve")
        body = b'{"seat": 12}'
        head = f"POST {where.path} HTTP/1.1\r\nhost: x\r\ncontent-length: {len(body)}\r\n\r\n"
        with socket.create_connection((where.hostname, where.port)) as dying:
            dying.sendall(head.encode() + body)
        opened.drain()
        assert "execution" in [entry["kind"] for entry in opened.journal]
