"""Mistakes in a test file, told in a line that names the place."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import Final

import loopcheck
from loopcheck.harness.cli.mistakes import is_mistake

_OWN: Final = str(Path(loopcheck.__file__).parent)


def told(error: BaseException) -> str | None:
    """What is wrong and in which line; None for an error that is no mistake of the user."""
    if not isinstance(error, Exception) or not is_mistake(error):
        return None
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not frame.filename.startswith((_OWN, "<"))]
    return f"{own[-1].filename}:{own[-1].lineno}: {error}" if own else str(error)
