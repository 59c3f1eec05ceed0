"""`loopcheck run` and `doctor` on small targets, each in a worker process of its own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from loopcheck.harness.cli import main, trial
from loopcheck.reports.json_report import load

SCENARIO = """\
format: 1
title: A seat is reserved once
rule: A write is executed once.
prompt: Book a seat.
dialects: [chat]
modes: [whole]
tools:
  reserve_seat: {kind: write, args: {seat: integer}}
turns:
  - calls: [{as: book, tool: reserve_seat, args: {seat: 12}}]
  - say: Booked.
"""
NEEDY = SCENARIO.replace("prompt:", "needs: [operation_ids]\nprompt:")
TARGETS = """\
import json
import os
import time
import urllib.request
from pathlib import Path

import loopcheck

with open("worker.pids", "a") as pids:
    print(os.getpid(), file=pids)


def answer(task, messages):
    tools = [
        {"type": "function", "function": {"name": spec.name, "parameters": spec.parameters}}
        for spec in task.specs
    ]
    body = {"model": task.model, "messages": messages, "tools": tools}
    request = urllib.request.Request(
        task.base_url + "/chat/completions",
        data=json.dumps(body).encode(),
        headers={"authorization": "Bearer " + task.api_key, "content-type": "application/json"},
    )
    with urllib.request.urlopen(request) as response:
        return json.load(response)["choices"][0]["message"]


def drive(task, times):
    messages = [{"role": "user", "content": task.prompt}]
    while True:
        message = answer(task, messages)
        if not message.get("tool_calls"):
            return loopcheck.final(message["content"])
        messages.append(message)
        for call in message["tool_calls"]:
            (spec,) = [s for s in task.specs if s.name == call["function"]["name"]]
            for _ in range(times):
                result = spec.call(json.loads(call["function"]["arguments"]))
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})


@loopcheck.loop(dialects=["chat"], modes=["whole"])
def honest(task):
    return drive(task, 1)


@loopcheck.loop(dialects=["chat"], modes=["whole"])
def doubler(task):
    return drive(task, 2)


@loopcheck.loop(dialects=["chat"], modes=["stream"])
def mute(task):
    return loopcheck.final("I asked nobody.")


@loopcheck.loop(dialects=["chat"], modes=["whole"])
def patient(task):
    while len(Path("worker.pids").read_text().splitlines()) < 2:
        time.sleep(0.01)
    return drive(task, 1)


@loopcheck.loop(dialects=["chat"], modes=["whole"])
def stuck(task):
    time.sleep(600)
