"""The code blocks of the documentation do what they say.

Python is executed, a page from top to bottom; tests are run by pytest; commands marked as exact
print what stands below them; scenarios are linted and settings read. `docs/contributing.md` lists
the marks.
"""

from __future__ import annotations

import ast
import asyncio
import re
import shlex
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml
from doc_pages import DOCS, PAGES, Block, blocks, every, named
from given import FOR_TESTS, SCENARIO, files, names
from hypothesis import settings

import loopcheck
from loopcheck.harness import config, expected
from loopcheck.harness.cli import main
from loopcheck.harness.matrix.document import from_file
from loopcheck.harness.matrix.reading import matrix
from loopcheck.harness.providing import Providing
from loopcheck.harness.scenario.errors import ScenarioError
from loopcheck.harness.scenario.load import load_text

pytestmark = pytest.mark.skipif(not DOCS.is_dir(), reason="the tests run outside a checkout")
MARKS = {"", "file", "exact", "compiled", "part", "broken", "seen", "mended", "kinds"}
EXACT = [block for block in every("console") if block.mark == "exact"]
# The page of quirks is made from their registry, without marks.
PARTS = [b for b in every("yaml") if b.mark == "part" or b.page.name == "quirks.md"]
SCENARIOS = [block for block in every("yaml") if re.match("(#.*\n)?format: 1\ntitle:", block.text)]


def need(*packages: str) -> None:
    for name in packages:
        if find_spec(name) is None:
            pytest.skip(f"needs {name}")


def test_every_mark_is_known() -> None:
    assert {block.mark for page in PAGES for block in blocks(page)} <= MARKS


# Python


def is_test(block: Block) -> bool:
    found = re.search(r"^(async )?def test_", block.text, re.MULTILINE)
    return found is not None and block.page.stem in ("plugging-in", "fuzzing")


def is_run(block: Block) -> bool:
    return block.language == "python" and block.mark in ("", "file") and not is_test(block)


RUN = [page for page in PAGES if any(map(is_run, blocks(page)))]


@pytest.mark.parametrize("page", RUN, ids=named)
def test_python_runs_from_top_to_bottom(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, loopcheck_provider: Providing
) -> None:
    need("openai", "anthropic", "httpx2", "opentelemetry")
    monkeypatch.chdir(tmp_path)
    files(page.stem, tmp_path)
    chosen = [b for b in blocks(page) if is_run(b)]
    with closed_at_the_end(monkeypatch) as close:
        asyncio.run(run(chosen, loopcheck_provider, close))


Close = Callable[[], Awaitable[None]]


@contextmanager
def closed_at_the_end(monkeypatch: pytest.MonkeyPatch) -> Iterator[Close]:
    """The pages leave it to their readers to close clients."""
    import openai

    clients: list[openai.AsyncOpenAI] = []
    make = openai.AsyncOpenAI

    def tracked() -> openai.AsyncOpenAI:
        clients.append(make())
        return clients[-1]

    async def close() -> None:
        for client in clients:
            await client.close()

    with monkeypatch.context() as patch:
        patch.setattr(openai, "AsyncOpenAI", tracked)
        yield close


