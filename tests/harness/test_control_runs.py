"""What happens from outside, end to end: in this process, and in one that can be killed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import control_scenarios as texts
import pytest
from durable_loop import durable
from processes import is_gone, wait_until

from loopcheck.fake_providers.script import DialectName, Mode
from loopcheck.harness.cases import CaseSpec
from loopcheck.harness.cli import trial
from loopcheck.harness.config import TargetSource
from loopcheck.harness.inprocess import InProcess
from loopcheck.harness.journal import Entry
from loopcheck.harness.judge import judge
from loopcheck.harness.results import CaseResult
from loopcheck.harness.runner import Driver, RunOptions, play, run_case
from loopcheck.harness.stage import Stage
from loopcheck.harness.target import Target

HERE = Path(__file__).parent
DURABLE = TargetSource(name="durable", python="durable_loop:durable", cwd=HERE)
BOTH_WAYS = {
    "lost": texts.LOST,
    "cancel": texts.CANCEL,
    "twice": texts.TWICE,
    "given-up": texts.GIVEN_UP,
    "parts": texts.PARTS,
}
DEATHS = {
    "kill": texts.KILL,
    "restart": texts.RESTART,
    "held": texts.HELD,
    "idle": texts.IDLE,
}


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    with Stage() as stage:
        yield stage


@pytest.fixture(scope="module")
def in_worker() -> Iterator[Driver]:
    with trial.driver(DURABLE) as driver:
        driver.card()
        yield driver


def spec(name: str, dialect: DialectName = "chat", mode: Mode = "stream") -> CaseSpec:
    return CaseSpec(texts.named(name, (BOTH_WAYS | DEATHS)[name]), dialect, mode)


def verdict(driver: Driver, one: CaseSpec, stage: Stage) -> CaseResult:
    return run_case(driver, driver.card(), one, stage, RunOptions())


def essence(result: CaseResult) -> tuple[object, ...]:
    checks = [(check.check, check.status) for check in result.checks]
    return result.verdict, result.outcome, result.summary, result.reason, checks


def here(target: Target, one: CaseSpec, stage: Stage) -> CaseResult:
    with InProcess(target) as driver:
        return verdict(driver, one, stage)


@pytest.mark.parametrize(
    ("name", "mode"), [*((name, "stream") for name in BOTH_WAYS), ("lost", "whole")]
)
def test_both_ways_of_running_give_one_verdict(
    stage: Stage, in_worker: Driver, name: str, mode: Mode
) -> None:
    one = spec(name, mode=mode)
    alone = here(durable, one, stage)
    assert (alone.verdict, alone.findings) == ("pass", ())
    assert essence(verdict(in_worker, one, stage)) == essence(alone)


@pytest.mark.parametrize(
    ("name", "dialect"),
    [
        ("lost", "responses"),
        ("lost", "chat"),
        ("lost", "messages"),
        ("cancel", "chat"),
        ("twice", "chat"),
        ("given-up", "chat"),
    ],
)
def test_the_reference_loop(stage: Stage, name: str, dialect: DialectName) -> None:
    pytest.importorskip("openai")
    pytest.importorskip("anthropic")
    from loopcheck.harness.targets.reference import reference

    result = here(reference, spec(name, dialect), stage)
    assert (result.verdict, result.findings) == ("pass", ())


@pytest.mark.parametrize("name", DEATHS)
def test_deaths_need_a_process(stage: Stage, name: str) -> None:
    result = here(durable, spec(name), stage)
    assert (result.verdict, result.reason) == (
        "not declared",
        "needs a process of its own that can be killed; loopcheck run gives it one",
    )


@pytest.mark.parametrize("name", DEATHS)
def test_a_run_goes_on_behind_a_death(stage: Stage, in_worker: Driver, name: str) -> None:
    result = verdict(in_worker, spec(name), stage)
    assert (result.verdict, result.findings) == ("pass", ())
    assert result.outcome == "completed/final_answer"


def played(driver: Driver, one: CaseSpec, stage: Stage) -> tuple[Entry, ...]:
    entries, _ = play(driver, driver.card(), one, stage, RunOptions())
    result = judge(entries, one, durable.can)
    assert result.verdict == "pass"
    return entries


def kinds(entries: tuple[Entry, ...]) -> list[object]:
    left_out = ("sent", "lookup")
    return [entry["kind"] for entry in entries if entry["kind"] not in left_out]


def test_the_journal_of_a_death(stage: Stage, in_worker: Driver) -> None:
    """The system behind the tool lives on: what it does is seen before the run goes on."""
    assert kinds(played(in_worker, spec("held", mode="whole"), stage)) == [
        "case",
        "request",
        "response",
        "execution",
        "action",
        "effect",
        "ended",
        "died",
        "leg",
        "request",
        "response",
        "outcome",
    ]


def test_the_journal_of_an_approval(stage: Stage) -> None:
    with InProcess(durable) as driver:
        entries = played(driver, spec("lost", mode="whole"), stage)
    course = [e for e in entries if e["kind"] in ("outcome", "decision", "leg")]
    paused, decision, leg, *_, end = course
    pending = paused["pending"]
    assert isinstance(pending, list)
    (call,) = pending
    assert (paused["state"], paused["run"]) == ("paused", "control/lost[chat-whole]/r1")
    assert decision["arguments"] == call["arguments"]
    assert (decision["label"], decision["call_id"], decision["pending"]) == (
        "book",
        call["call_id"],
        True,
    )
    assert (leg["how"], leg["run"], leg["clock"]) == ("resume", "r1", 7200.0)
    assert end["state"] == "completed"


def test_parts_ask_for_their_own_turns(stage: Stage) -> None:
    with InProcess(durable) as driver:
        entries = played(driver, spec("parts", mode="whole"), stage)
    assert [e["turn"] for e in entries if e["kind"] == "request"] == [1, 2, 3, 4]
    legs = [(e["how"], e["run"]) for e in entries if e["kind"] == "leg"]
    assert legs == [("follow_up", "r1"), ("run", "r2")]


WATCHED = """
import os
import durable_loop
import loopcheck

@loopcheck.loop(dialects=["chat"], can=durable_loop.durable.can)
def watched(task):
    with (task.folder.parent.parent / "pids").open("a") as pids:
        pids.write(f"{os.getpid()}\\n")
    return durable_loop.durable(task)
"""


@pytest.mark.parametrize(("name", "processes"), [("kill", 2), ("twice", 2)])
def test_no_process_is_left_behind(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, processes: int
) -> None:
    (tmp_path / "watched.py").write_text(WATCHED, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, (tmp_path, HERE))))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    source = TargetSource(name="watched", python="watched:watched", cwd=tmp_path)
    with trial.driver(source) as driver:
        assert verdict(driver, spec(name), stage).verdict == "pass"
    pids = {int(line) for line in (tmp_path / "pids").read_text(encoding="utf-8").split()}
    assert len(pids) == processes
    for pid in pids:
        wait_until(lambda pid=pid: is_gone(pid))  # type: ignore[misc]
