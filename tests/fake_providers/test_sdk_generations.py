"""Delivery in process under releases of the SDKs that stand on HTTPX, and on HTTPX2."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from loopcheck.harness.matrix import own_wheel
from loopcheck.harness.matrix.uv import Uv, find

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not os.environ.get("LOOPCHECK_LONG"),
        reason="installs SDKs from a package registry; LOOPCHECK_LONG=1 runs it",
    ),
]

PROGRAM = Path(__file__).with_name("sdk_deliveries.py")
RELEASES = [
    ({"openai": "1.109.1", "anthropic": "0.125.0"}, {"openai": "httpx", "anthropic": "httpx"}),
    ({"openai": "2.54.0", "anthropic": "1.17.0"}, {"openai": "httpx", "anthropic": "httpx2"}),
    ({"openai": "3.57.0", "anthropic": "2.14.0"}, {"openai": "httpx2", "anthropic": "httpx2"}),
]


@pytest.fixture
def uv(tmp_path: Path) -> Uv:
    pytest.importorskip("uv", reason="needs uv: pip install 'loopcheck[matrix]'")
    return find(tmp_path)


@pytest.mark.parametrize(
    ("releases", "stand_on"), RELEASES, ids=[f"openai-{each['openai']}" for each, _ in RELEASES]
)
def test_a_reply_is_the_same_over_a_socket_and_in_process(
    uv: Uv, tmp_path: Path, releases: dict[str, str], stand_on: dict[str, str]
) -> None:
    python = _environment(uv, tmp_path, [f"{name}=={held}" for name, held in releases.items()])
    done = subprocess.run([python, PROGRAM], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["otherwise"] == []
    assert found["compared"] == 72
    assert found["errors"] >= 40
    assert {name: found[name] for name in releases} == {
        name: f"{held} on {stand_on[name]}" for name, held in releases.items()
    }


def _environment(uv: Uv, folder: Path, pins: list[str]) -> Path:
    """A Python with these packages and this loopcheck, for providers in process."""
    wheel = own_wheel.write(folder)
    python = folder / "env" / "bin" / "python"
    wanted = [*pins, f"loopcheck[respx] @ {wheel.as_uri()}"]
    for words in (["venv", str(folder / "env")], ["pip", "install", "--python", str(python)]):
        done = uv.run(*words, *(wanted if words[0] == "pip" else ()))
        if "fetch" in done.stderr or "connect" in done.stderr:
            pytest.skip(f"no package registry is to be reached: {done.stderr[-200:]}")
        assert done.returncode == 0, done.stderr
    return python
