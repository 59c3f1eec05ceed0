"""Suites: the catalogue is frozen under a name, and what came later counts for nothing."""

from __future__ import annotations

import shutil
from datetime import date
from pathlib import Path

import pytest
from result_cases import finding, judged, target

from loopcheck.harness import scoring, suites
from loopcheck.harness.cli import main
from loopcheck.harness.exit_code import AS_EXPECTED, NOTHING_RAN, exit_code
from loopcheck.harness.expected import apply_to_target, parse
from loopcheck.harness.scenario.load import load_builtin, load_text
from loopcheck.harness.scenario.meaning import meaning
from loopcheck.harness.scenario.model import Scenario
from loopcheck.reports import causes, terminal, verdicts

LOOPS = Path(__file__).with_name("stdlib_loop.py")
SETTINGS = """
scenarios = ["scenarios"]
[targets]
careless = "stdlib_loop:careless"
"""
PARTIAL = "truncation/trunc-length-partial-args"
FINAL = "basics/final-answer"
TEXT = """\
format: 1
title: A seat is reserved once
rule: One call reserves one seat.
prompt: Reserve seat 12.
tools:
  reserve_seat: {kind: write, args: {event: string, seat: integer}}
turns:
  - calls: [{as: book, tool: reserve_seat, args: {event: E1, seat: 12}}]
  - say: Done.
expect:
  must:
    executions: {reserve_seat: 1}
    effects: {reserve_seat: 1}
"""


def scenario(text: str = TEXT, id: str = "own/seat") -> Scenario:
    return load_text(text.encode(), file="seat.yaml", id=id)


def builtin(id: str) -> Scenario:
    return next(one for one in load_builtin() if one.id == id)


