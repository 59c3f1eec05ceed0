"""What a run looks like in a terminal."""

from __future__ import annotations

from sample_report import (
    BOOKING,
    BUG,
    CARD,
    FAILING,
    HOSTILE,
    ONCE,
    REMARK,
    REPORT,
    case,
    named,
    report,
)
from syrupy.assertion import SnapshotAssertion

from loopcheck.harness.results import TargetResult
from loopcheck.reports import terminal

ADVICE = {"effect.once": "key the write by an operation id of your own, or look it up first"}


def test_a_run_with_every_verdict(snapshot: SnapshotAssertion) -> None:
    assert terminal.render(REPORT, advice=ADVICE) == snapshot


def test_one_failing_case_as_a_test_shows_it(snapshot: SnapshotAssertion) -> None:
    assert terminal.failure_block(FAILING, advice=ADVICE) == snapshot


def test_the_opening_line() -> None:
    line = terminal.opening(CARD, suite="2026.1", cases=2, dialects=["chat"])
    assert line == (
        "suite 2026.1 · target booking 4.2.0 (python 3.12, openai 3.57.0) · 2 cases, chat"
    )


def test_a_case_line_is_as_wide_as_the_longest_id() -> None:
    line = terminal.case_line(case("pass", mode="whole", seconds=0.09), width=24)
    assert line == "once/lost[chat-whole]       pass   0.09 s"


def test_counts_and_exit_code_of_a_small_run() -> None:
    target = TargetResult(card=CARD, cases=(case("pass", mode="whole"), FAILING))
    line = terminal.counts(target, exit_code=1)
    counted = "booking: 1 pass, 1 FAIL (must), 1 should, 0 expected, 0 not declared"
    assert line == f"{counted:<91}exit 1"


def test_the_exit_code_stands_below_the_last_target_only() -> None:
    text = terminal.render(report(BOOKING, BOOKING, exit_code=1))
    assert text.count("exit 1") == 1
    assert text.rstrip().endswith("exit 1")


def test_one_cause_in_several_cases_is_one_block_that_names_the_others() -> None:
    text = terminal.closing(BOOKING, seed=0, exit_code=None, advice={})
    assert text.count("effect.once: one effect per business operation") == 1
    assert "same in       once/lost[messages-stream]" in text


def test_another_text_is_another_cause() -> None:
    other = ONCE.model_copy(update={"seen": "3, from calls call_book_0000 and call_again_1111"})
    cases = (FAILING, case("fail", mode="whole", findings=(other,)))
    text = terminal.closing(TargetResult(card=CARD, cases=cases), seed=0, exit_code=None, advice={})
    assert text.count("effect.once: one effect per business operation") == 2


def test_a_should_finding_is_one_line_however_many_cases_show_it() -> None:
    cases = tuple(
        case("pass", mode=mode, findings=(REMARK.model_copy(update={"seen": f"call_{mode}"}),))
        for mode in ("whole", "stream")
    )
    lines = terminal.closing(
        TargetResult(card=CARD, cases=cases), seed=0, exit_code=0, advice={}
    ).splitlines()
    assert lines[0] == (
        "should  once/lost[chat-whole]  correlation.known-id: "
        "expected call_book_x81k, seen call_whole (and in 1 more case)"
    )
    assert lines[2].startswith("booking: 2 pass, 0 FAIL (must), 2 should,")


def test_a_should_finding_that_is_listed_is_not_told_again() -> None:
    listed = BUG.model_copy(update={"check": REMARK.check, "kind": "policy"})
    target = TargetResult(
        card=CARD, cases=(named("pass", "ids/kept", findings=(REMARK,), expectations=(listed,)),)
    )
    text = terminal.closing(target, seed=0, exit_code=0, advice={})
    assert text.startswith("booking: 1 pass, 0 FAIL (must), 0 should,")


def test_a_long_line_of_counts_stands_apart_from_the_exit_code() -> None:
    target = TargetResult(card=CARD.model_copy(update={"name": "n" * 90}), cases=())
    assert terminal.counts(target, exit_code=0).endswith(", 0 not declared exit 0")


def test_the_mismatch_leaves_out_what_is_far_from_it() -> None:
    lines = tuple(f"{n:<3} entry {n}" for n in range(1, 60))
    finding = ONCE.model_copy(update={"entries": (20, 50)})
    text = terminal.failure_block(case("fail", findings=(finding,), lines=lines))
    shown = [line for line in text.splitlines() if " entry " in line]
    assert [line.split()[-1] for line in shown] == [*map(str, range(15, 26)), "50"]
    assert [line.strip()[0] for line in shown if ">" in line] == [">", ">"]
    assert text.count("…\n") == 1


def test_no_hostile_text_reaches_the_terminal() -> None:
    text = terminal.render(REPORT)
    assert all(c == "\n" or c.isprintable() or c == "\u200d" for c in text)
    assert HOSTILE not in text
    assert "\\x1b[31mred\\x1b[0m \\x07\\x00 \\u202egnp.exe\\u2066 <b>&" in text
    assert "\U0001f469\u200d\U0001f4bb" in text


def test_text_without_end_is_cut() -> None:
    finding = ONCE.model_copy(update={"seen": "x" * 5000})
    text = terminal.failure_block(case("fail", findings=(finding,)))
    assert "x" * 600 + "… (4400 more characters)" in text


def test_the_command_that_runs_a_test_again_is_the_tests_own() -> None:
    block = terminal.failure_block(FAILING, rerun="pytest 'test_it.py::test_it[once/lost-chat]'")
    rerun = [line for line in block.splitlines() if line.startswith("rerun")]
    assert rerun == ["rerun         pytest 'test_it.py::test_it[once/lost-chat]'"]


def test_a_known_failure_that_passes_says_what_it_is_listed_as() -> None:
    stale = case("stale", expectations=(BUG,))
    assert terminal.stale_block(stale).splitlines()[0] == (
        "once/lost[chat-stream] is listed as bug (effect.once: will be mended) and no longer fails"
    )


def test_deaths_stand_below_their_case_and_are_counted() -> None:
    whole = case("pass", mode="whole", seconds=0.09)
    death = whole.model_copy(update={"case": f"{whole.case}+death@book.sent", "verdict": "fail"})
    other = death.model_copy(update={"case": "once/lost[chat-stream]+death@book.sent"})
    assert terminal.case_line(death, width=24, below=whole.case) == (
        "  +death@book.sent          FAIL   0.09 s"
    )
    assert terminal.case_line(other, below=whole.case).startswith("once/lost[chat-stream]+death@")
    both = TargetResult(card=CARD, cases=(whole, death))
    assert terminal.counts(both).startswith("booking, 1 case, 1 death: 1 pass, 1 FAIL (must), ")
    alone = TargetResult(card=CARD, cases=(death,))
    assert terminal.counts(alone).startswith("booking, 1 death: 0 pass, 1 FAIL (must), ")
    lines = terminal.render(report(both, exit_code=1)).splitlines()
    assert lines[0].endswith(" · 1 case, chat")
    assert "  +death@book.sent       FAIL   0.09 s" in lines
