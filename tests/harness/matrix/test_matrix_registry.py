"""The matrices of the results: the ready-made targets under releases that lie far apart."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from loopcheck.harness.cli import main

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not os.environ.get("LOOPCHECK_LONG"),
        reason="installs SDKs from a package registry; LOOPCHECK_LONG=1 runs it",
    ),
]

MATRICES = Path(__file__).parents[2] / "matrices"


@pytest.mark.parametrize("name", ["sdks", "pydantic-ai", "openai-agents", "langchain"])
def test_old_and_new_releases_are_put_on_trial(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("uv", reason="needs uv: pip install 'loopcheck[matrix]'")
    monkeypatch.chdir(tmp_path)
    shutil.copy(MATRICES / f"{name}.yaml", tmp_path)
    scenario = ["--scenario", "once/retry-model-not-tools", "--report", "json:m.json"]
    main(["matrix", f"{name}.yaml", *scenario])
    cells = json.loads((tmp_path / "m.json").read_text())["cells"]
    messages = [cell["trouble"]["message"] for cell in cells if cell["trouble"]]
    if any("fetch" in message or "connect" in message for message in messages):
        pytest.skip(f"no package registry is to be reached: {messages[0]}")
    assert {cell["status"] for cell in cells} == {"ran"}
    assert all(set(cell["verdicts"]) == {"pass"} for cell in cells)