@pytest.fixture
def older(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A suite in which one scenario has changed since, and one is newer."""
    lines = (suites.FOLDER / "suite-2026.1.txt").read_text().splitlines()
    kept = [line for line in lines if not line.startswith(f"{PARTIAL} ")]
    changed = [f"{FINAL} {'0' * 16}" if line.startswith(f"{FINAL} ") else line for line in kept]
    (tmp_path / "suite-2025.12.txt").write_text("\n".join(changed))
    shutil.copy(suites.FOLDER / "suite-2026.1.txt", tmp_path)
    monkeypatch.setattr(suites, "FOLDER", tmp_path)
    return "2025.12"


def test_the_current_suite_is_what_is_shipped() -> None:
    frozen = suites.listed(suites.CURRENT)
    shipped = {one.id: meaning(one) for one in load_builtin()}

    assert suites.names()[-1] == suites.CURRENT
    changed = sorted(id for id in {*frozen, *shipped} if frozen.get(id) != shipped.get(id))
    assert not changed, (
        f"{', '.join(changed)}: not as in suite {suites.CURRENT}. A released suite is never "
        "edited: take back the change, or make the next suite: python -m loopcheck.harness.scoring "
        "> src/loopcheck/scenarios/suite-NAME.txt, and CURRENT in harness/suites.py. Only while "
        f"{suites.CURRENT} is not yet released, write its own file anew."
    )


def test_a_suite_is_written_as_it_is_read() -> None:
    text = scoring.written(load_builtin())

    assert text == (suites.FOLDER / f"suite-{suites.CURRENT}.txt").read_text()


@pytest.mark.parametrize(
    ("was", "becomes"),
    [
        ("title: A seat is reserved once", "title: One seat, one reservation"),
        ("rule: One call", "# for readers\nrule: A call"),
        ("prompt: ", "grounds: [B139]\nprompt: "),
        ("prompt: ", "modes: [whole, stream]\nprompt: "),
        ("    executions: {reserve_seat: 1}\n    effects: {reserve_seat: 1}", (
            "    effects: {reserve_seat: 1}\n    executions: {reserve_seat: 1}"
        )),
    ],
)  # fmt: skip
def test_words_for_readers_and_spelling_mean_nothing(was: str, becomes: str) -> None:
    assert meaning(scenario(TEXT.replace(was, becomes))) == meaning(scenario())
    assert was in TEXT


@pytest.mark.parametrize(
    ("was", "becomes"),
    [
        ("seat 12.", "seat 13."),
        ("{event: E1, seat: 12}", "{seat: 12, event: E1}"),
        ("executions: {reserve_seat: 1}", "executions: {reserve_seat: {at_most: 1}}"),
        ("prompt: ", "modes: [whole]\nprompt: "),
        ("kind: write", "kind: read"),
        ("  - say: Done.", "  - optional: true\n    say: Done."),
    ],
)
def test_what_is_sent_and_demanded_means_something(was: str, becomes: str) -> None:
    assert meaning(scenario(TEXT.replace(was, becomes))) != meaning(scenario())
    assert was in TEXT


def test_a_suite_leaves_out_what_is_newer_or_changed(older: str) -> None:
    every = load_builtin()

    assert scoring.left_out(every, older) == {
        FINAL: "changed since suite 2025.12",
        PARTIAL: "newer than suite 2025.12",
    }
    assert scoring.left_out(every, suites.CURRENT) == {}
    assert suites.names() == ["2025.12", "2026.1"]


def test_scenarios_of_the_users_own_always_count(older: str) -> None:
    namesake = scenario(id=PARTIAL)

    assert scoring.left_out([namesake, scenario()], older) == {}


def test_what_is_left_out_counts_for_nothing() -> None:
    failing = judged("a/b[chat-stream]", finding("effect.once"), finding("effect.once", "should"))
    left = scoring.scored(failing, "newer than suite 2025.12")
    one = target(left, judged("c/d[chat-stream]"))

    assert (left.verdict, left.reason) == (
        "unscored",
        "newer than suite 2025.12; fail: effect.once",
    )
    assert left.findings == failing.findings
    assert exit_code([one], strict_should=True) == AS_EXPECTED
    assert exit_code([target(left)]) == NOTHING_RAN
    assert causes.failures([left]) == []
    assert causes.remarks([left]) == []
    assert scoring.scored(failing, None) is failing
    assert scoring.scored_target(target(failing), {"a/b": "new"}).cases[0].verdict == "unscored"


def test_what_a_target_does_not_declare_stays_so() -> None:
    case = judged("a/b[chat-stream]", verdict="not declared")

    assert scoring.scored(case, "newer than suite 2025.12") is case


def test_nothing_is_stale_in_what_is_left_out() -> None:
    entries = parse("format: 1\nentries:\n  - {case: a/b, check: c, kind: bug, reason: r}\n", "f")
    left = scoring.scored(judged("a/b[chat-stream]", check="c"), "newer than suite 2025.12")

    assert apply_to_target(target(left), entries, today=date(2026, 1, 1)).stale == ()


def test_it_is_shown_apart() -> None:
    left = scoring.scored(
        judged("a/b[chat-stream]", finding("effect.once")), "newer than suite 2025.12"
    )

    assert terminal.case_line(left, width=16) == (
        "a/b[chat-stream]    unscored   0.00 s   newer than suite 2025.12; fail: effect.once"
    )
    assert terminal.counts(target(left)).endswith("0 not declared, 1 unscored")
    assert verdicts.counted([left]) == {"unscored": 1}


def test_a_run_under_an_older_suite(
    older: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(LOOPS, tmp_path)
    own = tmp_path / "scenarios" / "own"
    own.mkdir(parents=True)
    (own / "seat.yaml").write_text(TEXT)
    (tmp_path / "loopcheck.toml").write_text(f'suite = "{older}"\n{SETTINGS}')

    chosen = ["own/seat", f"{PARTIAL}[chat-stream]", f"{FINAL}[chat-whole]"]
    code = main(["run", *chosen, "--target", "careless", "--report", "markdown:report.md"])
    lines = capsys.readouterr().out.splitlines()

    assert code == 0, lines
    assert lines[0].startswith("suite 2025.12 · target careless")
    told = {line.split()[0]: line for line in lines if "[" in line}
    assert told[f"{PARTIAL}[chat-stream]"].endswith(
        "newer than suite 2025.12; fail: execution.complete-only, scenario.expects"
    )
    assert told[f"{FINAL}[chat-whole]"].endswith("changed since suite 2025.12; pass")
    assert lines[-1].split(" exit")[0].rstrip() == (
        "careless: 2 pass, 0 FAIL (must), 0 should, 0 expected, 0 not declared, 2 unscored"
    )
    text = (tmp_path / "report.md").read_text()
    assert "Not scored: the suite leaves these out" in text
    assert "newer than suite 2025.12" in text


def test_a_name_that_is_no_suite_is_refused() -> None:
    with pytest.raises(ValueError, match=r"unknown suite '2020\.1'; this version has 2026\.1"):
        suites.check_suite("2020.1")
    assert suites.check_suite(None) == suites.CURRENT


def test_under_pytest_such_a_case_is_skipped(older: str, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        stdlib_loop=LOOPS.read_text(),
        test_agent=f"""
            import loopcheck
            from stdlib_loop import careless

            @loopcheck.cases(careless, suite="{older}", scenarios=["{PARTIAL}"])
            def test_agent(case):
                case.check()
        """,
    )
    pytester.makefile(".ini", pytest="[pytest]\nasyncio_default_fixture_loop_scope = function\n")
    result = pytester.runpytest("-rs")

    result.assert_outcomes(skipped=2)
    result.stdout.fnmatch_lines(["*unscored: newer than suite 2025.12; fail: execution.complete*"])
