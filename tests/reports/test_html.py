"""The report as a page: what stands in it, and that nothing in it is obeyed."""

from __future__ import annotations

import base64
import hashlib
import re

import pytest
from sample_report import (
    BOOKING,
    BUG,
    CARD,
    FAILING,
    HOSTILE,
    LINES,
    ONCE,
    REMARK,
    REPORT,
    case,
    named,
    report,
)
from syrupy.assertion import SnapshotAssertion
from test_markup import Read

from loopcheck.harness.results import TargetResult
from loopcheck.reports import html
from loopcheck.reports.block import Setting
from loopcheck.reports.causes import Failure
from loopcheck.reports.html_case import DRAWN, anchor, article
from loopcheck.reports.html_matrix import matrix
from loopcheck.reports.inert import inert

ADVICE = {"effect.once": "key the write by an operation id of your own, or look it up first"}
PAGE = html.render(REPORT, advice=ADVICE)


def pretty(markup: str) -> str:
    """One element a line, for snapshots that are read."""
    return re.sub(r"(?<=>)(?=<)", "\n", markup)


def test_a_failing_case(snapshot: SnapshotAssertion) -> None:
    shown = FAILING.model_copy(update={"frames": ('frame 3  data: {"a": "</script>"}',)})
    setting = Setting(target="booking", seed=7, advice=ADVICE)
    assert pretty(article(Failure(shown, ("once/lost[chat-whole]",)), setting)) == snapshot


def test_a_known_failure(snapshot: SnapshotAssertion) -> None:
    known = named("expected", "errors/known", findings=(ONCE,), expectations=(BUG,))
    assert pretty(article(Failure(known, ()), Setting(target="booking"))) == snapshot


def test_a_matrix(snapshot: SnapshotAssertion) -> None:
    assert pretty(matrix(REPORT.targets)) == snapshot


def test_the_page_says_what_was_tested_with_what_and_how_it_went() -> None:
    text = Read(PAGE).text
    for part in ("5 of 13 cases failing, 1 target broken", "2026.1", "booking 4.2.0", "openai 3"):
        assert part in text


def test_nothing_is_fetched_and_only_the_pages_own_script_runs() -> None:
    elements = Read(PAGE).elements
    assert not {"img", "iframe", "link", "object", "embed", "base"} & {name for name, _ in elements}
    assert [attributes for name, attributes in elements if name == "script"] == [{}]
    fetched = {attributes.get("src") for _, attributes in elements} - {None}
    assert fetched == set()
    (policy,) = [a["content"] for _, a in elements if a.get("http-equiv")]
    script = PAGE.partition("<script>")[2].partition("</script>")[0]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy is not None
    assert policy.startswith("default-src 'none'; ")
    assert f"script-src 'sha256-{digest}'" in policy


def test_no_style_or_handler_stands_in_an_element() -> None:
    for _, attributes in Read(PAGE).elements:
        assert not [name for name in attributes if name == "style" or name.startswith("on")]


def test_links_lead_to_what_is_in_the_page_or_to_public_threads() -> None:
    elements = Read(PAGE).elements
    ids = {attributes["id"] for _, attributes in elements if "id" in attributes}
    for _, attributes in elements:
        link = attributes.get("href") or "#failures"
        assert link.startswith("https://github.com/") or link.removeprefix("#") in ids, link


def test_ids_are_unique() -> None:
    ids = [attributes["id"] for _, attributes in Read(PAGE).elements if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_the_first_mismatch_is_marked_once_in_a_case() -> None:
    target = TargetResult(card=CARD, cases=(case("fail", findings=(ONCE,), lines=LINES),))
    page = html.render(report(target))
    assert page.count("<mark>first mismatch</mark>") == 1
    assert page.count("<mark>proof</mark>") == 1


def test_a_case_is_found_by_its_address() -> None:
    assert anchor("booking", "once/lost[chat-stream]") == "case=booking:once/lost[chat-stream]"
    assert anchor('a"b c', "d\ud800<\n") == "case=a%22b%20c:d%5Cud800%3C%0A"


def test_a_broken_target_shows_what_happened_in_its_smoke_case() -> None:
    smoke = named("target broken", "smoke", lines=LINES, reason="TypeError")
    target = TargetResult(card=CARD, broken="chat, whole: TypeError", smoke=smoke)
    page = html.render(report(target))
    text = Read(page).text
    assert "1 target broken" in text
    assert "loopcheck doctor booking" in text
    assert page.count('class="seq"') == 1
    assert 'id="matrix"' not in page


def test_what_no_longer_fails_as_listed_is_in_the_headline() -> None:
    target = TargetResult(card=CARD, cases=(case("stale", expectations=(BUG,)),), stale=("x",))
    text = Read(html.render(report(target, exit_code=3))).text
    assert "✕ 1 case, none failing, 1 no longer failing as listed" in text
    assert "remove them from the list: loopcheck expected update" in text


def test_a_page_without_failures_says_so() -> None:
    text = Read(html.render(report(TargetResult(card=CARD, cases=(case("pass"),)), exit_code=0)))
    assert "1 case, none failing" in text.text
    assert "Nothing fails." in text.text


def test_hostile_text_is_shown_inert() -> None:
    assert HOSTILE not in PAGE
    assert all(c == "\n" or c.isprintable() or c == "\u200d" for c in PAGE)
    assert inert(HOSTILE) in Read(PAGE).text
    PAGE.encode("utf-8")


def test_results_of_10_mb_are_cut_and_their_size_is_told() -> None:
    huge = "<script>" + "x" * 10_000_000
    finding = ONCE.model_copy(update={"seen": huge, "expected": huge})
    cases = (case("fail", findings=(finding,), title=huge, lines=(f"9   sent  {huge}",)),)
    page = html.render(report(TargetResult(card=CARD, cases=cases)))
    assert len(page) < 100_000
    assert "<script>x" not in page
    assert "(9999408 more characters)" in page


def test_very_many_causes_are_told_in_brief() -> None:
    made = case("fail", findings=(ONCE, REMARK), lines=LINES)
    cases = tuple(
        made.model_copy(update={"case": f"many/n{n}[chat-stream]", "scenario": f"many/n{n}"})
        for n in range(DRAWN + 5)
    )
    page = html.render(report(TargetResult(card=CARD, cases=cases)))
    assert page.count('class="seq"') == DRAWN
    assert "The last 5 are told in brief" in page


@pytest.mark.parametrize("part", ["style", "script"])
def test_the_parts_of_the_page_end_where_they_should(part: str) -> None:
    assert PAGE.count(f"</{part}>") == 1


def test_one_cause_is_told_once() -> None:
    page = html.render(report(BOOKING))
    assert page.count('data-check="effect.once execution.once correlation.known-id"') == 1
    assert "case=booking:once/lost[messages-stream]" in page
