"""A public conformance suite from npm finds nothing in `loopcheck serve --auto` but what is
explained in docs/serve.md."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from serving import serving

VERSION = "0.6.12"
# Each stands in docs/serve.md with its reason.
EXPLAINED = {
    "responses-sse-missing-done",
    "responses-finish-present",
}
SCORED = ("models", "chat", "responses", "messages", "count-tokens")


@pytest.fixture(scope="module")
def llmprobe(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The suite's program; skips the test where it cannot be had."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        pytest.skip("llmprobe needs Node and npm, and they are not here")
    folder = tmp_path_factory.mktemp("llmprobe")
    command = ["npm", "install", "--ignore-scripts", "--no-audit", f"llmprobe@{VERSION}"]
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=30, check=False
        )
    except subprocess.TimeoutExpired:
        pytest.skip("the npm registry does not answer, so llmprobe cannot be installed")
    if done.returncode:
        pytest.skip(f"npm cannot install llmprobe: {done.stderr.splitlines()[-1:]}")
    return folder / "node_modules" / "llmprobe" / "bin" / "dist" / "llmprobe.mjs"


@pytest.mark.slow
def test_nothing_is_found_that_is_not_explained(llmprobe: Path, tmp_path: Path) -> None:
    saved = tmp_path / "report.json"
    with serving("--auto", folder=tmp_path) as url:
        command = ["node", str(llmprobe), url, "-k", "sk-own", "--model", "gpt-4.1"]
        options = ["--no-bench", "--no-save", "--no-color", "--save", str(saved)]
        subprocess.run(
            [*command, *options],
            capture_output=True,
            timeout=60,
            check=False,
            env={**os.environ, "HOME": str(tmp_path)},
        )
    conformance = json.loads(saved.read_text(encoding="utf-8"))["conformance"]
    failed = {
        failure["id"]: failure["message"]
        for result in conformance["results"]
        for failure in result["failures"]
        if failure["severity"] == "MUST"
    }
    assert set(failed) == EXPLAINED, failed
    assert {surface["surface"] for surface in conformance["bySurface"]} == set(SCORED)
    assert all(surface["total"] > 2 for surface in conformance["bySurface"])