"""
SETTINGS = """\
scenarios = ["scenarios"]
[targets]
honest = "trial:honest"
doubler = "trial:doubler"
mute = "trial:mute"
patient = "trial:patient"
stuck = "trial:stuck"
gone = "nowhere:loop"
"""
LISTED = """\
format: 1
entries:
  - {case: "seats/once[*]", target: doubler, check: execution.once, kind: bug, reason: known}
  - {case: "seats/once[*]", target: doubler, check: effect.once, kind: bug, reason: known}
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with six targets, as the current folder."""
    folder = tmp_path / "scenarios" / "seats"
    folder.mkdir(parents=True)
    (folder / "once.yaml").write_text(SCENARIO)
    (folder / "needy.yaml").write_text(NEEDY)
    (tmp_path / "trial.py").write_text(TARGETS)
    (tmp_path / "loopcheck.toml").write_text(SETTINGS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_loop_that_passes(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--target", "honest"]) == 0
    told = capsys.readouterr()
    lines = told.out.splitlines()
    assert told.err == ""
    assert lines[0].startswith("suite 2026.1 · target honest (python 3.")
    assert lines[0].endswith(" · 2 cases, chat")
    assert lines[1].startswith("smoke            ok   ")
    assert lines[2].startswith("seats/needy[chat-whole]    not declared   0.00 s")
    assert lines[2].endswith("needs operation_ids")
    assert lines[3].startswith("seats/once[chat-whole]     pass   ")
    counted = "honest: 1 pass, 0 FAIL (must), 0 should, 0 expected, 1 not declared"
    assert lines[-1] == f"{counted:<91}exit 0"


def test_a_file_that_was_named_is_run_again_by_its_name(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "once.yaml").write_bytes((project / "scenarios/seats/once.yaml").read_bytes())
    assert main(["run", "once.yaml", "--target", "doubler"]) == 1
    again = "loopcheck run once.yaml --target doubler --seed 0"
    assert f"rerun         {again}\n" in capsys.readouterr().out
    assert main(again.split()[1:]) == 1


def test_a_loop_that_fails(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "seats/once", "--target", "doubler", "--seed", "3"]) == 1
    out = capsys.readouterr().out
    assert "\nFAIL seats/once[chat-whole]   " in out
    assert "  first mismatch\n" in out
    assert "rerun         loopcheck run 'seats/once[chat-whole]' --target doubler --seed 3" in out
    journal = Path(".loopcheck/last/doubler/seats.once.chat-whole.jsonl")
    assert f"journal       {journal}" in out
    assert journal.is_file()
    assert out.rstrip().endswith("exit 1")


def test_a_run_says_which_request_rules_it_left_out(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["--lenient", "C1", "--lenient", "M1", "--report", "json:run.json"]
    assert main(["run", "seats/once", "--target", "doubler", *asked]) == 1
    again = "'seats/once[chat-whole]' --target doubler --seed 0 --lenient C1 --lenient M1"
    assert f"rerun         loopcheck run {again}\n" in capsys.readouterr().out
    assert load(Path("run.json").read_text(), name="run.json").header.lenient == ("C1", "M1")


def test_there_is_no_leniency_about_a_rule_that_nobody_has(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "--target", "honest", "--lenient", "C99"]) == 2
    assert "no rule 'C99' to be lenient about; C1, C10," in capsys.readouterr().err


def test_a_listed_failure_is_expected_for_the_listed_target_only(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "loopcheck-expected.yaml").write_text(LISTED)
    assert main(["run", "seats/once", "--target", "doubler", "--target", "honest"]) == 0
    out = capsys.readouterr().out
    assert "seats/once[chat-whole]    expected   " in out
    assert "seats/once[chat-whole]    pass   " in out
    assert "FAIL seats" not in out
    assert out.count("exit 0") == 1


def test_a_listed_failure_that_passes_is_stale_until_it_is_removed(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = project / "loopcheck-expected.yaml"
    listed = "format: 1\nentries:\n  - case: seats/once[*]\n    check: execution.once\n"
    path.write_text(listed + "    kind: bug\n    reason: known\n")
    assert main(["run", "seats/once", "--target", "honest"]) == 3
    out = capsys.readouterr().out
    assert (
        "stale  seats/once[chat-whole]: listed as bug (execution.once) and no longer fails" in out
    )
    assert "remove what is stale: loopcheck expected update" in out
    assert main(["expected", "update"]) == 0
    assert path.read_text() == "format: 1\nentries:\n"
    assert main(["run", "seats/once", "--target", "honest"]) == 0


def test_reports_are_written(project: Path) -> None:
    asked = ["--report", "json:out/r.json", "--report", "junit:out/r.xml"]
    assert main(["run", "seats/once", "--target", "doubler", "--target", "honest", *asked]) == 1
    report = load(Path("out/r.json").read_text(), "r.json")
    assert [target.card.name for target in report.targets] == ["doubler", "honest"]
    assert report.footer.verdicts == {"fail": 1, "pass": 1}
    assert (report.footer.exit_code, report.header.suite) == (1, "2026.1")
    assert "pydantic" in report.header.packages
    root = ElementTree.fromstring(Path("out/r.xml").read_text())
    assert (root.get("tests"), root.get("failures")) == ("2", "1")
    assert Path("out/r.json").read_text() == Path(".loopcheck/last/report.json").read_text()


def test_a_run_of_nothing_is_not_green(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "seats/needy", "--target", "honest"]) == 5
    told = capsys.readouterr()
    assert told.out.rstrip().endswith("exit 5")
    assert told.err.startswith("loopcheck: nothing ran: no chosen case has ")


@pytest.mark.parametrize("target", ["mute", "gone"])
def test_a_broken_target_is_told_once(
    project: Path, capsys: pytest.CaptureFixture[str], target: str
) -> None:
    assert main(["run", "--target", target]) == 4
    out = capsys.readouterr().out
    assert out.count(f"BROKEN target {target}: ") == 1
    assert out.rstrip().endswith("exit 4")
    assert f"what is wrong with its description: loopcheck doctor {target}" in out


def test_a_target_that_hangs_before_it_starts(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "asleep.py").write_text("import time\ntime.sleep(600)\n")
    monkeypatch.setattr(trial, "NOTICE_SECONDS", 0.0)
    monkeypatch.setattr(trial, "START_SECONDS", 0.5)
    assert main(["run", "--target", "asleep:loop"]) == 4
    told = capsys.readouterr()
    assert told.err.startswith("waiting for target asleep:loop to start, at most 0.5 s: ")
    assert "BROKEN target asleep:loop: it did not answer hello within 0.5 s and was" in told.out


def test_a_target_may_be_named_by_module(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "seats/once", "--target", "trial:honest"]) == 0
    assert "target trial:honest " in capsys.readouterr().out


def test_doctor_of_a_target_that_is_ready(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["doctor", "honest"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "target    honest"
    assert "dialects  chat" in lines
    assert lines[-2].startswith("smoke[chat-whole]       ok   ")
    assert lines[-1] == "ready for trial: loopcheck run --target honest"


def test_doctor_says_what_is_wrong(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "mute"]) == 4
    out = capsys.readouterr().out
    assert "smoke[chat-stream]      WRONG: it sent no request to task.base_url" in out
    assert out.endswith("1 smoke case went wrong; put this right before a trial\n")


def test_doctor_of_a_target_that_is_not_there(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["doctor", "gone"]) == 4
    out = capsys.readouterr().out
    assert out.startswith("BROKEN target gone: ")
    assert "nowhere" in out


def test_targets_are_on_trial_at_a_time(project: Path) -> None:
    both = ["--target", "patient", "--target", "honest"]
    assert main(["run", "seats/once", *both, "--jobs", "2"]) == 0


def test_they_are_told_of_one_after_the_other(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = []
    for jobs in ("1", "3"):
        targets = ["--target", "doubler", "--target", "honest", "--target", "mute"]
        assert main(["run", "seats/once", *targets, "--jobs", jobs]) == 4
        told.append(re.sub(r"\d+\.\d+ s", "? s", capsys.readouterr().out))
    assert told[0] == told[1]
    assert re.findall(r"^suite 2026.1 · target (\w+)", told[1], re.MULTILINE) == [
        "doubler",
        "honest",
        "mute",
    ]


@pytest.mark.parametrize("other", ["honest", "stuck"])
@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.skipif(os.name != "posix", reason="signals of a terminal")
def test_an_interrupt_leaves_nothing_running(project: Path, other: str, jobs: str) -> None:
    # A shell starts what it puts in the background with interrupts ignored, tests included.
    heeding = "signal.signal(signal.SIGINT, signal.default_int_handler)"
    code = (
        f"import signal, sys; {heeding}; from loopcheck.harness.cli import main; sys.exit(main())"
    )
    command = [sys.executable, "-c", code]
    with subprocess.Popen(
        [*command, "run", "--target", "stuck", "--target", other, "--jobs", jobs],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        first = process.stdout.readline()
        if not first:
            pytest.fail(f"it ended before it began: {process.stderr.read()}")
        assert first.startswith("suite 2026.1 · target stuck")
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=20) == 130
        assert process.stderr.read() == "loopcheck: interrupted\n"
    workers = [int(worker) for worker in (project / "worker.pids").read_text().split()]
    assert workers
    for kill in (os.kill, os.killpg):
        for worker in workers:
            with pytest.raises(ProcessLookupError):
                kill(worker, 0)
