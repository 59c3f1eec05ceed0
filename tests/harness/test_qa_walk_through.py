"""docs/qa-walk-through.md, typed as it stands there: each command, and what it answers."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from loopcheck.harness.cli import main

PAGE = Path(__file__).parents[2] / "docs" / "qa-walk-through.md"
LOOPS = Path(__file__).with_name("stdlib_loop.py")
BLOCK = re.compile(r"^(?:```(\w+)\n(.*?)^```$|<!-- (.*?) -->$)", re.DOTALL | re.MULTILINE)
TRY = re.compile(r"try: s/(\w+)/(\w+)/")
SCENARIO = Path("scenarios/seats/cut.yaml")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project of the page: a shop whose loop completes what was cut."""
    deliver(tmp_path, "careless")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def deliver(project: Path, loop: str) -> None:
    text = LOOPS.read_text(encoding="utf-8")
    (project / "shop_trial.py").write_text(f"{text}\n\nshop = {loop}\n", encoding="utf-8")


def typed(block: str) -> list[tuple[str, list[str]]]:
    """The commands of a console block, each with the lines that it is said to print."""
    found: list[tuple[str, list[str]]] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append((line.removeprefix("$ "), []))
        else:
            found[-1][1].append(line)
    return found


def pattern(lines: list[str]) -> re.Pattern[str]:
    """`…` stands for anything, on a line of its own for any lines; seconds are never the same."""
    told = [r"[\s\S]*?" if line == "…" else known(line) for line in lines if line]
    return re.compile(r"\n+".join(told) + r"\s*\Z")


def known(line: str) -> str:
    text = re.escape(line).replace("…", "[^\\n]*")
    return re.sub(r"\d+\\\.\d\d\\ s\b", r"\\d+\\.\\d\\d\\ s", text)


@pytest.mark.slow  # several runs, each in a process of its own
def test_the_page_is_true(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    slip: tuple[str, str] | None = None
    count = 0
    for kind, body, remark in blocks:
        if kind == "toml":
            (project / "loopcheck.toml").write_text(body, encoding="utf-8")
        elif kind == "yaml":
            assert body == SCENARIO.read_text(encoding="utf-8")
        elif kind == "markdown":
            assert body in (project / "comment.md").read_text(encoding="utf-8")
        elif found := TRY.match(remark):
            slip = (found[1], found[2])
        elif remark:
            deliver(project, "honest")
        for command, lines in typed(body) if kind == "console" else ():
            count += 1
            right = SCENARIO.read_text(encoding="utf-8") if SCENARIO.exists() else ""
            if slip is not None:
                SCENARIO.write_text(right.replace(*slip), encoding="utf-8")
            main(shlex.split(command)[1:])
            if slip is not None:
                SCENARIO.write_text(right, encoding="utf-8")
                slip = None
            told = capsys.readouterr().out.strip("\n")
            assert pattern(lines).match(told), f"{command}\n{told}"
    assert count == 13
    assert (project / "report.html").is_file()
