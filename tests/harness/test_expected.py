"""Known failures: read, applied, stale, and refused with file and line."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from result_cases import CARD, finding, judged, target

from loopcheck.harness.expected import (
    Entry,
    ExpectedError,
    apply,
    apply_to_target,
    find,
    load,
    parse,
    usage,
)
from loopcheck.harness.results import CaseResult, Expectation, Verdict

TODAY = date(2026, 11, 30)
CASE = "once/lost[chat-stream]"
FILE = """\
format: 1
entries:
  - case: truncation/partial[*-stream]
    check: execution.complete-only
    kind: bug
    reason: partial JSON is completed on the last chunk
    issue: https://tracker.example/issues/412
    until: 2027-03-31
  - case: transport/http-429[messages-*]
    kind: flaky
    reason: retries outlast our own deadline
    when: {anthropic: "<2.14"}
    target: booking
"""


def bug(check: str | None = "effect.once", **fields: object) -> Entry:
    values: dict[str, object] = {"case": CASE, "kind": "bug", "reason": "known", "check": check}
    return Entry(**{**values, "file": "x.yaml", "line": 3, **fields})  # type: ignore[arg-type]


def verdict(case: CaseResult, *entries: Entry, today: date = TODAY) -> Verdict:
    return apply(case, entries, CARD, today=today).verdict


def test_every_field_is_read() -> None:
    first, second = parse(FILE, "loopcheck-expected.yaml")
    assert first == Entry(
        case="truncation/partial[*-stream]",
        check="execution.complete-only",
        kind="bug",
        reason="partial JSON is completed on the last chunk",
        issue="https://tracker.example/issues/412",
        until=date(2027, 3, 31),
        file="loopcheck-expected.yaml",
        line=3,
    )
    assert second == Entry(
        case="transport/http-429[messages-*]",
        kind="flaky",
        reason="retries outlast our own deadline",
        when={"anthropic": "<2.14"},
        target="booking",
        file="loopcheck-expected.yaml",
        line=9,
    )


@pytest.mark.parametrize("text", ["format: 1", "format: 1\nentries:", "format: 1\nentries: []"])
def test_an_empty_list_is_a_list(text: str) -> None:
    assert parse(text, "x.yaml") == ()


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("cas: a", "x.yaml:3:5: unknown key 'cas'; did you mean 'case'?"),
        ("case: a", "x.yaml:3:5: the entry has no 'kind'; every entry needs one"),
        (
            "case: a\n    kind: bugg",
            "x.yaml:4:11: unknown kind 'bugg'; did you mean 'bug'?",
        ),
        (
            "case: a\n    kind: bug\n    check: c",
            "x.yaml:3:5: the entry has no 'reason'; every entry needs one",
        ),
        (
            "case: a\n    kind: bug\n    reason: r",
            "x.yaml:3:5: the entry has no 'check'; every entry needs one",
        ),
        (
            "case: a\n    kind: flaky\n    reason: ''",
            "x.yaml:5:13: 'reason' must be text, not ''",
        ),
        (
            "case: a\n    kind: flaky\n    reason: r\n    until: 31 March",
            "x.yaml:6:12: 'until' must be a day such as 2027-03-31, not '31 March'",
        ),
        (
            "case: a\n    kind: flaky\n    reason: r\n    when: openai",
            "x.yaml:6:11: 'when' must be a mapping of package to versions; "
            'when: {openai: "<3.50"}',
        ),
        (
            "case: a\n    kind: flaky\n    reason: r\n    when: {openai: latest}",
            "x.yaml:6:20: 'when' of 'openai' must be a version specifier, not 'latest'; "
            'such as "<2.14" or ">=3,<4"',
        ),
        ("[a]", "x.yaml:3:5: an entry must be a mapping; - case: …"),
    ],
)
def test_a_wrong_entry_is_named_with_its_place(entry: str, message: str) -> None:
    with pytest.raises(ExpectedError) as caught:
        parse(f"format: 1\nentries:\n  - {entry}\n", "x.yaml")
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("entries: []", "x.yaml:1:1: 'format' is missing; this version reads 1; format: 1"),
        ("format: 2", "x.yaml:1:9: 'format' is 2; this version reads 1; format: 1"),
        ("format: 1\nentrys: []", "x.yaml:2:1: unknown key 'entrys'; did you mean 'entries'?"),
        ("format: 1\nentries: {a: b}", "x.yaml:2:10: 'entries' must be a list"),
    ],
)
def test_a_wrong_file_is_named_with_its_place(text: str, message: str) -> None:
    with pytest.raises(ExpectedError) as caught:
        parse(text, "x.yaml")
    assert str(caught.value) == message


def test_what_is_no_yaml_is_named_with_its_place() -> None:
    with pytest.raises(ExpectedError, match=r"^x\.yaml:3:1: not YAML"):
        parse("format: 1\nentries: [", "x.yaml")


def test_a_failing_case_whose_must_findings_are_all_listed_is_expected() -> None:
    case = judged(CASE, finding("effect.once"), finding("ids", "should"))
    result = apply(case, (bug(),), CARD, today=TODAY)
    assert (result.verdict, result.reason) == ("expected", "known")
    assert result.expectations == (Expectation(kind="bug", check="effect.once", reason="known"),)


def test_one_unlisted_must_finding_fails_the_case() -> None:
    case = judged(CASE, finding("effect.once"), finding("execution.once"))
    result = apply(case, (bug(),), CARD, today=TODAY)
    assert result.verdict == "fail"
    assert [entry.check for entry in result.expectations] == ["effect.once"]
    assert verdict(case, bug(), bug("execution.once")) == "expected"


@pytest.mark.parametrize(
    ("kinds", "named"),
    [
        (("bug",), "expected"),
        (("policy",), "policy"),
        (("flaky",), "flaky"),
        (("policy", "bug"), "expected"),
        (("flaky", "policy"), "policy"),
    ],
)
def test_the_verdict_is_named_by_the_kind_that_promises_most(
    kinds: tuple[str, ...], named: str
) -> None:
    checks = [f"check.{kind}" for kind in kinds]
    case = judged(CASE, *map(finding, checks))
    entries = [bug(check, kind=kind) for check, kind in zip(checks, kinds, strict=True)]
    assert verdict(case, *entries) == named


def test_entries_of_other_cases_targets_and_versions_do_not_answer() -> None:
    case = judged(CASE, finding("effect.once"))
    assert verdict(case, bug(case="once/lost[messages-*]")) == "fail"
    assert verdict(case, bug(target="support")) == "fail"
    assert verdict(case, bug(target="booking")) == "expected"
    assert verdict(case, bug(when={"openai": "<3.57"})) == "fail"
    assert verdict(case, bug(when={"openai": ">=3.50,<4"})) == "expected"
    assert verdict(case, bug(when={"openai": ">3", "langchain": ">1"})) == "fail"


def test_a_version_that_is_none_answers_nothing() -> None:
    card = CARD.model_copy(update={"packages": {"openai": "not installed"}})
    case = judged(CASE, finding("effect.once"))
    entry = bug(when={"openai": ">0"})
    assert apply(case, (entry,), card, today=TODAY).verdict == "fail"


def test_an_entry_holds_on_its_last_day_and_not_after_it() -> None:
    case = judged(CASE, finding("effect.once"))
    entry = bug(until=TODAY)
    assert verdict(case, entry) == "expected"
    late = apply(case, (entry,), CARD, today=date(2026, 12, 1))
    assert (late.verdict, late.expectations) == ("fail", ())
    assert late.reason == "listed as bug (effect.once) until 2026-11-30, which is past"


def test_a_flaky_entry_may_answer_any_check() -> None:
    entry = bug(kind="flaky", check=None)
    assert verdict(judged(CASE, finding("a"), finding("b")), entry) == "flaky"
    assert verdict(judged(CASE, verdict="fail"), entry) == "flaky"
    assert verdict(judged(CASE), entry) == "pass"


def test_a_failure_without_a_finding_is_answered_by_no_check() -> None:
    assert verdict(judged(CASE, verdict="fail"), bug()) == "fail"


def test_a_broken_target_is_never_expected() -> None:
    assert verdict(judged(CASE, verdict="target broken"), bug(kind="flaky", check=None)) == (
        "target broken"
    )


@pytest.mark.parametrize("kind", ["bug", "policy"])
def test_a_listed_case_that_passes_is_stale(kind: str) -> None:
    result = apply_to_target(target(judged(CASE)), (bug(kind=kind),), today=TODAY)
    assert result.cases[0].verdict == "stale"
    assert result.stale == (
        f"{CASE}: listed as {kind} (effect.once) and no longer fails (x.yaml:3)",
    )


def test_a_flaky_case_that_passes_is_never_stale() -> None:
    result = apply_to_target(target(judged(CASE)), (bug(kind="flaky"),), today=TODAY)
    assert (result.cases[0].verdict, result.stale) == ("pass", ())


def test_a_case_that_fails_otherwise_makes_its_entry_stale_and_stays_a_failure() -> None:
    case = judged(CASE, finding("execution.once"))
    result = apply_to_target(target(case), (bug(),), today=TODAY)
    assert result.cases[0].verdict == "fail"
    assert len(result.stale) == 1


@pytest.mark.parametrize(
    "case",
    [
        judged(CASE, verdict="not declared"),
        judged(CASE, verdict="not exercised"),
        judged(CASE, verdict="target broken"),
        judged(CASE, status="not observable"),
        judged("once/other[chat-stream]"),
        judged(CASE, finding("effect.once", "should")),
    ],
)
def test_what_was_not_seen_to_pass_is_not_stale(case: CaseResult) -> None:
    result = apply_to_target(target(case), (bug(),), today=TODAY)
    assert (result.cases[0].verdict, result.stale) == (case.verdict, ())


def test_usage_says_which_cases_still_need_an_entry() -> None:
    chat, messages = "once/lost[chat-stream]", "once/lost[messages-stream]"
    failing = judged(messages, finding("effect.once"))
    glob = bug(case="once/lost[*]")
    (use,) = usage([target(judged(chat), failing)], (glob,))
    assert (use.needed_by, use.outdated_in) == ((messages,), (chat,))
    assert usage([target(failing)], (glob,)) == []


def test_applying_twice_changes_nothing() -> None:
    cases = (judged(CASE, finding("effect.once")), judged("once/other[chat-stream]"))
    entries = (bug(), bug(case="once/other[*]"))
    once = apply_to_target(target(*cases), entries, today=TODAY)
    assert apply_to_target(once, entries, today=TODAY) == once


def test_a_project_without_a_list_has_no_known_failures(tmp_path: Path) -> None:
    assert find(tmp_path) == ()


def test_the_list_beside_the_settings_is_found(tmp_path: Path) -> None:
    (tmp_path / "loopcheck-expected.yaml").write_text(FILE)
    assert len(find(tmp_path)) == 2


def test_a_list_that_the_settings_name_must_exist(tmp_path: Path) -> None:
    (tmp_path / "loopcheck.toml").write_text('expected = "gone.yaml"')
    with pytest.raises(ExpectedError) as caught:
        find(tmp_path)
    assert str(caught.value) == (
        f"{tmp_path / 'gone.yaml'}: cannot be read: No such file or directory"
    )


def test_the_name_of_a_loaded_list_is_its_path(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(FILE)
    assert {entry.file for entry in load(path)} == {str(path)}


class TestDeaths:
    DEATH = f"{CASE}+death@book.committed"

    @pytest.mark.parametrize("glob", [CASE, "once/lost", "once/lost[*]+death@*"])
    def test_an_entry_about_the_case_or_its_deaths_answers_them(self, glob: str) -> None:
        assert verdict(judged(self.DEATH, finding("effect.once")), bug(case=glob)) == "expected"

    def test_one_about_another_death_does_not(self) -> None:
        entry = bug(case=f"{CASE}+death@book.started")
        assert verdict(judged(self.DEATH, finding("effect.once")), entry) == "fail"

    def test_a_death_makes_only_those_stale_that_speak_of_deaths(self) -> None:
        assert verdict(judged(self.DEATH), bug(case="once/lost")) == "pass"
        assert verdict(judged(self.DEATH), bug(case="once/*+death@*")) == "stale"
