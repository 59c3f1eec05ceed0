"""A virtual environment that holds no packages, to put some within its reach."""

from __future__ import annotations

import os
import sysconfig
from pathlib import Path
from venv import EnvBuilder


def bare_environment(home: Path) -> Path:
    """Makes it, and returns its Python."""
    EnvBuilder(symlinks=os.name != "nt").create(home)
    return home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def site_packages(home: Path) -> Path:
    """Where the packages of an environment of this Python's version are."""
    variables = {"base": str(home), "platbase": str(home)}
    return Path(sysconfig.get_path("purelib", "venv", variables))
