"""What is required, which check puts it to the test, and in which scenarios that really happened.

Made of a run and of nothing else: a check stands beside a scenario where it answered pass or fail
there, and not where it might have.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from loopcheck.harness.results import CaseResult, Report
from loopcheck.reports.markdown_text import code, plain, table
from loopcheck.reports.verdicts import SIGNS, count, counted

_ANSWERED = frozenset({"pass", "fail"})


def render(
    report: Report,
    *,
    sentences: Mapping[str, str],
    tripped: Mapping[str, Sequence[str]] | None = None,
) -> str:
    """The report as two tables in Markdown: by check, and by scenario. `sentences` has what each
    check requires, and `tripped` the broken loops that each check has found out, by check."""
    cases = [case for target in report.targets for case in target.cases]
    names = ", ".join(plain(target.card.name) for target in report.targets)
    lines = [
        "# Requirements, checks and scenarios",
        "",
        f"Made of a run of {count(len(cases), 'case')} on {names}, suite "
        f"{plain(report.header.suite)}, seed {report.header.seed}. A check is named beside a "
        "scenario where it answered there, with pass or fail.",
        "",
        "## By check",
        "",
        *_by_check(cases, sentences, tripped),
        "",
        "## By scenario",
    ]
    for group, scenarios in _grouped(cases).items():
        lines += ["", f"### {plain(group)}", "", *_by_scenario(scenarios)]
    return "\n".join(lines) + "\n"


def _by_check(
    cases: Sequence[CaseResult],
    sentences: Mapping[str, str],
    tripped: Mapping[str, Sequence[str]] | None,
) -> list[str]:
    head = ["check", "requires", "answered in", "failed in"]
    rows = [_check_row(check, sentence, cases) for check, sentence in sentences.items()]
    if tripped is not None:
        head.append("loops that it has found out")
        found = (", ".join(tripped.get(check, ())) for check in sentences)
        rows = [[*row, plain(names, longest=1000)] for row, names in zip(rows, found, strict=True)]
    return table(head, rows)


def _check_row(check: str, sentence: str, cases: Iterable[CaseResult]) -> list[str]:
    answered = [(case, one) for case in cases for one in case.checks if one.check == check]
    told = [(case, one.status) for case, one in answered if one.status in _ANSWERED]
    scenarios = {case.scenario for case, _ in told}
    failed = sum(status == "fail" for _, status in told)
    where = f"{count(len(scenarios), 'scenario')}, {count(len(told), 'case')}"
    return [code(check), plain(sentence, longest=400), where, count(failed, "case")]


def _grouped(cases: Iterable[CaseResult]) -> dict[str, dict[str, list[CaseResult]]]:
    groups: dict[str, dict[str, list[CaseResult]]] = {}
    for case in sorted(cases, key=lambda case: case.scenario):
        group = groups.setdefault(case.scenario.rpartition("/")[0] or case.scenario, {})
        group.setdefault(case.scenario, []).append(case)
    return groups


def _by_scenario(scenarios: Mapping[str, Sequence[CaseResult]]) -> list[str]:
    rows = [scenario_row(name, cases) for name, cases in scenarios.items()]
    return table(["scenario", "requires", "put to the test by", "cases"], rows)


def scenario_row(name: str, cases: Sequence[CaseResult]) -> list[str]:
    """The row of one scenario: what it requires, the checks that answered, and the verdicts."""
    answered = {one.check for case in cases for one in case.checks if one.status in _ANSWERED}
    verdicts = (f"{number} {SIGNS[verdict].word}" for verdict, number in counted(cases).items())
    return [
        code(name),
        plain(" ".join(cases[0].rule.split()), longest=400),
        ", ".join(sorted(answered)) or "no check",
        ", ".join(verdicts),
    ]
