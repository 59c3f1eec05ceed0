"""`loopcheck report` and `loopcheck diff`, and how reports are written."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path

import pytest
from result_cases import finding, judged, target

from loopcheck.harness.cli import main
from loopcheck.harness.cli.arguments import UsageError
from loopcheck.harness.cli.rendering import write
from loopcheck.harness.results import CaseResult, Footer, Header, Report
from loopcheck.reports.json_report import dump

FAILING = judged("once/a[chat-stream]", finding("effect.once"))
PASSING = judged("once/a[chat-stream]")


def report(*cases: CaseResult) -> str:
    header = Header(loopcheck="0", suite="s", seed=0, python="3", platform="p", started="now")
    verdicts = Counter(str(case.verdict) for case in cases)
    footer = Footer(targets=1, cases=len(cases), verdicts=verdicts, exit_code=1, seconds=0)
    return dump(Report(header=header, targets=(target(*cases),), footer=footer))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with the report of a run that fails and of one that passes."""
    (tmp_path / "bad.json").write_text(report(FAILING))
    (tmp_path / "good.json").write_text(report(PASSING))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_without_a_wish_what_the_run_printed_is_printed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", "bad.json"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("suite s · target booking (openai 3.57.0, anthropic 2.14.0)")
    assert "\nFAIL once/a[chat-stream]" in out
    assert "  mend          Key a write by an operation id" in out


def test_a_report_is_rendered_later_in_each_kind(folder: Path) -> None:
    kinds = {"html": "a.html", "markdown": "a.md", "junit": "sub/a.xml", "json": "b.json"}
    wishes = [word for kind, path in kinds.items() for word in ("--to", f"{kind}:{path}")]
    assert main(["report", "bad.json", *wishes]) == 0
    assert (folder / "a.html").read_text().startswith("<!doctype html>")
    assert (folder / "a.md").read_text().startswith("### loopcheck: 1 of 1 case failing")
    assert (folder / "sub/a.xml").read_text().startswith("<?xml")
    assert (folder / "b.json").read_text() == (folder / "bad.json").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.json"], "none.json: cannot be read: No such file or directory; "),
        (["bad.json", "--to", "htm:x"], "unknown kind of report 'htm'; did you mean 'html'?"),
        (["bad.json", "--to", "html:"], "'html:' names no file; write html:PATH"),
        (["bad.json", "--to", "html:x", "--to", "junit:x"], "--to: two reports would be written"),
        (["bad.json", "--to", "html:bad.json/x"], "--to: bad.json/x cannot be written: "),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert main(["report", *arguments]) == 2
    err = capsys.readouterr().err
    assert message in err
    assert len(err.splitlines()) == 1


def test_a_regression_and_nothing_else_makes_exit_code_1(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diff", "good.json", "bad.json"]) == 1
    out = capsys.readouterr().out
    assert out.splitlines()[0] == "good.json -> bad.json"
    assert out.splitlines()[-1] == "1 regressed, 0 fixed, 0 unchanged"
    assert main(["diff", "bad.json", "good.json"]) == 0
    assert main(["diff", "bad.json", "bad.json"]) == 0


@pytest.mark.parametrize(
    ("kind", "start"),
    [
        ("markdown", "### loopcheck: 1 regressed in 1 target (suite s)"),
        ("html", "<!doctype html>"),
        ("json", '{\n  "format": 1,'),
        ("terminal", "good.json -> bad.json"),
    ],
)
def test_each_format_of_a_comparison(
    folder: Path, capsys: pytest.CaptureFixture[str], kind: str, start: str
) -> None:
    assert main(["diff", "good.json", "bad.json", "--format", kind]) == 1
    assert capsys.readouterr().out.startswith(start)


def test_a_comparison_as_json_counts(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["diff", "good.json", "bad.json", "--format", "json"])
    assert json.loads(capsys.readouterr().out)["counts"]["regressed"] == 1


def test_a_damaged_side_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "cut.json").write_text(report(FAILING)[:300])
    assert main(["diff", "good.json", "cut.json"]) == 2
    assert capsys.readouterr().err.startswith("loopcheck: cut.json: ends in the middle; ")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
def test_a_full_disk_costs_no_other_report(tmp_path: Path) -> None:
    full, good = Path("/dev/full"), tmp_path / "good"
    with pytest.raises(UsageError, match=r"^--report: /dev/full cannot be written: No space left"):
        write({full: "x" * 100_000, good: "kept"}, "--report")
    assert good.read_text() == "kept"
