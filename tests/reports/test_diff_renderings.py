"""A comparison in each of its formats."""

from __future__ import annotations

from sample_pair import AFTER, BEFORE
from sample_report import ONCE, REPORT, case, report
from syrupy.assertion import SnapshotAssertion
from test_markup import Read

from loopcheck.harness.results import TargetCard, TargetResult
from loopcheck.reports import diff_html, diff_markdown, diff_terminal
from loopcheck.reports.diff import compare

FOUND = compare(BEFORE, AFTER, names=("before.json", "after.json"))


def test_in_a_terminal(snapshot: SnapshotAssertion) -> None:
    assert diff_terminal.render(FOUND) == snapshot


def test_as_a_comment(snapshot: SnapshotAssertion) -> None:
    assert diff_markdown.render(FOUND) == snapshot


def test_nothing_changed() -> None:
    same = compare(report(), report(), names=("a", "b"))
    assert diff_terminal.render(same) == "a -> b\n\n0 regressed, 0 fixed, 0 unchanged\n"
    assert diff_markdown.render(same) == (
        "### loopcheck: nothing changed for better or worse (suite 2026.1)\n\n"
        "0 regressed, 0 fixed, 0 unchanged\n"
    )


def many(verdict: str, number: int) -> TargetResult:
    made = case("fail" if verdict == "fail" else "pass", findings=(ONCE,))
    names = [f"many/n{n}" for n in range(number)]
    cases = tuple(
        made.model_copy(update={"case": f"{name}[chat-stream]", "scenario": name}) for name in names
    )
    return TargetResult(card=TargetCard(name="t"), cases=cases)


def test_a_comment_is_bounded() -> None:
    found = compare(report(many("pass", 2000)), report(many("fail", 2000)))
    text = diff_markdown.render(found)
    assert len(text) < 60_000
    assert "and 1970 more; the HTML comparison has them all" in text


def test_as_a_page_it_draws_what_fails_now_and_says_what_was() -> None:
    read = Read(diff_html.render(FOUND, BEFORE, AFTER, advice={"effect.once": "look it up first"}))
    ids = [attributes["id"] for _, attributes in read.elements if "id" in attributes]
    assert "case=booking:once/lost[chat-stream]" in ids
    assert "case=booking:once/lost[chat-whole]" in ids
    assert {"regressed", "differently", "could-not-run", "fixed", "unchanged", "versions"} <= {*ids}
    assert "4 regressed in 2 targets" in read.text
    assert "pass: completed/final_answer" in read.text
    assert "first mismatch moved from entry 9 to 7" in read.text
    assert "look it up first" in read.text
    assert "suite 2026.1 before, 2026.2 after" in read.text
    assert "loopcheck run 'once/lost[chat-stream]' --target booking --seed 8 --lenient C1" in (
        read.text
    )


def test_no_hostile_text_is_obeyed() -> None:
    found = compare(report(), REPORT)
    page = diff_html.render(compare(BEFORE, AFTER), BEFORE, AFTER)
    assert "hostile\\u202e&lt;b&gt;" in page
    for text in (diff_terminal.render(found), diff_markdown.render(FOUND), page):
        assert all(c == "\n" or c.isprintable() for c in text)
