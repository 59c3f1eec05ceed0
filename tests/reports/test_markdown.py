"""The comment on a pull request."""

from __future__ import annotations

import pytest
from sample_report import BOOKING, CARD, HOSTILE, ONCE, REMARK, REPORT, case, report
from syrupy.assertion import SnapshotAssertion

from loopcheck.harness.results import TargetResult
from loopcheck.reports import markdown
from loopcheck.reports.markdown_text import code, plain, table

ADVICE = {"effect.once": "key the write by an operation id of your own, or look it up first"}


def test_a_run_with_every_verdict(snapshot: SnapshotAssertion) -> None:
    assert markdown.render(REPORT, advice=ADVICE) == snapshot


def test_a_run_without_failures_is_short(snapshot: SnapshotAssertion) -> None:
    target = TargetResult(card=CARD, cases=(case("pass"), case("pass", mode="whole")))
    assert markdown.render(report(target, exit_code=0)) == snapshot


def test_one_failure_is_rerun_by_its_case_and_several_by_their_scenarios() -> None:
    one = report(TargetResult(card=CARD, cases=(case("fail", findings=(ONCE,)),)))
    assert markdown.render(one).endswith(
        "Rerun: `loopcheck run 'once/lost[chat-stream]' --target booking --seed 7`\n"
    )
    assert "Rerun: `loopcheck run once/lost transport/reset" in markdown.render(report(BOOKING))


def test_a_comment_is_bounded() -> None:
    made = case("fail", findings=(ONCE, REMARK))
    names = [f"many/n{n}" for n in range(3000)]
    cases = tuple(
        made.model_copy(update={"case": f"{name}[chat-stream]", "scenario": name}) for name in names
    )
    text = markdown.render(report(TargetResult(card=CARD, cases=cases)), advice=ADVICE)
    assert len(text) < 60_000
    assert "and 2970 more; the HTML report has them all" in text
    assert "Rerun: `loopcheck run --target booking --seed 7`" in text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a|b", "`a|b`"),
        ("`rm`", "`` `rm` ``"),
        ("```", "```` ``` ````"),
        ("", "` `"),
        ("@octocat <b>\n", "`@octocat <b>\\n`"),
        ("x" * 200, f"`{'x' * 160}… (40 more characters)`"),
    ],
)
def test_code_holds_any_text(text: str, shown: str) -> None:
    assert code(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("@octocat", "@&#8203;octocat"),
        ("#12", "\\#&#8203;12"),
        ("[x](javascript:y)", "\\[x\\](javascript:y)"),
        ("https://e.example", "https://&#8203;e.example"),
        ("<img src=x> &amp; *a*_b_", "&lt;img src=x&gt; &amp;amp; \\*a\\*\\_b\\_"),
        ("a | b", "a | b"),
    ],
)
def test_running_text_formats_mentions_and_links_nothing(text: str, shown: str) -> None:
    assert plain(text) == shown


def test_a_bar_ends_no_cell() -> None:
    assert table(["a", "b"], [[code("x|y"), plain("|")]])[2] == "| `x\\|y` | \\| |"


def test_no_hostile_text_is_obeyed() -> None:
    text = markdown.render(REPORT)
    assert HOSTILE not in text
    assert all(c == "\n" or c.isprintable() or c == "\u200d" for c in text)
