"""What is said of a bisection."""

from __future__ import annotations

from dataclasses import replace

from sample_matrix import MATRIX

from loopcheck.reports.matrix_bisect import Narrowed, conclusion, opening, regressions, tried

RELEASES = [f"1.{minor}" for minor in range(12)]
FOUND = Narrowed(
    target="billing",
    package="anthropic",
    releases=RELEASES,
    tried=6,
    good="1.3",
    worse="1.4",
    regressed=frozenset({"a", "b"}),
)
FIRST = (
    "billing: anthropic 1.4 is the first release that is worse; 1.3 is the last good one before it"
)


def said(found: Narrowed) -> list[str]:
    return list(conclusion(found))


def test_the_first_release_that_is_worse() -> None:
    assert said(FOUND) == [
        FIRST,
        "         2 cases regressed there, and nothing else by 1.11",
        "         6 of 12 releases tried",
    ]
    newest = replace(FOUND, good="1.10", worse="1.11", regressed=frozenset({"a"}))
    assert said(newest)[1] == "         1 case regressed there"


def test_what_regressed_later_is_counted_and_can_be_searched() -> None:
    command = "loopcheck matrix --bisect anthropic==1.4..1.11 --only billing"
    later = replace(FOUND, later=frozenset({"c"}), go_on=command)
    assert said(later)[1:3] == [
        "         2 cases regressed there; by 1.11 1 more case regressed",
        f"         find the next: {command}",
    ]
    broken = replace(FOUND, later=frozenset({None}))
    assert said(broken)[1] == "         2 cases regressed there; by 1.11 every case regressed"
    mended = replace(FOUND, regressed=frozenset({None}), later=frozenset({"a", "b"}))
    assert said(mended)[1] == (
        "         every case regressed there; by 1.11 it runs again, and 2 cases regressed"
    )


def test_what_could_not_be_installed_is_named() -> None:
    skipped = replace(FOUND, skipped=RELEASES[1:10])
    assert said(skipped)[-1] == (
        "         6 of 12 releases tried; cannot be installed: 1.1, 1.2, 1.3, 1.4, 1.5, 1.6 "
        "and 3 more"
    )
    between = replace(FOUND, good="1.2", between=["1.3"], skipped=["1.3"])
    assert said(between)[0] == (
        "billing: anthropic 1.4 is the first release known to be worse, 1.2 the last good one "
        "before it; cannot be installed between them: 1.3"
    )


def test_there_is_no_answer() -> None:
    same = Narrowed(target="billing", package="anthropic", releases=RELEASES, tried=2)
    assert said(same) == [
        "billing: anthropic 1.11 is not worse than 1.0",
        "         2 of 12 releases tried",
    ]
    untold = replace(same, untold="anthropic==1.0 cannot be installed")
    assert said(untold)[0] == (
        "billing: it cannot be told where anthropic gets worse: anthropic==1.0 cannot be installed"
    )
    stopped = replace(FOUND, untold="anthropic==1.5 was not finished; run the same command again")
    assert said(stopped) == [
        "billing: it cannot be told where anthropic gets worse: anthropic==1.5 was not finished; "
        "run the same command again",
        "         so far 1.3 is good and 1.4 is worse",
        "         6 of 12 releases tried",
    ]


def test_what_is_told_on_the_way() -> None:
    assert opening("billing", "anthropic", RELEASES, "now") == (
        "billing: anthropic 1.0..1.11, 12 releases; everything else as under now"
    )
    line = tried(MATRIX.cells[0], 3, (8, 4), "")
    assert line == "[ 3] billing   now   env cached     1 cases     9.8 s  1 pass"
    assert tried(MATRIX.cells[0], 3, (8, 4), "good") == f"{line}   good"


def test_every_case_that_regressed_is_among_them() -> None:
    found = regressions(MATRIX.comparisons[0])
    assert found == {None, "once/lost[chat-stream]"}
