"""Makes text of models and tools harmless to show: it may hold escape sequences or worse."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

LONGEST: Final = 600
_ZERO_WIDTH_JOINER: Final = "\u200d"
_UNSHOWABLE: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def _is_unsafe(character: str) -> bool:
    if character == _ZERO_WIDTH_JOINER:  # many emoji are joined by it, and it moves nothing
        return False
    point = ord(character)
    nothing = point & 0xFFFE == 0xFFFE or 0xFDD0 <= point <= 0xFDEF
    return nothing or unicodedata.category(character) in _UNSHOWABLE


def _shown(character: str) -> str:
    return {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(character) or (
        f"\\x{ord(character):02x}"
        if ord(character) < 0x100
        else f"\\u{ord(character):04x}"
        if ord(character) < 0x10000
        else f"\\U{ord(character):08x}"
    )


def inert(text: str, *, longest: int = LONGEST) -> str:
    """The text on one line: controls, escapes and bidi marks are shown, not obeyed."""
    if len(text) > longest:
        text = f"{text[:longest]}… ({len(text) - longest} more characters)"
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(char) if _is_unsafe(char) else char for char in text)


def inert_lines(text: str, *, longest: int = LONGEST) -> list[str]:
    """The text's own lines, each inert; never none."""
    return [inert(line, longest=longest) for line in re.split(r"\r?\n", text)]
