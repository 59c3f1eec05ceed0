"""Sets side by side: what became of each target, by which package, and what it sends now."""

from __future__ import annotations

import pytest
from sample_matrix import (
    AFTER,
    BEFORE,
    CASE,
    CELLS,
    CONFLICT,
    FAILING,
    MISSING,
    NEW,
    OLD,
    PASSING,
    TYPE_ERROR,
    asked,
    cell,
    wire,
)

from loopcheck.harness.matrix.results import CellResult, Wire
from loopcheck.reports.difference import PackageChange
from loopcheck.reports.matrix_comparison import compare
from loopcheck.reports.matrix_report import Comparison

FOUND = compare(CELLS, "now", "next")


def drift(base: Wire, head: Wire) -> list[tuple[str, str, str | None, str | None]]:
    found = compare(
        [cell("t", "a", PASSING, requests=base), cell("t", "b", PASSING, requests=head)], "a", "b"
    )
    return [(one.kind, one.name, one.before, one.after) for one in found.drift]


def pair(base: CellResult, head: CellResult) -> Comparison:
    return compare([base, head], "now", "next")


def test_targets_are_told_the_worst_first() -> None:
    assert FOUND.targets == {
        "billing": "regressed",
        "quotes": "regressed",
        "pricing": "could not run",
        "support": "fixed",
        "legacy": "unchanged",
    }


def test_the_package_behind_a_change_is_named_where_it_is_the_only_one() -> None:
    behind = {one.change.target: one.package for one in FOUND.changes}
    only = PackageChange(target="billing", package="anthropic", before="0.125.0", after="2.14.0")
    assert behind["billing"] == only
    assert behind["support"] == only.model_copy(update={"target": "support"})
    assert behind["quotes"] is None  # it could be httpx2 as well
    assert behind["legacy"] is None


def test_what_changed_holds_the_cases_of_both_sides() -> None:
    (change,) = [one for one in FOUND.changes if one.change.target == "quotes"]
    assert (change.was, change.now) == (PASSING, FAILING)
    assert change.change.check == "effect.once"


@pytest.mark.parametrize(
    ("base", "head", "kind"),
    [
        (("ran", None), ("breaks at import", MISSING), "regressed"),
        (("ran", None), ("cannot install", CONFLICT), "could not run"),
        (("ran", None), ("not finished", CONFLICT), "could not run"),
        (("breaks at import", MISSING), ("ran", None), "fixed"),
        (("breaks at import", MISSING), ("breaks at the first call", TYPE_ERROR), "differently"),
        (("cannot install", CONFLICT), ("cannot install", CONFLICT), "could not run"),
    ],
)
def test_a_target_that_could_not_be_put_on_trial_is_one_change(
    base: tuple[str, object], head: tuple[str, object], kind: str
) -> None:
    sides = [
        cell("t", name, PASSING, status=status, trouble=trouble, packages=packages)  # type: ignore[arg-type]
        for name, (status, trouble), packages in (("now", base, OLD), ("next", head, NEW))
    ]
    found = pair(*sides)
    assert found.targets == {"t": kind}
    assert [(one.change.kind, one.change.case) for one in found.changes] == [(kind, None)]
    assert sum(found.counts.values()) == 1
    assert found.compared == 0


def test_a_set_that_could_not_run_is_told_beside_what_the_other_came_to() -> None:
    found = pair(
        cell("t", "now", FAILING, packages=OLD),
        cell("t", "next", FAILING, status="cannot install", trouble=CONFLICT, packages=NEW),
    )
    (one,) = found.changes
    assert (one.change.before, one.change.after) == ("fail", None)


def test_a_target_that_one_set_lacks_is_not_compared() -> None:
    assert compare([cell("t", "now", PASSING)], "now", "next").targets == {}


def test_every_kind_of_drift_is_told_once() -> None:
    seen = [(one.kind, one.name, one.before, one.after) for one in FOUND.drift]
    assert seen == [
        ("header", "anthropic-version", "2023-06-01", "2026-10-21"),
        ("header", "x-api-key", "x-api-key: ***", "authorization: Bearer ***"),
        ("body", "messages[assistant]", 'role "assistant"', None),
        ("body", "thread", None, 'type "create"'),
        ("body", "thread", None, 'type "continue"'),
    ]
    assert FOUND.drift[0].targets == ("quotes", "support")
    assert FOUND.drift[0].cases == 2
    assert FOUND.drift[0].example == CASE
    assert FOUND.drift[2].first_turn == 2
    # A header that says nothing new but the version is no drift.
    assert FOUND.versioned == ("user-agent",)
    assert FOUND.retries == {"529": 2}


def test_fewer_attempts_are_drift() -> None:
    twice = wire(asked(1, 1, answered="503"), asked(1, 2, answered="503"), asked(1, 3))
    once = wire(asked(1, 1, answered="503"))
    assert drift(twice, once) == [("retries", "503", "3 attempts", "1 attempt")]
    assert drift(once, twice) == [("retries", "503", "1 attempt", "3 attempts")]
    assert drift(twice, twice) == []


def test_endpoints_are_compared_of_turns_and_beside_them() -> None:
    moved = asked(1).model_copy(update={"endpoint": "POST /v1/messages/stream"})
    beside = asked(None).model_copy(update={"endpoint": "GET /v1/models"})
    assert drift(wire(asked(1)), wire(moved, beside)) == [
        ("endpoint", "GET /v1/models", None, "GET /v1/models"),
        (
            "endpoint",
            "POST /v1/messages/stream",
            "POST /v1/messages",
            "POST /v1/messages/stream",
        ),
    ]


def test_a_request_that_only_one_side_makes_is_no_drift() -> None:
    assert drift(wire(asked(1), asked(2, headers=0)), wire(asked(1))) == []


def test_cases_of_one_side_only_are_not_compared() -> None:
    assert drift(BEFORE, AFTER.model_copy(update={"cases": ()})) == []
    assert drift(BEFORE, wire(asked(1), headers={"new": "1"}, cases=("other[chat-whole]",))) == []


def test_a_part_that_is_new_altogether_is_told_by_its_top() -> None:
    body: dict[str, tuple[str, ...]] = {
        "tools[function].function.name": ("text",),
        "tools[function].function.strict": ("true",),
        "tools[function].type": ('"function"',),
        "reasoning.effort": ('"low"',),
        "n": ("1",),
    }
    assert drift(wire(bodies=({"n": ("2",)},)), wire(bodies=(body,))) == [
        ("body", "n", "2", "1"),
        ("body", "reasoning", None, 'effort "low"'),
        ("body", "tools[function]", None, "…"),
    ]
