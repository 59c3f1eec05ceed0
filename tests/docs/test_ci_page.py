"""The workflow on the page about CI: each of its loopcheck commands can be typed, and together
they do what the page says."""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
import yaml
from doc_pages import DOCS, blocks

from loopcheck.harness.cli import main
from loopcheck.harness.cli.arguments import parse
from loopcheck.reports.json_report import read

pytestmark = pytest.mark.skipif(not DOCS.is_dir(), reason="the tests run outside a checkout")
PAGE = DOCS / "ci.md"
Step = Mapping[str, object]
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
LOOP = Path(__file__).parents[1] / "harness" / "stdlib_loop.py"


def loaded() -> tuple[dict[str, object], list[Step]]:
    """The workflow of the page, and the steps that may be added to it."""
    workflow, steps = (yaml.safe_load(b.text) for b in blocks(PAGE) if b.language == "yaml")
    assert isinstance(workflow, dict)
    assert isinstance(steps, list)
    return workflow, steps


def jobs() -> dict[str, dict[str, object]]:
    found = loaded()[0]["jobs"]
    assert isinstance(found, dict)
    return found


def steps(job: Mapping[str, object]) -> list[Step]:
    found = job["steps"]
    assert isinstance(found, list)
    return found


def cells() -> list[dict[str, str]]:
    """What a matrix job is given, for each of its jobs."""
    strategy = jobs()["shard"]["strategy"]
    assert isinstance(strategy, dict)
    axes = strategy["matrix"]
    values = [[(name, str(one)) for one in axes[name]] for name in axes]
    return [dict(cell) for cell in itertools.product(*values)]


def commands(step: Step, cell: Mapping[str, str]) -> Iterator[list[str]]:
    """What is typed after `loopcheck` in the step of this job."""
    script = str(step.get("run", "")).replace("\\\n", " ")
    for name, value in cell.items():
        script = script.replace(f"${{{{ matrix.{name} }}}}", value)
    for line in script.splitlines():
        if line.startswith("loopcheck "):
            typed = re.split(r"\|\||>>", line)[0]
            yield shlex.split(typed)[1:]


def test_every_command_can_be_typed() -> None:
    shard, verdict = jobs()["shard"], jobs()["verdict"]
    every = [line for cell in cells() for step in steps(shard) for line in commands(step, cell)]
    every += [line for step in [*steps(verdict), *loaded()[1]] for line in commands(step, {})]
    assert [line[0] for line in every] == ["run"] * len(cells()) + ["merge", "diff"]
    for line in every:
        parse(line)


def test_the_jobs_are_all_shards_of_each_target() -> None:
    (step,) = [step for step in steps(jobs()["shard"]) if list(commands(step, {}))]
    options = [parse(line) for cell in cells() for line in commands(step, cell)]
    found = {(one.target[0], one.shard.number, one.shard.of) for one in options}
    assert found == {(t, k, 3) for t in ("booking", "support") for k in (1, 2, 3)}
    paths = [path for one in options for _, path in one.report]
    assert len(set(paths)) == len(paths) == 6


def test_a_step_that_must_not_be_skipped_after_a_failure_says_so() -> None:
    """A step without a condition of its own is skipped as soon as the trial has failed."""
    names = [str(step.get("name", step.get("uses"))) for step in steps(jobs()["verdict"])]
    behind = steps(jobs()["verdict"])[names.index("Join the shards") + 1 :]
    assert all("!cancelled()" in str(step["if"]) for step in [*behind, *loaded()[1]])
    assert "!cancelled()" in str(jobs()["verdict"]["if"])


def test_what_is_read_was_written() -> None:
    """The files that later steps name are those that `merge` and `diff` write."""
    (merge,) = [line for step in steps(jobs()["verdict"]) for line in commands(step, {})]
    options = parse(merge)
    written = {str(path) for _, path in options.report} | {str(options.output)}
    used = yaml.safe_dump([*steps(jobs()["verdict"]), *loaded()[1]], default_style="|")
    named = set(re.findall(r"[\w-]+\.(?:json|html|md|xml)", used)) - {"base.json"}
    assert named == written


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a target of the page, as the current folder."""
    (tmp_path / "scenarios").mkdir()
    for number in range(6):
        (tmp_path / "scenarios" / f"s{number}.yaml").write_text(SCENARIO)
    (tmp_path / "trial.py").write_text(LOOP.read_text())
    (tmp_path / "loopcheck.toml").write_text(
        'scenarios = ["scenarios"]\n[targets]\nbooking = "trial:honest"\n'
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_commands_do_together_what_the_page_says(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (step,) = [step for step in steps(jobs()["shard"]) if list(commands(step, {}))]
    for cell in cells():
        for line in commands(step, cell) if cell["target"] == "booking" else ():
            assert main(line) == 0
    (merge,) = [line for step in steps(jobs()["verdict"]) for line in commands(step, {})]
    pattern = next(word for word in merge if "*" in word)
    # Each artifact comes into a folder of its own.
    reports = [str(path) for path in sorted(project.glob("*.json"))]
    assert (pattern, len(reports)) == ("shards/*/*.json", 3)
    place = merge.index(pattern)
    assert main([*merge[:place], *reports, *merge[place + 1 :]]) == 0
    whole = read(project / "run.json")
    assert [target.card.name for target in whole.targets] == ["booking"]
    assert (whole.footer.cases, whole.header.shard) == (6, None)
    capsys.readouterr()
    (project / "base.json").write_text((project / "run.json").read_text())
    (diff,) = [line for step in loaded()[1] for line in commands(step, {})]
    assert main(diff) == 0
    assert capsys.readouterr().out.startswith("### loopcheck: nothing changed for better or worse")
