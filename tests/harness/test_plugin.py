"""The pytest plugin, seen from projects that use it: pytest runs inside pytest."""

from __future__ import annotations

from pathlib import Path

import pytest

import loopcheck.harness.parametrize  # loaded here once, and not again in each inner run

LOOPS = Path(__file__).with_name("stdlib_loop.py").read_text(encoding="utf-8")
INI = """
[pytest]
filterwarnings =
    error
    default::loopcheck.LoopcheckWarning
asyncio_default_fixture_loop_scope = function
"""
PARTIAL = "truncation/trunc-length-partial-args"
CARELESS = f"""
import loopcheck
from loops import careless

@loopcheck.cases(careless, scenarios=["{PARTIAL}", "basics/final-answer"])
def test_agent(case: loopcheck.Case) -> None:
    case.check()
"""


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makepyfile(loops=LOOPS)
    pytester.makefile(".ini", pytest=INI)
    return pytester


def listed(project: pytest.Pytester, *entries: str) -> None:
    text = "format: 1\nentries:\n" + "".join(f"  - {{{entry}}}\n" for entry in entries)
    project.path.joinpath("loopcheck-expected.yaml").write_text(text, encoding="utf-8")


def lines(result: pytest.RunResult) -> list[str]:
    return [line.rstrip() for line in result.outlines]


def counts(result: pytest.RunResult) -> str:
    """The line of the summary that counts the only target's cases."""
    start = next(n for n, line in enumerate(result.outlines) if "loopcheck, suite" in line)
    return result.outlines[start + 2].strip()


def test_each_case_is_a_test_of_its_own_name(project: pytest.Pytester) -> None:
    project.makepyfile(test_agent=CARELESS)
    found = project.runpytest("--collect-only", "-q")
    assert [line for line in found.outlines if "::" in line] == [
        "test_agent.py::test_agent[truncation/trunc-length-partial-args-chat-whole]",
        "test_agent.py::test_agent[truncation/trunc-length-partial-args-chat-stream]",
        "test_agent.py::test_agent[basics/final-answer-chat-whole]",
        "test_agent.py::test_agent[basics/final-answer-chat-stream]",
    ]


def test_cases_are_chosen_by_k(project: pytest.Pytester) -> None:
    project.makepyfile(test_agent=CARELESS)
    result = project.runpytest("-k", "final-answer and stream")
    result.assert_outcomes(passed=1, deselected=3)
    assert counts(result).startswith("1 case: 1 pass, 0 FAIL (must), ")


def test_a_failing_case_is_one_block_without_a_traceback(project: pytest.Pytester) -> None:
    project.makepyfile(test_agent=CARELESS)
    node = f"test_agent.py::test_agent[{PARTIAL}-chat-stream]"
    result = project.runpytest(node)
    result.assert_outcomes(failed=1)
    said = lines(result)
    start = next(n for n, line in enumerate(said) if line.startswith("____"))
    end = next(n for n, line in enumerate(said) if "loopcheck, suite" in line)
    block = said[start:end]
    assert f"test_agent[{PARTIAL}-chat-stream]" in block[0]
    assert block[1].startswith("execution.complete-only: ")
    assert block[2] == "  expected  0 executions of reserve_seat for call seat"
    assert block[3] == (
        "  seen      1: reserve_seat(event='E1', seat=1); the model had sent "
        '{"event":"E1","seat":1 and then stop length (seat=12 was meant)'
    )
    assert f"rerun         pytest '{node}'" in block
    accept = f"accept        loopcheck expected add '{PARTIAL}[chat-stream]' --check "
    kinds = [line.removeprefix(accept).split()[0] for line in block if line.startswith(accept)]
    assert kinds == ["execution.complete-only", "scenario.expects"]
    # No traceback: neither a line of the test nor one of the harness is shown.
    assert not [line for line in block if line.startswith(("E  ", ">  ")) or "case.py" in line]


def test_the_journal_of_a_case_is_kept_in_the_rootdir(project: pytest.Pytester) -> None:
    project.makepyfile(test_agent=CARELESS)
    project.runpytest("-k", "final-answer and whole")
    folder = project.path / ".loopcheck" / "last" / "careless"
    assert [path.name for path in folder.iterdir()] == ["basics.final-answer.chat-whole.jsonl"]


def test_a_finding_under_should_is_a_warning_at_the_users_line(project: pytest.Pytester) -> None:
    project.makepyfile(
        test_agent=CARELESS.replace(PARTIAL, "truncation/trunc-length-parsable-args")
    )
    result = project.runpytest("-k", "parsable and whole")
    result.assert_outcomes(passed=1, warnings=3, deselected=3)
    said = "\n".join(result.outlines)
    assert "test_agent.py:6: LoopcheckWarning: truncation/trunc-length-parsable-args[" in said
    assert counts(result).startswith("1 case: 1 pass, 0 FAIL (must), 3 should, ")