async def run(chosen: Sequence[Block], provider: Providing, close: Close) -> None:
    """Executes the blocks in one name space; a run of a loop in them has to end well."""
    space: dict[str, object] = {"__name__": "page"}
    for block in chosen:
        code = compile(block.text, str(block), "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        calls = "openapi_tools" not in block.text
        asked = [loopcheck.call("reserve_seat", {"seat": 12})] if calls else []
        with provider.turns(*asked, loopcheck.say("Seat 12 is yours.")).environ():
            space.update(names(block.page.stem))
            awaited = eval(code, space)
            if awaited is not None:
                await awaited
                assert getattr(space.pop("outcome"), "state", None) == "completed"
    await close()


def test_tests_on_the_pages_pass(pytester: pytest.Pytester) -> None:
    need("openai", "respx", "hypothesis", "pytest_asyncio")
    texts = list(filter(is_test, every("python")))
    for number, block in enumerate(texts):
        page = block.page.stem.replace("-", "_")
        pytester.makepyfile(**{f"test_{page}_{number}": FOR_TESTS + block.text})
    folder = pytester.mkdir("qa").joinpath("scenarios")
    folder.mkdir()
    folder.joinpath("kept.yaml").write_text(SCENARIO, encoding="utf-8")
    pytester.path.joinpath("loopcheck.toml").write_text('scenarios = ["qa/scenarios"]\n')
    few = "order_status or TestMyLoop or kept or every_rule or independence"
    few += " or identical-calls-one-turn-chat"
    pytester.makefile(".ini", pytest="[pytest]\nasyncio_default_fixture_loop_scope = function\n")
    try:
        result = pytester.runpytest("-p", "no:cacheprovider", "-p", "no:xdist", "-q", "-k", few)
    finally:
        settings.load_profile("loopcheck")  # that of all other tests
    counts = result.parseoutcomes()
    assert not {"failed", "errors", "xfailed"} & counts.keys(), result.stdout.str()
    ran = set(re.findall(r"^(test_\w+)\.py \.", result.stdout.str(), re.MULTILINE))
    assert counts["passed"] >= len(texts) == 8, ran


# Commands


def steps(text: str) -> Iterator[tuple[str, str]]:
    """Each command of a console block, and what it prints."""
    for step in re.split(r"^\$ ", text.replace("\\\n", ""), flags=re.MULTILINE)[1:]:
        command, _, shown = step.partition("\n")
        yield command, shown


def steady(text: str) -> str:
    """Without what varies from one machine to another."""
    text = re.sub(r"\b\d+(\.\d+){2,}\b", "VERSION", text)
    return re.sub(r"\b\d+\.\d\d s\b", "TIME", text)


def fits(shown: str, said: str) -> bool:
    """Whether this was said; a line `...` stands for any lines, `...` in a line for any text."""
    pattern = re.escape(steady(shown).strip("\n") + "\n")
    pattern = re.sub(r"(?<![^\n])\\.\\.\\.\\\n", r"(?:.*\\n)*?", pattern).replace(r"\.\.\.", ".*?")
    return re.fullmatch(rf"\n*{pattern}\n*", steady(said).strip("\n") + "\n") is not None


@pytest.mark.parametrize("block", EXACT, ids=str)
def test_commands_print_what_the_page_shows(
    block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    need(*re.findall(r"[\w-]+", block.about.removeprefix("needs ")))
    monkeypatch.chdir(tmp_path)
    files(block.page.stem, tmp_path)
    for one in blocks(block.page):
        if one.mark == "file" and one.start < block.start:
            path = tmp_path / one.about
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(one.text, encoding="utf-8")
    for command, shown in steps(block.text):
        name, *arguments = shlex.split(command)
        assert name == "loopcheck"
        main(arguments)
        told = capfd.readouterr()
        assert fits(shown, told.out + told.err), told.out + told.err


@pytest.mark.parametrize(
    ("shown", "said", "fitting"),
    [
        ("a\nb\n", "a\nb\n", True),
        ("a\n", "a\nb\n", False),
        ("a\n...\n", "a\nb\nc\n", True),
        ("a\n...\nd\n", "a\nb\nc\nd\n", True),
        ("a\n...\nd\n", "a\nd\n", True),
        ("a ... c\n", "a b c\n", True),
        ("a ... c\n", "a\nb c\n", False),
        ("0.02 s, openai 3.57.0\n", "1.47 s, openai 4.0.1\n", True),
        ("0 FAIL\n", "1 FAIL\n", False),
        ("a+b\n", "aab\n", False),
    ],
)
def test_only_what_was_said_fits(shown: str, said: str, fitting: bool) -> None:
    assert fits(shown, said) is fitting


def test_what_the_linter_says_of_too_much(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The page changes one line of its second version of the scenario, and shows the complaint."""
    page = DOCS / "writing-a-scenario.md"
    version = [block for block in blocks(page) if block.mark == "file"][-1]
    (shown,) = [block.text for block in blocks(page) if "too much for must" in block.text]
    path = tmp_path / version.about
    path.parent.mkdir(parents=True)
    changed = re.sub(r"results: .*", "results: {book: error}", version.text)
    path.write_text(changed, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert main(["lint", "scenarios"]) == 1
    assert capsys.readouterr().out.startswith(shown)


# Scenarios and settings


@pytest.mark.parametrize("block", SCENARIOS, ids=str)
def test_a_whole_scenario_is_right(block: Block) -> None:
    assert load_text(block.text.encode(), file=str(block), id="docs/one").turns


BASE = """\
format: 1
title: A part of the page, in a scenario
rule: It is understood.
prompt: Go on.
tools:
  look: {kind: read}
  pay: {kind: write}
  get_train: {kind: read, args: {to: string}}
  reserve_seat: {kind: write, args: {seat: integer}, approval: APPROVAL}
turns:
  - calls:
      - {as: book, tool: reserve_seat, args: {seat: 12}}
      - {as: pay, tool: pay, args: {}}
  - calls: [{as: look, tool: look, args: {}}]
  - say: Finished.
"""


@pytest.mark.parametrize("block", PARTS, ids=str)
def test_a_part_of_a_scenario_is_understood_in_its_place(block: Block) -> None:
    """The mark says where it belongs, such as `part: expect.must`; `part` alone is the top."""
    asks = "ask" if "waiting" in block.text else "allow"
    whole = yaml.safe_load(BASE.replace("APPROVAL", asks))
    place = whole
    for key in block.about.split(".") if block.about else ():
        place = place[int(key)] if key.isdecimal() else place.setdefault(key, {})
    place.update(yaml.safe_load(block.text))
    assert any(narrowed(whole, str(block))), block.text


def narrowed(whole: dict[str, object], name: str) -> Iterator[bool]:
    """Whether the scenario is right in these protocols; a part need not make sense in all."""
    needs = {"needs": ["follow_up"]} if "user:" in yaml.safe_dump(whole["turns"]) else {}
    for dialects in ("all", ["chat"], ["responses"], ["messages"], ["chat", "responses"]):
        for modes in (["whole", "stream"], ["stream"]):
            text = yaml.safe_dump({**needs, **whole, "dialects": dialects, "modes": modes})
            try:
                yield bool(load_text(text.encode(), file=name, id="docs/part").turns)
            except ScenarioError:
                yield False


def test_every_other_block_of_yaml_is_tested_elsewhere() -> None:
    """Known failures and the matrix are read below, the workflow by `test_ci_page.py`."""
    other = [b for b in every("yaml") if b not in (*PARTS, *SCENARIOS)]
    pages = {"docs/ci.md", "docs/known-failures.md", "docs/sdk-upgrades.md"}
    assert {named(block.page) for block in other} <= pages


def test_the_list_of_known_failures_is_read() -> None:
    (block,) = [b for b in blocks(DOCS / "known-failures.md") if b.language == "yaml"]
    (entry,) = expected.parse(block.text, str(block))
    assert (entry.kind, entry.target) == ("bug", "langchain")


def test_the_matrix_is_read(tmp_path: Path) -> None:
    (block,) = [b for b in blocks(DOCS / "sdk-upgrades.md") if b.language == "yaml"]
    for name in ("billing", "support"):
        (tmp_path / "services" / name).mkdir(parents=True)
    settings = tmp_path / "services" / "chat" / "loopcheck.toml"
    settings.parent.mkdir()
    settings.write_text('[targets]\nchat = "chat.trial:loop"\n', encoding="utf-8")
    (tmp_path / "m.yaml").write_text(block.text, encoding="utf-8")
    found = matrix(from_file(tmp_path / "m.yaml"), config.find(tmp_path))
    assert [target.name for target in found.targets] == ["openai-sdk", "billing", "support", "chat"]
    assert found.compare == ("now", "next")


@pytest.mark.parametrize("block", every("toml"), ids=str)
def test_settings_are_read(block: Block, tmp_path: Path) -> None:
    own = "tool.loopcheck" not in block.text
    (tmp_path / ("loopcheck.toml" if own else "pyproject.toml")).write_text(block.text)
    for folder in re.findall(r'cwd = "([^"]+)"', block.text):
        (tmp_path / folder).mkdir(parents=True)
    found = config.find(tmp_path)
    assert found.file is not None
