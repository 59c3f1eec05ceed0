"""`loopcheck fuzz`: what it prints, what it writes, and how it ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopcheck.harness.cli import main
from loopcheck.harness.fuzz.hunt import Hunt
from loopcheck.harness.scenario.load import load_file

TARGETS = "loopcheck.harness.selftest.trial:HONEST"
LIARS = """\
from loopcheck.harness.selftest.trial import LIARS

renaming = next(one.target for one in LIARS if one.name == "Renaming")
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lying_targets.py").write_text(LIARS, encoding="utf-8")
    return tmp_path


def fuzz(*options: str) -> int:
    return main(["fuzz", "--examples", "6", "--dialect", "chat", *options])


def test_an_honest_loop_ends_with_0(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert fuzz("--target", TARGETS) == 0
    said = capsys.readouterr()
    assert said.out.startswith(f"loopcheck fuzz: {TARGETS}; chat; whole, stream; seed 0; ")
    assert "6 examples, 0 failures; covered:\n  dialects    chat-" in said.out
    assert "6/6 examples, 0 failures, " in said.err
    assert not list(folder.rglob("*.yaml"))


def test_a_failure_ends_with_1_and_leaves_its_files(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ("--target", "lying_targets:renaming", "--database", "none")
    assert fuzz(*options) == 1
    said = capsys.readouterr().out
    kept = Path(".loopcheck", "fuzz", "lying_targets.renaming", "correlation.known-id.yaml")
    assert "FAIL correlation.known-id: " in said
    assert f"  scenario  {kept}\n" in said
    assert f"  rerun     loopcheck run {kept} --target lying_targets:renaming\n" in said
    assert load_file(folder / kept, folder).turns
    assert kept.with_suffix(".jsonl").is_file()
    assert (folder / ".loopcheck/fuzz/.gitignore").read_text(encoding="utf-8") == "*\n"
    assert fuzz(*options) == 1
    assert capsys.readouterr().out == said


def test_a_target_that_cannot_be_imported_is_broken(capsys: pytest.CaptureFixture[str]) -> None:
    assert fuzz("--target", "nowhere_to_be_found:loop") == 4
    assert capsys.readouterr().out.startswith("BROKEN target nowhere_to_be_found:loop: ")


def test_an_interrupt_leaves_what_was_found(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(self: object, hunt: Hunt) -> None:
        if hunt.found:
            raise KeyboardInterrupt

    monkeypatch.setattr("loopcheck.harness.cli.fuzz._Progress.__call__", interrupted)
    assert fuzz("--target", "lying_targets:renaming", "--database", "none") == 130
    said = capsys.readouterr()
    assert "FAIL correlation.known-id: " in said.out
    assert said.err.endswith("loopcheck: interrupted\n")
    assert list(folder.rglob("correlation.known-id.yaml"))


def test_what_was_found_is_kept_where_it_is_asked_for(folder: Path) -> None:
    mine = folder / "mine.yaml"
    mine.write_text("", encoding="utf-8")
    assert fuzz("--target", "lying_targets:renaming", "--keep", ".") == 1
    assert (folder / "correlation.known-id.yaml").is_file()
    assert mine.is_file()
    assert (folder / ".hypothesis" / "examples").is_dir()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--target", TARGETS, "--examples", "0"], "'0' is no whole number above 0"),
        (["--target", TARGETS, "--database", "http://a"], "is no folder, no redis:// URL"),
        (["--target", "openai-sdk", "--dialect", "messages"], "speaks no such dialect"),
    ],
)
def test_mistakes_end_with_2(
    options: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fuzz", *options]) == 2
    assert said in capsys.readouterr().err


def test_a_target_that_cannot_be_put_on_trial_ends_with_4(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "idle_targets.py").write_text(IDLE, encoding="utf-8")
    assert fuzz("--target", "idle_targets:idle") == 4
    assert "BROKEN target idle_targets:idle: chat, whole: it sent no request" in (
        capsys.readouterr().out
    )


IDLE = """\
import loopcheck


@loopcheck.loop(dialects=["chat"])
def idle(task):
    return loopcheck.final("done")
"""


def test_without_hypothesis_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("loopcheck.harness.cli.fuzz.find_spec", lambda name: None)
    assert fuzz("--target", TARGETS) == 2
    assert "pip install 'loopcheck[fuzz]'" in capsys.readouterr().err
