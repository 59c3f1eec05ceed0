"""Every link within the documentation leads somewhere, on the site as well as in the repository.

Where a heading's name differs between the two, a link to it would be broken in one of them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from doc_pages import DOCS, PAGES, named, prose

pytestmark = pytest.mark.skipif(not DOCS.is_dir(), reason="the tests run outside a checkout")
LINK = re.compile(r"\[(?:[^\[\]]|\[[^\]]*\])*\]\(<?([^)\s>]+)>?[^)]*\)")
DEFINED = re.compile(r"^\[[^\]]+\]: +(\S+)", re.MULTILINE)
CODE = re.compile(r"(`+)[^`].*?\1", re.DOTALL)


def of_the_repository(heading: str) -> str:
    """How repositories name a heading in addresses."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def of_the_site(heading: str) -> str:
    """How the site does."""
    plain = unicodedata.normalize("NFKD", heading).encode("ascii", "ignore").decode()
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower())


@cache
def anchors(page: Path, slug: Callable[[str], str], joint: str) -> frozenset[str]:
    """The names of a page's headings; those that come again are counted."""
    found: dict[str, int] = {}
    names = set()
    for heading in re.findall(r"^#{1,6} +(.+?) *#*$", prose(page), re.MULTILINE):
        name = slug(re.sub(r"\[([^\]]*)\]\([^)]*\)|[`*]", r"\1", heading))
        number = found[name] = found.get(name, -1) + 1
        names.add(f"{name}{joint}{number}" if number else name)
    return frozenset(names)


def links(page: Path) -> list[str]:
    """Where the page's links lead, but for those that leave the project."""
    words = CODE.sub("code", prose(page))
    return [to for to in LINK.findall(words) + DEFINED.findall(words) if not re.match(r"\w+:", to)]


def complaints(page: Path) -> Iterator[str]:
    for link in links(page):
        target, _, anchor = link.partition("#")
        path = (page.parent / target).resolve() if target else page
        if not path.is_file():
            yield f"{link}: no such file"
        elif page.is_relative_to(DOCS) and not path.is_relative_to(DOCS):
            yield f"{link}: leads out of the site; name the file without a link"
        elif anchor and anchor not in anchors(path, of_the_repository, "-"):
            yield f"{link}: no such heading"
        elif anchor and anchor not in anchors(path, of_the_site, "_"):
            yield f"{link}: the site names this heading otherwise; choose plainer words for it"


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_link_leads_somewhere(page: Path) -> None:
    assert list(complaints(page)) == []


def test_links_are_found() -> None:
    assert sum(len(links(page)) for page in PAGES) > 60


@pytest.mark.parametrize(
    ("link", "complaint"),
    [
        ("[x](#here-i-am)", None),
        ("[x](#twice-1)", "the site names this heading otherwise"),
        ("[x [y]](other.md)", None),
        ("[x](other.md#title 'words')", None),
        ("[x]: other.md#none", "no such heading"),
        ("[x](gone.md)", "no such file"),
        ("[x](../outside.md)", "leads out of the site"),
        ("[x](#a----b)", "the site names this heading otherwise"),
        ("[x](https://example.com/gone)", None),
        ("`[x](gone.md)`", None),
    ],
)
def test_what_is_wrong_with_a_link_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, link: str, complaint: str | None
) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    page = docs / "page.md"
    headings = "## `Here` I *am*!\n\n## Twice\n\n## Twice\n\n## A -- b\n"
    page.write_text(f"# Page\n\n{headings}\n{link}\n")
    (docs / "other.md").write_text("# [Title](page.md)\n")
    (tmp_path / "outside.md").write_text("")
    monkeypatch.setitem(complaints.__globals__, "DOCS", docs)
    found = [said.partition(": ")[2].partition(";")[0] for said in complaints(page)]
    assert found == ([complaint] if complaint else [])
