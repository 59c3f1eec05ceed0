"""Settings for the whole suite."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib import import_module

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
