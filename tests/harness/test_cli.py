"""The command line: what is refused in one line, and what the light commands print."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from loopcheck.harness.cli import main

GOOD = """\
format: 1
title: A look-up is answered
rule: A result goes back under its own call.
prompt: Where is it?
tools:
  get_order: {kind: read, args: {id: string}}
turns:
  - calls: [{as: order, tool: get_order, args: {id: A-1}}]
  - say: Shipped.
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with one scenario and one target, as the current folder."""
    folder = tmp_path / "qa" / "scenarios" / "orders"
    folder.mkdir(parents=True)
    (folder / "answered.yaml").write_text(GOOD)
    (tmp_path / "loopcheck.toml").write_text(
        'scenarios = ["qa/scenarios"]\n[targets]\nbooking = "qa.trial:loop"\n'
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refused(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    """The one line that a command which was refused writes to stderr."""
    assert main(argv) == 2
    told = capsys.readouterr()
    assert told.out == ""
    (line,) = told.err.splitlines()
    return line


@pytest.mark.parametrize(
    ("argv", "line"),
    [
        ([], "say what to do: run, list, lint, show, doctor, expected, serve, drift"),
        (["rnu"], "unknown command 'rnu'; did you mean 'run'?"),
        (
            ["zzz"],
            "unknown command 'zzz'; commands: run, list, lint, show, doctor, expected, serve",
        ),
        (["--verison"], "the following arguments are required: COMMAND (see loopcheck --help)"),
        (["run", "--sed=1"], "unrecognized arguments: --sed=1 (see loopcheck --help)"),
        (
            ["run", "--report", "jsn:x"],
            "argument --report: unknown kind of report 'jsn'; did you mean 'json'? "
            "(see loopcheck run --help)",
        ),
        (
            ["run", "--report", "json"],
            "argument --report: 'json' names no file; write json:PATH (see loopcheck run --help)",
        ),
        (
            ["run", "--case-seconds", "0"],
            "argument --case-seconds: '0' is no number of seconds above 0 "
            "(see loopcheck run --help)",
        ),
        (
            ["run", "--target", "bookin"],
            "unknown target 'bookin', and no Python target as package.module:attr; "
            "did you mean 'booking'?",
        ),
        (["run", "orders/answerd"], "no case or file is named 'orders/answerd'; "),
        (["run", "--suite", "2020.1"], "--suite: unknown suite '2020.1'; "),
        (["run", "--expected", "gone.yaml"], "gone.yaml: cannot be read: No such file"),
        (["list", "orders/*[messages]"], "no case or file is named 'orders/*[messages]'"),
        (["doctor", "nobody"], "unknown target 'nobody'"),
        (
            ["run", "--report", "json:r", "--report", "junit:r"],
            "--report: two reports would be written to r",
        ),
        (["run", "--report", "json:qa"], "--report: qa cannot be written: Is a directory"),
    ],
)
def test_a_mistake_is_one_line(
    project: Path, capsys: pytest.CaptureFixture[str], argv: list[str], line: str
) -> None:
    assert refused(capsys, *argv).startswith(f"loopcheck: {line}")


def test_without_settings_run_says_which_targets_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    line = refused(capsys, "run")
    assert line.startswith("loopcheck: say which target: --target NAME")
    assert "reference, openai-sdk" in line


def test_a_mistake_in_the_settings_names_file_and_key(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "loopcheck.toml").write_text("suit = 1")
    line = refused(capsys, "list")
    assert line == (
        f"loopcheck: {project / 'loopcheck.toml'}: suit is no setting; did you mean 'suite'?"
    )


def test_hostile_arguments_are_told_inertly(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "\\x1b[31m" in refused(capsys, "run", "\x1b[31m")


def test_traceback_shows_where_a_mistake_was_found(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["doctor", "nobody", "--traceback"]) == 2
    err = capsys.readouterr().err
    assert err.startswith("Traceback (most recent call last)")
    assert err.splitlines()[-1].startswith("loopcheck: unknown target 'nobody'")


def test_a_defect_of_loopcheck_is_no_usage_error(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from loopcheck.harness.cli import listing

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("oops")

    monkeypatch.setattr(listing, "select", fail)
    assert main(["list"]) == 70
    assert capsys.readouterr().err == (
        "loopcheck: RuntimeError: oops (a defect of loopcheck; --traceback shows where)\n"
    )


def test_an_interrupt_ends_with_130(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from loopcheck.harness.cli import listing

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(listing, "select", interrupt)
    assert main(["list"]) == 130
    assert capsys.readouterr().err == "loopcheck: interrupted\n"


def test_help_names_every_command_and_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    for word in ("run", "list", "lint", "show", "doctor", "expected", "5 nothing ran"):
        assert word in out


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"loopcheck {metadata.version('loopcheck')}\n"


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys; from loopcheck.harness.cli import main; main(['run', '--help']); "
        "print(sorted({'pydantic', 'yaml', 'jsonschema', 'asyncio'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_reader_that_goes_away_is_no_error() -> None:
    code = (
        "import sys; from loopcheck.harness.cli import main; sys.exit(main(['list', '--targets']))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is always full")
def test_a_full_disk_is_no_defect_of_loopcheck(tmp_path: Path) -> None:
    code = "import sys; from loopcheck.harness.cli import main; sys.exit(main())"
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, "-c", code, "schema", "scenario"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr == (
        "loopcheck: standard output or a file cannot be written: No space left on device\n"
    )


def test_what_was_printed_before_a_disk_was_full_is_kept(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(options: object) -> int:
        print("found so far")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "report.json")

    monkeypatch.setattr("loopcheck.harness.cli.schema.run", full)
    assert main(["schema", "scenario"]) == 2
    said = capsys.readouterr()
    assert said.out == "found so far\n"
    assert said.err == "loopcheck: report.json cannot be written: No space left on device\n"


def test_list_shows_scenarios_with_their_cases(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["list"]) == 0
    assert capsys.readouterr().out == (
        "orders/answered   6 cases  A look-up is answered\n1 scenario, 6 cases\n"
    )


@pytest.mark.parametrize(
    ("pattern", "cases"),
    [
        ("orders/answered[chat-*]", ["chat-whole", "chat-stream"]),
        ("orders/answered[*-stream]", ["responses-stream", "chat-stream", "messages-stream"]),
        ("orders/answered[messages-whole]", ["messages-whole"]),
    ],
)
def test_list_cases_takes_globs_with_literal_brackets(
    project: Path, capsys: pytest.CaptureFixture[str], pattern: str, cases: list[str]
) -> None:
    assert main(["list", "--cases", pattern]) == 0
    assert capsys.readouterr().out.splitlines() == [f"orders/answered[{case}]" for case in cases]


@pytest.mark.parametrize(
    "pattern",
    ["orders", "orders/", "qa/scenarios", "qa/scenarios/orders/answered.yaml", "qa/**/*.yaml"],
)
def test_folders_files_and_globs_of_files_name_cases_too(
    project: Path, capsys: pytest.CaptureFixture[str], pattern: str
) -> None:
    assert main(["list", "--cases", pattern]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 6


def test_several_patterns_name_each_case_once(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["list", "--cases", "orders/answered[chat-*]", "*[*-whole]"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"orders/answered[{case}]"
        for case in ("chat-whole", "chat-stream", "responses-whole", "messages-whole")
    ]


def test_list_targets_shows_the_projects_and_the_ready_made(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["list", "--targets"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == (
        "reference         loopcheck.harness.targets.reference:reference  (ready-made)"
    )
    assert lines[-1] == "booking           qa.trial:loop  (loopcheck.toml)"


def test_lint_of_good_files(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lint"]) == 0
    assert capsys.readouterr().out == ("qa/scenarios/orders/answered.yaml: ok\n1 file, 0 errors\n")


def test_lint_names_line_and_column_of_every_error(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = project / "qa" / "scenarios" / "orders" / "bad.yaml"
    bad.write_text(GOOD.replace("kind: read", "kind: read, behave: normal"))
    assert main(["lint", "qa/scenarios"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "qa/scenarios/orders/answered.yaml: ok"
    assert lines[1].startswith("qa/scenarios/orders/bad.yaml:6:27: error: unknown key 'behave'")
    assert lines[2] == "    did you mean 'behaves'?"
    assert lines[-1] == "2 files, 1 error"


def test_lint_of_nothing_is_a_usage_error(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert refused(capsys, "lint", "qa/gone").startswith("loopcheck: qa/gone: error: no scenario")


def test_an_entry_is_added_and_the_list_begun(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    add = ["expected", "add", "orders/answered[*-stream]", "--kind", "bug", "--reason", "known"]
    assert main([*add, "--check", "effect.once", "--target", "booking"]) == 0
    path = project / "loopcheck-expected.yaml"
    assert capsys.readouterr().out == f"{path}: added orders/answered[*-stream]\n"
    assert path.read_text() == (
        "format: 1\nentries:\n  - case: orders/answered[*-stream]\n    check: effect.once\n"
        "    target: booking\n    kind: bug\n    reason: known\n"
    )


@pytest.mark.parametrize(
    ("argv", "line"),
    [
        (["orders/gone[*]", "--check", "c"], "no case or file is named 'orders/gone[*]'"),
        (["qa/scenarios", "--check", "c"], "'qa/scenarios' names no case; "),
        (
            ["orders/answered", "--check", "effect.once", "--target", "x"],
            "unknown target 'x'",
        ),
        (
            ["orders/answered", "--check", "efect.once"],
            "--check: unknown check 'efect.once'; did you mean 'effect.once'?",
        ),
        (["orders/answered"], "the entry has no 'check'"),
    ],
)
def test_an_entry_that_would_mean_nothing_is_refused(
    project: Path, capsys: pytest.CaptureFixture[str], argv: list[str], line: str
) -> None:
    told = refused(capsys, "expected", "add", "--kind", "bug", "--reason", "r", *argv)
    assert line in told
    assert not (project / "loopcheck-expected.yaml").exists()


@pytest.mark.parametrize(
    ("is_terminal", "said"), [(True, " known \n"), (True, "\n"), (False, "known")]
)
def test_the_reason_is_asked_for_on_a_terminal(
    project: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    is_terminal: bool,
    said: str,
) -> None:
    monkeypatch.setattr("builtins.input", lambda prompt: said)
    monkeypatch.setattr("sys.stdin.isatty", lambda: is_terminal, raising=False)
    add = ["expected", "add", "orders/answered[*]", "--kind", "flaky"]
    path = project / "loopcheck-expected.yaml"
    if is_terminal and said.strip():
        assert main(add) == 0
        assert path.read_text().endswith("    kind: flaky\n    reason: known\n")
    else:
        assert "--reason: say why it is acceptable for now" in refused(capsys, *add)
        assert not path.exists()


def test_update_needs_a_run(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "loopcheck-expected.yaml").write_text("format: 1\n")
    line = refused(capsys, "expected", "update")
    assert line.endswith("stale entries are found by 'loopcheck run'")


def test_show_plays_the_scenario_in_one_dialect(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", "orders/answered", "--dialect", "chat"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("request 1 expected: ")
    assert "get_order" in lines[0]
    assert any(line.startswith("turn 1 · 1 call") and "stream" in line for line in lines)


@pytest.mark.parametrize(
    ("argv", "line"),
    [
        (
            ["orders/answered[chat-whole]", "--mode", "stream"],
            "'orders/answered[chat-whole]' has no such case; it has chat-whole",
        ),
        (["orders/*"], "'orders/*' names 2 scenarios; name one"),
    ],
)
def test_show_wants_one_case(
    project: Path, capsys: pytest.CaptureFixture[str], argv: list[str], line: str
) -> None:
    (project / "qa" / "scenarios" / "orders" / "second.yaml").write_text(GOOD)
    assert refused(capsys, "show", *argv) == f"loopcheck: {line}"
