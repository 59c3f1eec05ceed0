"""The wheelhouse, made once, and uv told to look nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest
import wheelhouse


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the made-up packages and with what loopcheck needs."""
    return wheelhouse.write(tmp_path_factory.mktemp("house") / "wheels")


@pytest.fixture
def offline(wheels: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """uv finds the wheelhouse and no registry, and keeps a cache of its own."""
    pytest.importorskip("uv", reason="needs uv: pip install 'loopcheck[matrix]'")
    monkeypatch.setenv("UV_FIND_LINKS", str(wheels))
    monkeypatch.setenv("UV_NO_INDEX", "1")
    monkeypatch.setenv("UV_OFFLINE", "1")
    return wheels