def test_warnings_as_errors_fail_a_case_at_the_users_line(project: pytest.Pytester) -> None:
    project.makepyfile(
        test_agent=CARELESS.replace(PARTIAL, "truncation/trunc-length-parsable-args")
    )
    result = project.runpytest(
        "-k", "parsable and whole", "-W", "error::loopcheck.LoopcheckWarning"
    )
    result.assert_outcomes(failed=1, deselected=3)
    assert not [line for line in result.outlines if "case.py" in line]
    result.stdout.fnmatch_lines([">*case.check()", "E*LoopcheckWarning: truncation/*"])


def test_what_is_not_declared_is_skipped_with_the_reason(project: pytest.Pytester) -> None:
    project.makepyfile(
        test_agent="""
        import loopcheck
        from loops import honest

        @loopcheck.cases(honest, scenarios=["limits/max-turns-exact"])
        def test_agent(case):
            case.check()
        """
    )
    result = project.runpytest("-rs")
    result.assert_outcomes(skipped=2)
    result.stdout.fnmatch_lines(["SKIPPED [[]2[]] test_agent.py:6: not declared: needs limits"])
    assert counts(result).endswith(", 2 not declared")


@pytest.mark.parametrize("kind", ["bug", "policy", "flaky"])
def test_a_known_failure_is_an_xfail(project: pytest.Pytester, kind: str) -> None:
    project.makepyfile(test_agent=CARELESS)
    case = f"case: '{PARTIAL}[*]'"
    listed(
        project,
        f"{case}, check: execution.complete-only, kind: {kind}, reason: as agreed",
        f"{case}, check: scenario.expects, kind: {kind}, reason: as agreed",
    )
    result = project.runpytest("-k", "partial and whole", "-rx")
    result.assert_outcomes(xfailed=1, deselected=3)
    word = {"bug": "expected"}.get(kind, kind)
    result.stdout.fnmatch_lines([f"XFAIL *-chat-whole] - {word}: as agreed"])
    shown = {"bug": "1 expected", "policy": "1 by policy", "flaky": "1 flaky"}[kind]
    assert shown in counts(result)


def test_a_listed_bug_that_passes_is_stale_and_fails(project: pytest.Pytester) -> None:
    project.makepyfile(test_agent=CARELESS)
    listed(project, "case: basics/*, check: outcome.named, kind: bug, reason: was so once")
    result = project.runpytest("-k", "final-answer and whole")
    result.assert_outcomes(failed=1, deselected=3)
    said = "basics/final-answer[chat-whole] is listed as bug (outcome.named: was so once) and no"
    assert any(line.startswith(said) for line in result.outlines)
    assert "1 stale" in counts(result)


def test_a_wrong_list_of_known_failures_is_told_in_a_line(project: pytest.Pytester) -> None:
    project.makepyfile(test_agent=CARELESS)
    listed(project, "case: basics/*, check: outcome.named, kind: bugg, reason: x")
    result = project.runpytest("-k", "final-answer and whole")
    result.assert_outcomes(failed=1, deselected=3)
    said = [line for line in result.outlines if "loopcheck-expected.yaml:3:" in line]
    assert len(said) == 1
    assert "unknown kind 'bugg'; did you mean 'bug'?" in said[0]


def test_a_broken_target_is_one_line_a_case(project: pytest.Pytester) -> None:
    project.makepyfile(
        test_agent="""
        import loopcheck

        @loopcheck.loop(dialects=["chat"])
        def broken(task):
            raise ValueError("no such setting")

        @loopcheck.cases(broken, scenarios=["basics/*"])
        def test_agent(case):
            case.check()
        """
    )
    result = project.runpytest()
    result.assert_outcomes(failed=4)
    said = [line for line in result.outlines if line.startswith("target broken is broken")]
    assert (
        said
        == [
            "target broken is broken: it sent no request to task.base_url; "
            "ValueError: no such setting (test_agent.py:5)"
        ]
        * 4
    )
    assert "4 BROKEN" in counts(result)


def test_the_summary_tells_versions_of_the_named_packages(project: pytest.Pytester) -> None:
    project.makepyfile(test_agent=CARELESS)
    result = project.runpytest()
    start = next(n for n, line in enumerate(result.outlines) if "loopcheck, suite 2026.1" in line)
    assert result.outlines[start + 1 : start + 3] == [
        f"careless (pytest {pytest.__version__}, no-such-package not installed)",
        "  4 cases: 2 pass, 2 FAIL (must), 0 should, 0 expected, 0 by policy, 0 not declared",
    ]


def test_a_project_without_cases_has_no_summary(project: pytest.Pytester) -> None:
    project.makepyfile(test_other="def test_it(): pass")
    result = project.runpytest()
    result.assert_outcomes(passed=1)
    assert not [line for line in result.outlines if "loopcheck, suite" in line]


def test_a_test_that_ran_again_counts_once(project: pytest.Pytester) -> None:
    project.makepyfile(test_agent=CARELESS)
    project.makeconftest(
        """
        from _pytest.runner import runtestprotocol

        def pytest_runtest_protocol(item, nextitem):
            for _ in range(2):
                for report in runtestprotocol(item, nextitem=nextitem, log=False):
                    item.ihook.pytest_runtest_logreport(report=report)
            return True
        """
    )
    result = project.runpytest("-k", "final-answer and whole")
    assert counts(result).startswith("1 case: 1 pass, ")


