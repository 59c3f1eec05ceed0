"""A made-up package that gets worse as it goes on, and a service that uses it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import matrix_project
import wheelhouse

GOOD: Final = wheelhouse.LOOP + wheelhouse.HONEST
CARELESS: Final = wheelhouse.LOOP + wheelhouse.CARELESS
NAME: Final = "gradual"
RELEASES: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "1.0": (GOOD, ()),
    "1.1": (GOOD, ()),
    "1.2": (GOOD, ()),
    "1.3": (GOOD, ("tinybase>=9",)),  # cannot be installed
    "1.4": (CARELESS, ()),
    "1.5": (CARELESS, ()),
    "2.0": (CARELESS, ()),
    "2.1rc1": (CARELESS, ()),
    "3.0": ("import nowhere_at_all\n", ()),
}
MATRIX: Final = """\
format: 1
scenarios: [cut.yaml]
targets:
  - {name: tiny, path: service, target: "trial:plain"}
sets:
  now: locked
  next: {python: ["gradual==3.0"]}
"""


def write_wheels(folder: Path) -> Path:
    """Writes the releases into this folder, which is made."""
    folder.mkdir()
    for version, (text, needs) in RELEASES.items():
        wheelhouse.pack(folder, NAME, version, text, needs)
    return folder


def write(folder: Path) -> None:
    """Writes the service, which has locked the oldest release, and its matrix."""
    matrix_project.write(folder, MATRIX)
    for name in ("pyproject.toml", "requirements.txt", "trial.py"):
        path = folder / "service" / name
        path.write_text(path.read_text().replace("tinysdk", NAME))
