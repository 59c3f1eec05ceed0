"""Names that every service takes for a tool."""

from __future__ import annotations

import re
from typing import Final

from loopcheck.reference_loop.tools import ToolDefinitionError

MAX_CHARACTERS: Final = 64

_LEGAL: Final = re.compile(rf"[a-zA-Z0-9_-]{{1,{MAX_CHARACTERS}}}")
_ILLEGAL_RUN: Final = re.compile(r"[^a-zA-Z0-9_-]+")


def check_name(name: str, whose: str) -> None:
    """Raises ToolDefinitionError, which says whose name it is, for one that services refuse."""
    if not _LEGAL.fullmatch(name):
        raise ToolDefinitionError(
            f"{whose}: {name!r} is no name for a tool; 1 to {MAX_CHARACTERS} letters, digits, "
            f"underscores and hyphens are"
        )


def legal_name(text: str) -> str:
    """The text if it is a name, else one that is like it; empty where nothing is left of it."""
    if _LEGAL.fullmatch(text):
        return text
    return _ILLEGAL_RUN.sub("_", text).strip("_")[:MAX_CHARACTERS]
