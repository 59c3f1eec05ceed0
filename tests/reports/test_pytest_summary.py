"""The section that a pytest run ends with."""

from __future__ import annotations

from collections.abc import Mapping

from loopcheck.reports.pytest_summary import summary


def said(
    verdict: str,
    *,
    target: str = "langchain",
    should: int = 0,
    suite: str = "2026.1",
    packages: Mapping[str, str] | None = None,
) -> tuple[str, object]:
    told = {"target": target, "case": "a[chat-stream]", "verdict": verdict, "should": should}
    return "loopcheck", {**told, "suite": suite, "packages": packages or {}}


def test_each_target_has_its_versions_and_its_counts() -> None:
    title, lines = summary(
        [
            said("fail", should=2, packages={"langchain": "1.5.2", "langchain-core": "1.8.3"}),
            said("pass", should=1),
            said("pass", target="reference"),
        ]
    )
    assert title == "loopcheck, suite 2026.1"
    assert lines == [
        "langchain (langchain 1.5.2, langchain-core 1.8.3)",
        "  2 cases: 1 pass, 1 FAIL (must), 3 should, 0 expected, 0 by policy, 0 not declared",
        "reference",
        "  1 case: 1 pass, 0 FAIL (must), 0 should, 0 expected, 0 by policy, 0 not declared",
    ]


def test_what_is_rare_is_counted_where_it_occurs() -> None:
    verdicts = ("stale", "flaky", "not exercised", "target broken", "harness error", "policy")
    _, lines = summary(map(said, verdicts))
    assert lines[1] == (
        "  6 cases: 0 pass, 0 FAIL (must), 0 should, 0 expected, 1 by policy, 0 not declared, "
        "1 stale, 1 flaky, 1 not exercised, 1 BROKEN, 1 HARNESS ERROR"
    )


def test_what_other_plugins_carry_along_is_passed_over() -> None:
    title, lines = summary([("other", {"target": "x"}), ("loopcheck", "x"), said("pass")])
    assert (title, len(lines)) == ("loopcheck, suite 2026.1", 2)


def test_no_hostile_text_reaches_the_terminal() -> None:
    title, lines = summary([said("\x1b[31m", target="\x07", suite="\x1b", packages={"\r": "1"})])
    assert all(line.isprintable() for line in (title, *lines))
