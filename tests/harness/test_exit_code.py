"""The exit code of a run is the first of its reasons that applies."""

from __future__ import annotations

from itertools import product

import pytest
from result_cases import finding, judged, target

from loopcheck.harness.exit_code import exit_code
from loopcheck.harness.results import Expectation, TargetResult, Verdict

PASSED = judged("a[chat-stream]")
FAILED = judged("b[chat-stream]", finding("effect.once"))
REMARKED = judged("c[chat-stream]", finding("ids", "should"))


def run(*, broken: bool, ran: bool, failed: bool, stale: bool) -> list[TargetResult]:
    """A run of two targets with these reasons for an exit code."""
    cases = [PASSED] if ran else []
    cases += [FAILED] if failed else []
    first = target(*cases, stale=("x",) if stale else ())
    return [first, target(PASSED, broken="gone") if broken else target()]


@pytest.mark.parametrize(
    ("broken", "ran", "failed", "stale"), list(product([True, False], repeat=4))
)
def test_every_combination_of_reasons(broken: bool, ran: bool, failed: bool, stale: bool) -> None:
    code = exit_code(run(broken=broken, ran=ran, failed=failed, stale=stale))
    if broken:
        assert code == 4
    elif not ran and not failed:
        assert code == 5
    elif failed:
        assert code == 1
    elif stale:
        assert code == 3
    else:
        assert code == 0


@pytest.mark.parametrize(
    ("verdict", "code"),
    [
        ("pass", 0),
        ("fail", 1),
        ("expected", 0),
        ("policy", 0),
        ("flaky", 0),
        ("stale", 0),
        ("target broken", 4),
        ("harness error", 1),
    ],
)
def test_one_case_of_each_verdict_beside_a_pass(verdict: Verdict, code: int) -> None:
    assert exit_code([target(PASSED, judged("d[chat-whole]", verdict=verdict))]) == code


@pytest.mark.parametrize("verdict", ["pass", "not exercised", "not declared"])
def test_a_run_in_which_no_check_answered_is_never_green(verdict: Verdict) -> None:
    silent = judged("d[chat-whole]", verdict=verdict, status="not observable")
    assert exit_code([target(silent)]) == 5
    assert exit_code([target()]) == 5
    assert exit_code([]) == 5


def test_should_findings_count_only_when_strict() -> None:
    assert exit_code([target(REMARKED)]) == 0
    assert exit_code([target(REMARKED)], strict_should=True) == 1


def test_a_listed_should_finding_does_not_count_when_strict() -> None:
    def listed(check: str) -> Expectation:
        return Expectation(kind="policy", check=check, reason="on purpose")

    answered = REMARKED.model_copy(update={"expectations": (listed("ids"),)})
    assert exit_code([target(answered)], strict_should=True) == 0
    any_check = REMARKED.model_copy(update={"expectations": (listed("*"),)})
    assert exit_code([target(any_check)], strict_should=True) == 0
    other = REMARKED.model_copy(update={"expectations": (listed("effect.once"),)})
    assert exit_code([target(other)], strict_should=True) == 1


def test_a_finding_below_should_never_counts() -> None:
    noted = judged("c[chat-stream]", finding("ids", "may"))
    assert exit_code([target(noted)], strict_should=True) == 0
