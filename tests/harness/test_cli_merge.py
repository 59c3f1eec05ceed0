"""`loopcheck run --shard` and `loopcheck merge`, from the cases to the joined reports."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

from loopcheck.harness.cli import main
from loopcheck.harness.results import Part, Report
from loopcheck.harness.shards import number_of
from loopcheck.reports.json_report import dump, read

SCENARIO = """\
format: 1
title: A question is answered
rule: An answer is handed on.
prompt: Hello.
dialects: [chat]
modes: [whole]
tools:
  check: {kind: read, args: {seat: integer}}
turns:
  - calls: [{as: look, tool: check, args: {seat: 12}}]
  - say: Hello.
"""
LOOP = Path(__file__).with_name("stdlib_loop.py")
LISTED = """\
format: 1
entries:
  - {case: "s/*", check: outcome.named, kind: bug, reason: it was so once}
"""
NAMES = ("one", "two", "three", "four")
FIRST = [name for name in NAMES if number_of(f"s/{name}[chat-whole]", 2) == 1]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a few scenarios and one target, as the current folder."""
    (tmp_path / "scenarios" / "s").mkdir(parents=True)
    for name in NAMES:
        (tmp_path / "scenarios" / "s" / f"{name}.yaml").write_text(SCENARIO)
    (tmp_path / "trial.py").write_text(LOOP.read_text())
    (tmp_path / "loopcheck.toml").write_text(
        'scenarios = ["scenarios"]\n[targets]\nhonest = "trial:honest"\n'
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


def names(report: Report) -> list[str]:
    return [case.scenario.removeprefix("s/") for case in report.targets[0].cases]


def test_shards_are_run_and_joined(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 < len(FIRST) < len(NAMES)
    for number in (1, 2):
        code = main(["run", "--shard", f"{number}/2", "--report", f"json:{number}.json"])
        assert code == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith(f" · {len(FIRST)} cases, chat · shard 1/2")
    one, two = read(project / "1.json"), read(project / "2.json")
    assert sorted(names(one)) == sorted(FIRST)
    assert sorted(names(one) + names(two)) == sorted(NAMES)
    assert isinstance(one.header.shard, Part)
    assert (str(one.header.shard), str(two.header.shard)) == ("1/2", "2/2")
    written = ["-o", "all.json", "--report", "html:all.html", "--report", "junit:all.xml"]
    assert main(["merge", "2.json", "1.json", *written]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[0].endswith(" · 4 cases, chat")
    assert told[-1].endswith("exit 0")
    assert not any("s/one" in line for line in told)
    whole = read(project / "all.json")
    assert (whole.header.shard, whole.footer.verdicts) == (None, {"pass": 4})
    assert (project / "all.html").read_text().startswith("<!doctype html>")
    assert 'tests="4"' in (project / "all.xml").read_text()


def test_a_shard_without_cases_is_no_failure(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = "2/2" if number_of("s/one[chat-whole]", 2) == 1 else "1/2"
    assert main(["run", "s/one", "--shard", other, "--report", "html:x.html"]) == 0
    assert " · 0 cases · shard " in capsys.readouterr().out
    assert f"<dt>shard</dt><dd>{other}</dd>" in (project / "x.html").read_text()


def test_what_is_stale_is_told_of_the_cases_of_each_shard_and_joined(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "loopcheck-expected.yaml").write_text(LISTED)
    reports = []
    for number in (1, 2):
        assert main(["run", "--shard", f"{number}/2", "--report", f"json:{number}.json"]) == 3
        reports.append(read(project / f"{number}.json"))
    for report in reports:
        (target,) = report.targets
        told = [line.partition("[")[0].removeprefix("s/") for line in target.stale]
        assert told == names(report)
    assert main(["merge", "1.json", "2.json", "-o", "all.json"]) == 3
    assert len(read(project / "all.json").targets[0].stale) == len(NAMES)
    capsys.readouterr()
    assert main(["expected", "update"]) == 2
    assert capsys.readouterr().err == (
        f"loopcheck: {project}/.loopcheck/last/report.json is shard 2/2 of a run: cases of the "
        "others may still need an entry; join them with 'loopcheck merge', and give that with "
        "--report\n"
    )
    assert main(["expected", "update", "--report", "all.json"]) == 0
    assert "removed s/*" in capsys.readouterr().out


@cache
def written(number: int) -> str:
    """The report of a shard of the project, which the first that asks for it has to be in."""
    main(["run", "--shard", f"{number}/2", "--report", "json:written.json"])
    return Path("written.json").read_text()


def shard(number: int, folder: Path) -> Path:
    """The report of a shard, as its run has written it."""
    path = folder / f"{number}.json"
    path.write_text(written(number))
    return path


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda text: text[:400], "2.json: ends in the middle; "),
        (lambda text: "{}", "2.json: not a loopcheck report (it has no header that says so); "),
        (
            lambda text: text.replace('"format": 1', '"format": 9'),
            "2.json: written by a newer loopcheck (format 9; this one reads 1); ",
        ),
        (
            lambda text: text.replace('"pass": ', '"policy": '),
            "2.json: changed by hand: its footer counts ",
        ),
        (
            lambda text: text.replace('"of": 2', '"of": 0'),
            "2.json: damaged at header.shard.of: Input should be greater than or equal to 1; ",
        ),
        (
            lambda text: text.replace('"suite": "2026.1"', '"suite": "2025.4"'),
            "2.json: header.suite is '2025.4', and '2026.1' in 1.json; ",
        ),
        (None, "target 'honest': shard 2 of 2 is missing beside 1.json; "),
    ],
)
def test_what_cannot_be_joined_is_said_in_one_line(
    project: Path, capsys: pytest.CaptureFixture[str], spoil: object, message: str
) -> None:
    given = [shard(1, project).name]
    if callable(spoil):
        path = shard(2, project)
        path.write_text(str(spoil(path.read_text())))
        given.append(path.name)
    capsys.readouterr()
    assert main(["merge", *given, "-o", "all.json"]) == 2
    told = capsys.readouterr()
    assert told.err.startswith(f"loopcheck: {message}")
    assert (told.out, len(told.err.splitlines())) == ("", 1)
    assert not (project / "all.json").exists()


def test_a_part_says_what_it_is_in_every_kind(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shard(1, project)
    kinds = ["--report", "markdown:a.md", "--report", "junit:a.xml", "-o", "a.json"]
    assert main(["merge", "1.json", "--partial", *kinds]) == 0
    assert ", shard 1/2)" in (project / "a.md").read_text().splitlines()[0]
    assert '<property name="shard" value="1/2" />' in (project / "a.xml").read_text()
    assert json.loads((project / "a.json").read_text())["header"]["shard"]["numbers"] == [1]


def test_a_failure_in_one_shard_fails_the_whole(project: Path) -> None:
    one, two = (read(shard(number, project)) for number in (1, 2))
    case = two.targets[0].cases[0].model_copy(update={"verdict": "fail"})
    target = two.targets[0].model_copy(update={"cases": (case, *two.targets[0].cases[1:])})
    left = len(target.cases) - 1
    verdicts = {"fail": 1, **({"pass": left} if left else {})}
    footer = two.footer.model_copy(update={"verdicts": verdicts, "exit_code": 1})
    failing = two.model_copy(update={"targets": (target,), "footer": footer})
    (project / "2.json").write_text(dump(failing))
    assert one.footer.exit_code == 0
    assert main(["merge", "1.json", "2.json"]) == 1


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["run", "--shard", "3/2"], "argument --shard: '3/2' is no shard; of 2 shards there are"),
        (["merge"], "the following arguments are required: REPORT.json"),
        (["merge", "gone.json"], "gone.json: cannot be read: No such file or directory"),
        (["mrge"], "unknown command 'mrge'; did you mean 'merge'?"),
    ],
)
def test_a_mistake_is_one_line(
    project: Path, capsys: pytest.CaptureFixture[str], argv: list[str], message: str
) -> None:
    assert main(argv) == 2
    assert capsys.readouterr().err.startswith(f"loopcheck: {message}")
