"""What counts as better, worse, other and the same between two runs."""

from __future__ import annotations

import json

import pytest
from sample_pair import AFTER, BEFORE
from sample_report import BROKEN, BUG, ONCE, REMARK, REPORT, case, report

from loopcheck.harness.results import Report, TargetCard, TargetResult, Verdict
from loopcheck.reports import difference
from loopcheck.reports.diff import compare

FOUND = compare(BEFORE, AFTER, names=("before.json", "after.json"))


def told(kind: str) -> list[tuple[str, str | None]]:
    return [(c.target, c.case) for c in FOUND.changes if c.kind == kind]


def of(scenario: str) -> str:
    return f"ids/{scenario}[chat-stream]"


def test_what_passed_and_fails_has_regressed_also_where_it_hangs_now() -> None:
    assert told("regressed") == [
        ("booking", "once/lost[chat-stream]"),
        ("booking", of("hung")),
        ("support", None),
    ]
    assert FOUND.regressed


def test_one_cause_is_one_change_that_names_the_other_cases() -> None:
    assert FOUND.changes[0].same_in == ("once/lost[chat-whole]",)
    assert FOUND.counts["regressed"] == 4


def test_what_failed_and_passes_is_fixed_also_a_target_that_was_broken() -> None:
    assert told("fixed") == [("booking", of("mended")), ("pricing", None)]


def test_another_check_or_another_first_mismatch_is_another_failure() -> None:
    assert told("differently") == [("booking", of("moved")), ("booking", of("other"))]
    assert [c.entries for c in FOUND.changes if c.kind == "differently"] == [(9, 7), (9, 9)]


def test_when_a_response_was_recorded_as_sent_is_no_other_mismatch() -> None:
    outcome_first = ("4  outcome  completed, text ''", "5  sent     6 frames to request 1")
    sent_first = ("4  sent     6 frames to request 1", "5  outcome  completed, text ''")

    def failing_at(entry: int, *lines: str) -> Report:
        finding = ONCE.model_copy(update={"entries": (entry,)})
        failed = case("fail", findings=(finding,), lines=lines)
        return report(TargetResult(card=TargetCard(name="booking"), cases=(failed,)))

    before = failing_at(4, *outcome_first)
    assert compare(before, failing_at(5, *sent_first)).counts["unchanged"] == 1
    assert compare(before, failing_at(5)).counts["differently"] == 1


def test_other_ids_and_an_entry_in_the_list_of_known_failures_change_nothing() -> None:
    assert told("unchanged") == [
        ("booking", of("same")),
        ("booking", of("listed-now")),
        ("quotes", None),
    ]


def test_what_loopcheck_could_not_judge_is_no_regression() -> None:
    assert told("could not run") == [("booking", of("lost-by-the-harness"))]


def test_cases_that_only_one_run_tried_are_added_or_gone() -> None:
    names = {c.case for c in FOUND.changes if c.kind == "added" and c.target == "booking"}
    assert names == {of("new"), of("declared-now")}
    gone = {(c.target, c.case) for c in FOUND.changes if c.kind == "gone"}
    assert ("booking", of("taken-out")) in gone
    assert ("booking", of("no-longer-declared")) in gone
    assert ("retired", of("same")) in gone
    assert ("support", of("same")) not in gone


def test_what_makes_the_runs_unlike_is_named() -> None:
    assert FOUND.notes == (
        "suite 2026.1 before, 2026.2 after: scenarios may require other things",
        "seed 7 before, 8 after: ids and fragments are not the same",
        "request rules left out: none before, C1 after",
    )


def test_versions_are_told_once_with_the_target_that_has_them() -> None:
    packages = [(c.target, c.package, c.before, c.after) for c in FOUND.packages]
    assert packages == [
        ("booking", "openai", "3.57.0", "4.0.0"),
        ("booking", "python", "3.12", "3.13"),
        (None, "hostile\u202e<b>", None, "1|2"),
    ]


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        ("pass", "pass", "unchanged"),
        ("pass", "stale", "unchanged"),
        ("stale", "fail", "regressed"),
        ("pass", "flaky", "unchanged"),
        ("flaky", "pass", "unchanged"),
        ("pass", "policy", "regressed"),
        ("expected", "fail", "unchanged"),
        ("policy", "pass", "fixed"),
        ("fail", "not exercised", "gone"),
        ("not exercised", "fail", "added"),
        ("not declared", "not exercised", "unchanged"),
        ("harness error", "pass", "could not run"),
        ("target broken", "pass", "fixed"),
    ],
)
def test_each_pair_of_verdicts(before: Verdict, after: Verdict, kind: str) -> None:
    card = TargetCard(name="t")
    first, second = (
        report(TargetResult(card=card, cases=(case(verdict, findings=(ONCE,)),)))
        for verdict in (before, after)
    )
    counts = compare(first, second).counts
    assert {name for name, number in counts.items() if number} == {kind}


def test_a_run_is_like_itself() -> None:
    same = compare(REPORT, REPORT)
    assert not same.regressed
    assert {c.kind for c in same.changes} == {"unchanged", "could not run"}
    assert (same.notes, same.packages) == ((), ())


def test_should_findings_and_listing_are_no_regression() -> None:
    card = TargetCard(name="t")
    plain = report(TargetResult(card=card, cases=(case("pass"),)))
    remarked = report(TargetResult(card=card, cases=(case("pass", findings=(REMARK,)),)))
    assert not compare(plain, remarked).regressed
    failing = report(TargetResult(card=card, cases=(case("fail", findings=(ONCE,)),)))
    listed = case("expected", findings=(ONCE,), expectations=(BUG,))
    assert not compare(failing, report(TargetResult(card=card, cases=(listed,)))).regressed


def test_a_target_that_is_new_and_broken_is_added() -> None:
    changes = compare(report(), report(BROKEN)).changes
    assert [(c.kind, c.case, c.after) for c in changes] == [("added", None, "target broken")]


def test_the_document_comes_back_as_it_was() -> None:
    text = difference.dump(FOUND)
    assert text.isascii()
    assert difference.Difference.model_validate(json.loads(text)) == FOUND
