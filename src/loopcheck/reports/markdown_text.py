"""Foreign text in Markdown: it shows as it is, and mentions, links and formats nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from loopcheck.reports.inert import inert

_LONGEST: Final = 160
_SPECIAL: Final = re.compile(r"([\\`*_{}\[\]#!>~<&$])")


def plain(text: str, *, longest: int = _LONGEST) -> str:
    """As running text. What would call a person or an issue is broken up unseen."""
    escaped = _SPECIAL.sub(r"\\\1", inert(text, longest=longest))
    escaped = escaped.replace("\\<", "&lt;").replace("\\>", "&gt;").replace("\\&", "&amp;")
    return re.sub(r"(@|\\#|://)", r"\1&#8203;", escaped)


def code(text: str, *, longest: int = _LONGEST) -> str:
    """As code, which no renderer interprets."""
    shown = inert(text, longest=longest) or " "
    runs = [len(run) for run in re.findall("`+", shown)]
    fence = "`" * (max(runs, default=0) + 1)
    return f"{fence} {shown} {fence}" if runs else f"{fence}{shown}{fence}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a table of finished cells. A bar ends a cell, within code as well."""
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    cells = ((cell.replace("|", "\\|") for cell in row) for row in rows)
    return [*lines, *(f"| {' | '.join(row)} |" for row in cells)]


def folded(summary: str, lines: Sequence[str]) -> list[str]:
    """Lines that a reader opens; none where there is nothing to open. `summary` is HTML."""
    if not lines:
        return []
    return [f"<details><summary>{summary}</summary>", "", *lines, "", "</details>"]