def test_scenarios_are_found_from_the_rootdir_and_settings_hold(project: pytest.Pytester) -> None:
    source = Path(loopcheck.__file__).parent / "scenarios" / "basics" / "final-answer.yaml"
    own = project.mkdir("qa")
    (own / "mine.yaml").write_text(source.read_text(encoding="utf-8"), encoding="utf-8")
    project.path.joinpath("loopcheck.toml").write_text('scenarios = ["qa"]\n', encoding="utf-8")
    text = "import loopcheck\nfrom loops import honest\n"
    for name, given in (("settings", ""), ("given", ', scenarios=["qa/*.yaml"]')):
        text += f"@loopcheck.cases(honest{given})\ndef test_{name}(case): case.check()\n"
    project.makepyfile(test_agent=text)
    sub = project.mkdir("sub")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(sub)
        found = project.runpytest(
            "--rootdir", project.path, "--collect-only", "-q", "../test_agent.py"
        )
    assert [line for line in found.outlines if "::" in line] == [
        "test_agent.py::test_settings[mine-chat-whole]",
        "test_agent.py::test_settings[mine-chat-stream]",
        "test_agent.py::test_given[mine-chat-whole]",
        "test_agent.py::test_given[mine-chat-stream]",
    ]


MISTAKES = {
    "dialect": (
        '@loopcheck.loop(dialects=["chatt"])\ndef f(task): pass',
        "test_bad.py:2: target 'f': unknown dialect 'chatt'; did you mean 'chat'?",
    ),
    "pattern": (
        'from loops import honest\n@loopcheck.cases(honest, scenarios=["truncation/none"])\n'
        "def test_it(case): pass",
        "test_bad.py:3: truncation/none: error: no scenario has this name",
    ),
    "text for a list": (
        'from loops import honest\n@loopcheck.cases(honest, scenarios="basics/*")\n'
        "def test_it(case): pass",
        "test_bad.py:3: loopcheck.cases(): scenarios wants a list of patterns, such as "
        "['basics/*']",
    ),
    "empty": (
        "from loops import honest\n@loopcheck.cases(honest, scenarios=[])\ndef test_it(case): pass",
        "test_bad.py:3: loopcheck.cases(): scenarios is empty; leave it out for the project's",
    ),
    "no target": (
        "@loopcheck.cases(print)\ndef test_it(case): pass",
        "test_bad.py:2: loopcheck.cases() wants a target made by @loopcheck.loop(...), not "
        "<built-in function print>",
    ),
    "no case": (
        'from loops import honest\n@loopcheck.cases(honest, scenarios=["args*messages"])\n'
        "def test_it(case): pass",
        "test_bad.py:3: args*messages: error: no scenario has this name",
    ),
    "nothing spoken": (
        "from loops import honest\n"
        '@loopcheck.cases(honest, scenarios=["truncation/trunc-length-partial-args-messages"])\n'
        "def test_it(case): pass",
        "test_bad.py:3: loopcheck.cases(): no scenario has a case in what target 'honest' "
        "declares: chat (whole, stream)",
    ),
    "suite": (
        'from loops import honest\n@loopcheck.cases(honest, suite="2025.9")\n'
        "def test_it(case): pass",
        "test_bad.py:3: loopcheck.cases(): unknown suite '2025.9'; this version has 2026.1",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_a_collection_error_of_one_line(project: pytest.Pytester, name: str) -> None:
    text, message = MISTAKES[name]
    project.makepyfile(test_bad=f"import loopcheck\n{text}\n")
    result = project.runpytest()
    result.assert_outcomes(errors=1)
    said = [line for line in result.outlines if message in line]
    assert said == [f"{project.path}/{message}"]
    assert not [line for line in result.outlines if "harness" in line or line.startswith("E  ")]


def test_the_whole_traceback_of_a_mistake_is_there_for_who_asks(project: pytest.Pytester) -> None:
    project.makepyfile(test_bad='import loopcheck\n@loopcheck.loop(dialects=["x"])\ndef f(t): ...')
    result = project.runpytest("--full-trace")
    result.stdout.fnmatch_lines(["E*TargetError: target 'f': unknown dialect 'x'*"])


def test_the_bound_of_a_case_holds_for_a_target_that_hangs_at_once(
    project: pytest.Pytester,
) -> None:
    project.makepyfile(
        """
        import asyncio
        import loopcheck

        @loopcheck.loop(dialects=["chat"], modes=["whole"])
        async def stuck(task: loopcheck.Task) -> loopcheck.Outcome:
            await asyncio.sleep(600)

        @loopcheck.cases(stuck, scenarios=["basics/final-answer"], seconds=0.2)
        def test_agent(case: loopcheck.Case) -> None:
            case.check()
        """
    )
    result = project.runpytest()
    result.assert_outcomes(failed=1)
    assert "target stuck is broken: it did not end within 0.2 s" in lines(result)
