"""The pages of the documentation, and the code blocks on them.

A block can have a mark: an HTML comment on the line above it (`docs/contributing.md` lists them).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])
_FENCE = re.compile(
    r"(?:^<!-- (?P<mark>[^\n]*?) -->\n)?^```(?P<language>\w*)\n(?P<text>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Block:
    """A code block. `mark` is its mark's word, `about` what follows it; `start` is the place of
    its text in the page."""

    page: Path
    line: int
    start: int
    language: str
    text: str
    mark: str
    about: str

    def __str__(self) -> str:
        return f"{named(self.page)}:{self.line}"


def named(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@cache
def text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


@cache
def blocks(page: Path) -> tuple[Block, ...]:
    """The code blocks of a page, in order."""
    return tuple(_blocks(page))


def _blocks(page: Path) -> Iterator[Block]:
    whole = text(page)
    for found in _FENCE.finditer(whole):
        mark, _, about = (found["mark"] or "").partition(": ")
        line = whole.count("\n", 0, found.start("language")) + 1
        start = found.start("text")
        yield Block(page, line, start, found["language"], found["text"], mark, about)


def prose(page: Path) -> str:
    """The page without its code blocks."""
    return _FENCE.sub("", text(page))


def every(*languages: str) -> list[Block]:
    """The blocks of all pages in one of these languages."""
    return [block for page in PAGES for block in blocks(page) if block.language in languages]
