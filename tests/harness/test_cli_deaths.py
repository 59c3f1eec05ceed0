"""`loopcheck run --deaths`: what is run, printed, reported and run again."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from xml.etree import ElementTree

import pytest
from dying_loops import TARGETS

from loopcheck.harness.cli import main
from loopcheck.reports.json_report import load

SCENARIO = """\
format: 1
title: A seat is reserved
rule: A write is executed once.
prompt: Reserve seat 12.
dialects: [chat]
modes: [whole]
tools:
  reserve: {kind: write, args: {seat: integer}, operation: [seat], lookup: found}
turns:
  - calls: [{as: seat, tool: reserve, args: {seat: 12}}]
"""
OTHER = SCENARIO.replace("as: seat", "as: other")
SETTINGS = """\
scenarios = ["scenarios"]
[targets]
careful = "dying:careful"
forgetful = "dying:forgetful"
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A project with two targets and two scenarios, as the current folder."""
    folder = tmp_path / "scenarios" / "once"
    folder.mkdir(parents=True)
    (folder / "seat.yaml").write_text(SCENARIO)
    (folder / "other.yaml").write_text(OTHER)
    (tmp_path / "dying.py").write_text(TARGETS)
    (tmp_path / "loopcheck.toml").write_text(SETTINGS)
    monkeypatch.chdir(tmp_path)


def without_seconds(text: str) -> list[str]:
    return re.sub(r" +[0-9.]+ s$", "", text, flags=re.MULTILINE).splitlines()


def test_a_loop_that_books_again_is_caught_between_the_booking_and_its_record(
    capsys: pytest.CaptureFixture[str],
) -> None:
    reports = ["--report", "json:r.json", "--report", "junit:r.xml"]
    assert main(["run", "once/seat", "--target", "forgetful", "--deaths", "all", *reports]) == 1
    out = capsys.readouterr().out
    lines = without_seconds(out)
    assert lines[0].endswith(" · 1 case, chat")
    told = [line.split() for line in lines[2:10]]
    # Once a response is sent, the loop goes on while it is being killed.
    assert [name for name, _ in told if name.endswith(".sent")] == [
        "+death@turn1.sent",
        "+death@turn2.sent",
    ]
    assert [one for one in told if not one[0].endswith(".sent")] == [
        ["once/seat[chat-whole]", "pass"],
        ["+death@turn1.asked", "pass"],
        ["+death@seat.started", "FAIL"],
        ["+death@seat.committed", "FAIL"],
        ["+death@seat.ended", "FAIL"],
        ["+death@turn2.asked", "pass"],
    ]
    failed = sum(word == "FAIL" for _, word in told)
    passed = 8 - failed
    counted = f"forgetful, 1 case, 7 deaths: {passed} pass, {failed} FAIL (must), "
    assert lines[-1].startswith(counted)
    report = load(Path("r.json").read_text(), "r.json")
    assert (report.footer.cases, report.footer.verdicts) == (8, {"pass": passed, "fail": failed})
    (found,) = {f.check for case in report.targets[0].cases for f in case.findings[:1]}
    assert found == "execution.once"
    suite = ElementTree.fromstring(Path("r.xml").read_text())[0]
    assert (suite.get("tests"), suite.get("failures")) == ("8", str(failed))
    assert {test.get("classname") for test in suite.iter("testcase")} == {"forgetful.once.seat"}

    rerun = re.search(r"rerun +loopcheck (.*)", out)
    assert rerun is not None
    # The first that failed is shown, which may be one behind a response.
    command = re.sub(r"death@[a-z0-9.]+", "death@seat.started", rerun[1])
    assert main(shlex.split(command)) == 1
    again = without_seconds(capsys.readouterr().out)
    assert again[2] == "once/seat[chat-whole]+death@seat.started    FAIL"
    assert again[-1].startswith("forgetful, 1 death: 0 pass, 1 FAIL (must), ")


def test_a_named_point_is_run_alone_and_where_it_can_come(
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked = ["--deaths", "seat.ended", "--deaths", "seat.ended.2"]
    assert main(["run", "--target", "careful", *asked]) == 0
    lines = without_seconds(capsys.readouterr().out)
    assert [line.split()[:2] for line in lines[2:4]] == [
        ["once/seat[chat-whole]+death@seat.ended", "pass"],
        ["once/seat[chat-whole]+death@seat.ended.2", "not"],
    ]
    assert lines[-1].startswith("careful, 2 deaths: 1 pass, ")
    assert "1 not exercised" in lines[-1]


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (["--deaths", "seat.comitted"], "is no point of 'seat'; did you mean 'committed'?"),
        (["--deaths", "run.ended"], "no point at which a run can die"),
        (["--deaths", "sheet.started"], "names no call; calls here: "),
        (["--rivals"], "--rivals says how runs are resumed behind deaths; add --deaths all"),
        (["once/seat+death@seat.gone"], "'seat.gone' is no point of 'seat'"),
    ],
)
def test_a_death_that_no_case_can_have_is_a_mistake(
    capsys: pytest.CaptureFixture[str], asked: list[str], told: str
) -> None:
    assert main(["run", "--target", "careful", *asked]) == 2
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("glob", ["once/seat[chat-whole]+death@seat.ended", "once/*[*]+death@*"])
def test_a_death_can_be_listed_as_known_to_fail(glob: str) -> None:
    why = ["--check", "execution.once", "--kind", "bug", "--reason", "known"]
    assert main(["expected", "add", glob, *why]) == 0
    assert glob in Path("loopcheck-expected.yaml").read_text()
