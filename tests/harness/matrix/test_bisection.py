"""The search for the first release that is worse, whatever the releases are like."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import floor, log2

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from loopcheck.harness.matrix.bisection import Search, Verdict

VERDICTS: st.SearchStrategy[Verdict] = st.sampled_from(["good", "worse", "skipped"])
RELEASES = st.lists(VERDICTS, max_size=80).map(lambda between: ["good", *between, "worse"])


def searched(releases: Sequence[Verdict], width: int = 1) -> tuple[Search, list[list[int]]]:
    """The search at its end, and what it tried in each round."""
    search = Search(good=0, worse=len(releases) - 1)
    rounds: list[list[int]] = []
    while points := search.next(width):
        rounds.append(points)
        search.hear({point: releases[point] for point in points})
    return search, rounds


@given(releases=RELEASES, width=st.integers(1, 9))
def test_what_is_found_is_worse_and_the_one_tried_before_it_is_good(
    releases: list[Verdict], width: int
) -> None:
    search, rounds = searched(releases, width)
    tried = [point for points in rounds for point in points]
    assert len(tried) == len(set(tried))
    assert all(1 <= len(points) <= width for points in rounds)
    assert releases[search.worse] == "worse"
    decided = sorted({0, len(releases) - 1, *(n for n in tried if releases[n] != "skipped")})
    assert releases[search.good] == "good"
    assert (search.good, search.worse) in pairwise(decided)
    assert search.between == list(range(search.good + 1, search.worse))
    assert all(releases[n] == "skipped" for n in search.between)


@given(releases=RELEASES)
@example(releases=["good", "worse"])
@example(releases=["good", *["skipped"] * 9, "worse"])
def test_one_at_a_time_halves_what_is_left_but_for_what_is_skipped(
    releases: list[Verdict],
) -> None:
    _, rounds = searched(releases)
    left = len(releases) - 2
    skips = sum(releases[point] == "skipped" for points in rounds for point in points)
    assert len(rounds) <= (floor(log2(left)) + 1 if left else 0) + skips


@given(good=st.integers(0, 400), worse=st.integers(0, 400), width=st.integers(1, 7))
def test_of_releases_that_turn_once_the_turn_is_found(good: int, worse: int, width: int) -> None:
    releases: list[Verdict] = ["good" if n <= good else "worse" for n in range(good + worse + 2)]
    search, rounds = searched(releases, width)
    assert (search.good, search.worse) == (good, good + 1)
    left = good + worse
    for points in rounds:
        assert len(points) <= min(width, left)
        left = -(-(left - len(points)) // (len(points) + 1))


@pytest.mark.parametrize(
    ("width", "points"),
    [(1, [4]), (2, [2, 5]), (3, [2, 4, 6]), (7, [1, 2, 3, 4, 5, 6, 7]), (9, [1, 2, 3, 4, 5, 6, 7])],
)
def test_what_is_left_is_parted_evenly(width: int, points: list[int]) -> None:
    assert Search(good=0, worse=8).next(width) == points
