"""The documentation agrees with the code: what it shows can be typed, and what it names exists."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

import loopcheck
from loopcheck.harness.cli.arguments import COMMANDS, parse
from loopcheck.harness.journal import KINDS
from loopcheck.harness.worker.protocol import Malformed, read_answer, read_command

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
pytestmark = pytest.mark.skipif(not DOCS.is_dir(), reason="the tests run outside a checkout")


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def blocks(page: Path, *languages: str) -> list[str]:
    return [body for language, body in FENCE.findall(text(page)) if language in languages]


def prose(page: Path) -> str:
    return FENCE.sub("", text(page))


def generated() -> str:
    """The tables of docs/journal.md."""
    parts = []
    for kind, fields in KINDS.items():
        rows = "".join(f"| `{name}` | {meaning} |\n" for name, meaning in fields.items())
        parts.append(f"## `{kind}`\n\n| field | meaning |\n|---|---|\n{rows}")
    return "\n".join(parts)


def test_the_journals_page_is_the_journals_kinds() -> None:
    """After a change of KINDS, replace what follows the mark by what this test expects."""
    _, _, tables = text(DOCS / "journal.md").partition("<!-- kinds: ")
    assert tables.partition("-->\n\n")[2] == generated()


def command_lines(page: Path) -> Iterator[list[str]]:
    """What is typed after `loopcheck` in the page's console blocks. Where a block has prompts,
    its other lines are output."""
    for block in blocks(page, "console", "sh", "bash"):
        lines = block.replace("\\\n", " ").splitlines()
        prompted = [line for line in lines if line.startswith("$ ")]
        for line in prompted or lines:
            typed = line.removeprefix("$ ").strip()
            if re.match(r"(\S*/)?loopcheck ", typed):
                yield shlex.split(typed, comments=True)[1:]


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_command_line_can_be_typed(page: Path) -> None:
    for arguments in command_lines(page):
        parse(arguments)


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_command_that_is_mentioned_exists(page: Path) -> None:
    mentioned = set(re.findall(r"`loopcheck (\w+)[^`]*`", prose(page)))
    assert mentioned <= set(COMMANDS)


def test_command_lines_are_found() -> None:
    found = [arguments[0] for page in PAGES for arguments in command_lines(page)]
    assert {"run", "list", "show", "doctor", "expected", "lint"} <= set(found)


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_python_compiles_and_names_what_exists(page: Path) -> None:
    for block in blocks(page, "python"):
        tree = compile(block, named(page), "exec", ast.PyCF_ONLY_AST)
        used = {
            node.attr
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == "loopcheck"
        }
        assert used <= {*loopcheck.__all__, "reference_loop"}


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_module_that_is_named_exists(page: Path) -> None:
    files = [named(path) for path in (ROOT / "src").rglob("*.py")]
    files += [named(path) for path in (ROOT / "tests").rglob("*.py")]
    for name in re.findall(r"`([\w/]+\.py)`", prose(page)):
        assert any(f"/{file}".endswith(f"/{name}") for file in files), name


def test_the_transcript_of_the_worker_protocol_is_spoken_by_both_sides() -> None:
    (transcript,) = [b for b in blocks(DOCS / "worker-protocol.md", "") if b.startswith("> {")]
    for line in transcript.splitlines():
        side, message = line[:2], line[2:].encode()
        read = read_command(message) if side == "> " else read_answer(message)
        assert read is not None, line
        assert not isinstance(read, Malformed), line
