"""Settings for the whole suite."""

from __future__ import annotations

from hypothesis import settings

# A loaded machine is no failure; nothing here is judged by how long it took.
settings.register_profile("loopcheck", deadline=None)
settings.load_profile("loopcheck")

pytest_plugins = ["pytester"]
