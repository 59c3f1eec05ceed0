"""`loopcheck new`: a right scenario from a few answers, and nothing written otherwise."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from loopcheck.harness.cli import main
from loopcheck.harness.cli.answers import TWISTS
from loopcheck.harness.scenario import json_schema
from loopcheck.harness.scenario.answers import SAMPLES
from loopcheck.harness.scenario.json_text import whole_object
from loopcheck.harness.scenario.load import load_file

SEAT = ["--title", "A seat is kept", "--rule", "One call keeps one seat.", "--tool", "book:write"]
ARGS = ["--args", "event:string,seat:integer"]
CUT = """\
# yaml-language-server: $schema=../scenario.schema.json
format: 1
title: A seat is kept
rule: One call keeps one seat.
modes: [stream]
prompt: 'Use book with event "A-1", seat 12.'

tools:
  book: {kind: write, args: {event: string, seat: integer}}

turns:
  - calls:
      - as: call
        tool: book
        raw_args: '{"event":"A-1","seat":1'
        meant: {event: A-1, seat: 12}
    stop: length
  - say: It was not done.
    optional: true

expect:
  must: {executions: {book: 0}, effects: {book: 0}, results: {call: {any_of: [error, none]}}}
"""


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project as the current folder, and no terminal."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    return tmp_path


def refused(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    assert main(["new", *argv]) == 2
    told = capsys.readouterr()
    (line,) = told.err.splitlines()
    return line


def test_flags_make_a_file_and_bring_the_schema(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["new", "scenarios/once/seat.yaml", *SEAT, *ARGS, "--twist", "cut"]) == 0
    assert capsys.readouterr().out == (
        "scenarios/once/seat.yaml: written\nscenarios/scenario.schema.json: written\n"
    )
    assert (folder / "scenarios/once/seat.yaml").read_text() == CUT
    assert (folder / "scenarios/scenario.schema.json").read_text() == json_schema.text()


def test_the_schema_that_is_there_is_named_and_stays(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "scenarios").mkdir()
    (folder / "scenarios/scenario.schema.json").write_text("{}")
    assert main(["new", *SEAT]) == 0
    assert capsys.readouterr().out == "scenarios/a-seat-is-kept.yaml: written\n"
    assert (folder / "scenarios/scenario.schema.json").read_text() == "{}"
    first = (folder / "scenarios/a-seat-is-kept.yaml").read_text().splitlines()[0]
    assert first == "# yaml-language-server: $schema=scenario.schema.json"


@pytest.mark.parametrize("kind", ["read", "write"])
@pytest.mark.parametrize("type_", SAMPLES)
@pytest.mark.parametrize("twist", TWISTS)
def test_every_twist_lints_clean(folder: Path, twist: str, type_: str, kind: str) -> None:
    flags = ["--title", "T", "--rule", "R", "--tool", f"use:{kind}", "--args", f"x:{type_}"]
    assert main(["new", "new", *flags, "--twist", twist]) == 0
    scenario = load_file(folder / "new.yaml", folder)
    assert scenario.tools["use"].kind == kind
    raw = scenario.turns[0].calls[0].raw_args
    assert (raw is not None) == (twist == "cut")
    if raw is not None:
        assert whole_object(raw) is None


def test_every_twist_is_passed_by_the_reference_loop(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for twist in TWISTS:
        assert main(["new", f"scenarios/{twist}.yaml", *SEAT, *ARGS, "--twist", twist]) == 0
    assert main(["run", "scenarios", "--target", "reference"]) == 0
    assert "reference: 24 pass, 0 FAIL (must), 0 should" in capsys.readouterr().out


def test_a_terminal_is_asked_until_the_answer_is_right(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    typed = "A seat is kept\n\nOne call keeps one seat.\nbook\nbook:write\n"
    typed += "event:string,seat:int\nevent:string,seat:integer\ncot\ncut\n"
    monkeypatch.setattr(sys, "stdin", Terminal(typed))
    assert main(["new", "scenarios/once/seat"]) == 0
    assert (folder / "scenarios/once/seat.yaml").read_text() == CUT
    told = capsys.readouterr().out
    for mistake in (
        "it has to say something",
        "'book' is no tool; write NAME:read or NAME:write, the name in letters, digits, - and _",
        "'seat:int' is no argument; write NAME:TYPE, a type of string, integer, number, boolean, "
        "array, object",
        "'cot' is nothing that goes wrong; did you mean 'cut'?",
    ):
        assert f"  {mistake}\n" in told


def test_what_flags_say_is_not_asked(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal("One call keeps one seat.\n"))
    flags = ["--title", "A seat is kept", "--tool", "book:write", *ARGS, "--twist", "cut"]
    assert main(["new", "scenarios/once/seat", *flags]) == 0
    assert (folder / "scenarios/once/seat.yaml").read_text() == CUT


def test_answers_that_end_early_write_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal("A seat is kept\n"))
    line = refused(capsys)
    assert line == "loopcheck: the answers end here, and nothing was written"
    assert list(folder.iterdir()) == []


def test_a_file_that_is_there_stays(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "seat.yaml").write_text("mine")
    line = refused(capsys, "seat", *SEAT)
    assert line == "loopcheck: seat.yaml: there is such a file already, and it stays as it is"
    assert (folder / "seat.yaml").read_text() == "mine"


@pytest.mark.parametrize(
    ("argv", "line"),
    [
        ([], "--title, --rule, --tool missing, and there is no terminal to ask at"),
        (SEAT[:4], "--tool missing, and there is no terminal to ask at"),
        ([*SEAT, "--twist", "cut"], "a call without arguments cannot be cut; give --args"),
        (
            [*SEAT, "--args", "a:string,a:string"],
            "argument --args: the argument 'a' stands twice (see loopcheck new --help)",
        ),
    ],
)
def test_a_mistake_is_one_line(
    argv: list[str], line: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert refused(capsys, *argv) == f"loopcheck: {line}"
    assert list(folder.iterdir()) == []
