"""Settings for the whole suite."""

from __future__ import annotations

import os

from hypothesis import settings

# A loaded machine is no failure; nothing here is judged by how long it took.
settings.register_profile("loopcheck", deadline=None)
settings.load_profile("loopcheck")

# pytest writes other summaries where these are set; the runs inside our tests are read back.
for name in ("CI", "BUILD_NUMBER"):
    os.environ.pop(name, None)

pytest_plugins = ["pytester"]
