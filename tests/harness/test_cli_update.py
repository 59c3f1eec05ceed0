"""`loopcheck expected update` removes what a run has shown to be stale, and no more."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from result_cases import finding, judged, target

from loopcheck.harness.cli import main
from loopcheck.harness.results import CaseResult, Footer, Header, Report
from loopcheck.reports.json_report import dump

LIST = """\
format: 1
entries:
  # Mended at last.
  - case: a/mended[*]
    check: effect.once
    kind: bug
    reason: known
  - case: b/half[*]
    check: effect.once
    kind: bug
    reason: known
  - case: c/still[*]
    check: effect.once
    kind: bug
    reason: known
"""
FAILS = finding("effect.once")


def report(*cases: CaseResult) -> str:
    header = Header(loopcheck="0", suite="s", seed=0, python="3", platform="p", started="now")
    verdicts = Counter(str(case.verdict) for case in cases)
    footer = Footer(targets=1, cases=len(cases), verdicts=verdicts, exit_code=3, seconds=0)
    return dump(Report(header=header, targets=(target(*cases),), footer=footer))


def update(folder: Path, text: str, *argv: str) -> str:
    last = folder / ".loopcheck" / "last"
    last.mkdir(parents=True)
    (last / "report.json").write_text(text)
    (folder / "loopcheck-expected.yaml").write_text(LIST)
    assert main(["expected", "update", *argv]) == 0
    return (folder / "loopcheck-expected.yaml").read_text()


def test_only_what_no_case_needs_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    text = update(
        tmp_path,
        report(
            judged("a/mended[chat-stream]", verdict="stale"),
            judged("b/half[chat-stream]"),
            judged("b/half[chat-whole]", FAILS, verdict="expected"),
            judged("c/still[chat-stream]", FAILS),
        ),
    )
    start, end = LIST.index("  - case: a/"), LIST.index("  - case: b/")
    assert text == LIST[:start] + LIST[end:]
    path = tmp_path / "loopcheck-expected.yaml"
    assert capsys.readouterr().out.splitlines() == [
        f"{path}:4: removed a/mended[*], listed as bug (effect.once)",
        f"{path}:8: kept b/half[*]; narrow it by hand: needed by b/half[chat-whole]; "
        "no longer by b/half[chat-stream]",
    ]


def test_nothing_stale_is_no_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert update(tmp_path, report(judged("c/still[chat-stream]", FAILS))) == LIST
    assert capsys.readouterr().out.endswith("nothing in it is stale\n")


def test_a_report_that_was_cut_off_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loopcheck-expected.yaml").write_text(LIST)
    (tmp_path / "r.json").write_text(report()[:80])
    assert main(["expected", "update", "--report", "r.json"]) == 2
    assert capsys.readouterr().err == (
        "loopcheck: r.json: ends in the middle; the file was cut off; copy it again whole, or run "
        "it again\n"
    )
