"""Settings for the whole suite."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import settings
from syrupy.assertion import SnapshotAssertion

# A loaded machine is no failure; nothing here is judged by how long it took.
settings.register_profile("loopcheck", deadline=None)
settings.load_profile("loopcheck")

# pytest writes other summaries where these are set; the runs inside our tests are read back.
for name in ("CI", "BUILD_NUMBER"):
    os.environ.pop(name, None)

pytest_plugins = ["pytester"]


@pytest.fixture
def every_word(snapshot: SnapshotAssertion) -> Iterator[None]:
    """Holds what checks say of journals that a test writes to the word: tests themselves ask for
    what matters in it."""
    said: list[str] = import_module("journals").SAID
    said.clear()
    yield
    assert "\n".join(said) == snapshot


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with made-up packages and with what loopcheck needs."""
    folder: Path = import_module("wheelhouse").write(tmp_path_factory.mktemp("house") / "wheels")
    return folder


@pytest.fixture
def offline(wheels: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """uv finds those wheels and no registry."""
    pytest.importorskip("uv", reason="needs uv: pip install 'loopcheck[matrix]'")
    monkeypatch.setenv("UV_FIND_LINKS", str(wheels))
    monkeypatch.setenv("UV_OFFLINE", "1")
    return wheels
