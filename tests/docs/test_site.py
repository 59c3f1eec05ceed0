"""The site has every page of the documentation, and fetches nothing from elsewhere."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml
from doc_pages import DOCS, PAGES, ROOT, text

pytestmark = pytest.mark.skipif(not DOCS.is_dir(), reason="the tests run outside a checkout")
SETTINGS = ROOT / "mkdocs.yml"
FETCHED = (
    r"<(?:script|img|iframe|source|video|audio|embed)\b[^>]*\bsrc=[\"']?((?:https?:)?//[^\"'\s>]+)",
    r"<link\b(?=[^>]*rel=[\"']?(?:stylesheet|preconnect|preload|icon))[^>]*href=[\"']?"
    r"((?:https?:)?//[^\"'\s>]+)",
    r"(?:@import|url\()\s*[\"']?((?:https?:)?//[^\"')\s]+)",
)


def pages(nav: object) -> Iterator[str]:
    """The files that are named, at whatever depth."""
    if isinstance(nav, str):
        yield nav
    elif isinstance(nav, list | dict):
        for one in nav.values() if isinstance(nav, dict) else nav:
            yield from pages(one)


def test_every_page_is_in_the_contents_once() -> None:
    listed = list(pages(yaml.safe_load(text(SETTINGS))["nav"]))
    there = {p.relative_to(DOCS).as_posix() for p in PAGES if p.is_relative_to(DOCS)}
    assert sorted(listed) == sorted(there)


def test_the_first_page_leads_to_every_other() -> None:
    linked = set(re.findall(r"\]\(([\w/-]+\.md)\)", text(DOCS / "index.md")))
    linked |= set(re.findall(r"\]\(([\w/-]+\.md)\)", text(DOCS / "results" / "README.md")))
    for page in pages(yaml.safe_load(text(SETTINGS))["nav"]):
        assert {page, page.removeprefix("results/")} & linked or page == "index.md", page


@pytest.mark.skipif(find_spec("zensical") is None, reason="needs loopcheck[docs]: make docs")
def test_the_site_is_built_and_fetches_nothing_from_elsewhere(tmp_path: Path) -> None:
    shutil.copy(SETTINGS, tmp_path)
    shutil.copytree(DOCS, tmp_path / "docs")
    command = [sys.executable, "-m", "zensical", "build", "--strict"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    built = [p for p in (tmp_path / "site").rglob("*") if p.suffix in (".html", ".css")]
    assert len([p for p in built if p.suffix == ".html"]) > 20
    found = {
        address
        for path in built
        for pattern in FETCHED
        for address in re.findall(pattern, path.read_text(encoding="utf-8"))
    }
    assert found == set()
    # The theme would fetch what draws these diagrams.
    assert not any('class="mermaid"' in path.read_text(encoding="utf-8") for path in built)
