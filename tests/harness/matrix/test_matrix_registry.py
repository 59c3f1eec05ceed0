"""The targets over the plain SDKs, under releases that lie years apart."""

from __future__ import annotations

import json
import os
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

RELEASES = {
    "openai-sdk": ("openai==1.109.1", "openai==2.54.0", "openai==3.57.0"),
    "anthropic-sdk": ("anthropic==0.125.0", "anthropic==1.17.0", "anthropic==2.14.0"),
}


@pytest.mark.parametrize("target", RELEASES)
def test_old_and_new_releases_are_put_on_trial(
    target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("uv", reason="needs uv: pip install 'loopcheck[matrix]'")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loopcheck.toml").write_text('suite = "2026.1"\n')
    sets = [f"--set=s{number}={pin}" for number, pin in enumerate(RELEASES[target])]
    scenario = ["--scenario", "once/retry-model-not-tools", "--report", "json:m.json"]
    main(["matrix", "--target", target, *sets, *scenario])
    cells = json.loads((tmp_path / "m.json").read_text())["cells"]
    messages = [cell["trouble"]["message"] for cell in cells if cell["trouble"]]
    if any("fetch" in message or "connect" in message for message in messages):
        pytest.skip(f"no package registry is to be reached: {messages[0]}")
    assert [cell["status"] for cell in cells] == ["ran"] * 3
    assert all(set(cell["verdicts"]) == {"pass"} for cell in cells)
