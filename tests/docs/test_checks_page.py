"""The page of the checks has every check, with an example of failing and mending that is true."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from check_examples import MARKS, PAGE, examples, liar_of, made, renewed, steady
from doc_pages import DOCS, Block, text

from loopcheck.harness.checks import CHECKS
from loopcheck.harness.stage import Stage

pytestmark = pytest.mark.skipif(not DOCS.is_dir(), reason="the tests run outside a checkout")
EXAMPLES = list(examples()) if DOCS.is_dir() else []


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    with Stage(quiet_seconds=0.05) as open_stage:
        yield open_stage


def section(line: int) -> str:
    """The check in whose section this line stands."""
    before = text(PAGE).splitlines()[:line]
    return next(said[3:] for said in reversed(before) if said.startswith("## "))


def test_every_check_has_its_section_in_their_order() -> None:
    headings = re.findall(r"^## (\w+\.[\w-]+)$", text(PAGE), re.MULTILINE)
    assert headings == [check.id for check in CHECKS]


@pytest.mark.parametrize("check", [check.id for check in CHECKS])
def test_a_section_says_what_is_required_seen_and_to_be_done(check: str) -> None:
    said = text(PAGE).partition(f"## {check}\n")[2].partition("\n## ")[0]
    for word in ("Requires.", "Evidence.", "What to do."):
        assert f"\n**{word}** " in said
    own = [one for one in EXAMPLES if section(one.line) == check]
    assert [one.mark for one in own] == list(MARKS)
    first, case, _ = own
    assert liar_of(first) == liar_of(case)
    assert liar_of(case).check == check
    assert f"\n  {check}: " in case.text


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_an_example_is_what_is_and_what_happens(example: Block, stage: Stage) -> None:
    """After a change of the selftest: python tests/docs/check_examples.py"""
    assert steady(example.text) == steady(made(example, stage))


def test_the_page_is_renewed_by_the_same_means(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("check_examples.made", lambda example, stage: f"{example.mark}\n")
    changed = renewed(text(PAGE), stage)
    for mark in MARKS:
        assert len(re.findall(rf"```\w+\n{mark}\n```\n", changed)) == len(CHECKS)
    assert changed.count("```") == text(PAGE).count("```")
