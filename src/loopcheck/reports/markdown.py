"""The run as a comment on a pull request: failures first and short, the rest folded away."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from loopcheck.harness.results import CaseResult, Report, TargetResult
from loopcheck.reports.causes import ACCEPTED, FAILING, Failure, failures, primary, remarks
from loopcheck.reports.command import run_command
from loopcheck.reports.markdown_text import code, folded, plain, table
from loopcheck.reports.verdicts import SIGNS, count, counted

# Comments are bounded; the services that show them refuse a longer one whole.
ROWS: Final = 30
FOLDED: Final = 60


def render(report: Report, *, advice: Mapping[str, str] | None = None) -> str:
    """The report as Markdown for a comment."""
    lines = [f"### loopcheck: {_headline(report)}", ""]
    rows = [*_broken(report.targets), *_failing(report)]
    if rows:
        lines += [*table(["", "target", "case", "what fails"], rows[:ROWS]), ""]
    if len(rows) > ROWS:
        lines += [f"and {len(rows) - ROWS} more; the HTML report has them all", ""]
    for part in (
        _mending(report, advice or {}),
        _remarks(report),
        _accepted(report),
        _unscored(report),
        _stale(report),
        _tested(report),
    ):
        lines += [*part, ""] if part else []
    again = _again(report)
    return "\n".join([*lines, again] if again else lines).rstrip() + "\n"


def _headline(report: Report) -> str:
    cases = [case for target in report.targets for case in target.cases]
    failing = sum(case.verdict in FAILING for case in cases)
    broken = sum(target.broken is not None for target in report.targets)
    parts = [f"{failing} of {count(len(cases), 'case')} failing"] if failing else []
    parts += [f"{count(broken, 'target')} broken"] if broken else []
    told = ", ".join(parts) or f"{count(len(cases), 'case')}, none failing"
    targets = count(len(report.targets), "target")
    header = report.header
    shard = f", shard {header.shard}" if header.shard else ""
    return f"{told} ({targets}, suite {plain(header.suite)}, seed {header.seed}{shard})"


def _broken(targets: Iterable[TargetResult]) -> list[list[str]]:
    return [
        [
            "🔴",
            f"**{plain(target.card.name)}**",
            "every case (broken at first call)",
            code(target.broken),
        ]
        for target in targets
        if target.broken is not None
    ]


def _failing(report: Report) -> list[list[str]]:
    return [
        ["🔴", f"**{plain(target.card.name)}**", _cases(failure), _why(failure.case)]
        for target in report.targets
        for failure in failures(target.cases)
    ]


def _cases(failure: Failure) -> str:
    more = len(failure.same_in)
    return code(failure.case.case) + (f" and {more} more like it" if more else "")


def _why(case: CaseResult) -> str:
    finding = primary(case)
    if finding is None:
        return f"{SIGNS[case.verdict].word}: {code(case.reason or case.verdict)}"
    seen = f"seen {code(finding.seen)}, expected {code(finding.expected)}"
    return f"{code(finding.check)} {seen}"


def _mending(report: Report, advice: Mapping[str, str]) -> list[str]:
    """What to do about each check that fails, once."""
    found = [
        primary(failure.case) for target in report.targets for failure in failures(target.cases)
    ]
    checks = dict.fromkeys(finding.check for finding in found if finding is not None)
    told = [f"- {code(c)} {plain(advice[c], longest=600)}" for c in checks if c in advice]
    return folded("How to mend it", told)


def _remarks(report: Report) -> list[str]:
    numbers = Counter(
        (target.card.name, remark.finding.check)
        for target in report.targets
        for remark in remarks(target.cases)
    )
    rows = [[plain(target), code(check), str(n)] for (target, check), n in numbers.items()]
    title = f"Should-findings: {numbers.total()}"
    return folded(title, table(["target", "check", "findings"], rows[:FOLDED])) if rows else []


def _accepted(report: Report) -> list[str]:
    lines = [
        f"- {plain(target.card.name)} {_cases(failure)}: {SIGNS[failure.case.verdict].word}"
        f"{f', {plain(failure.case.reason)}' if failure.case.reason else ''}"
        for target in report.targets
        for failure in failures(target.cases, ACCEPTED)
    ]
    return _list(f"Known failures: {len(lines)}", lines)


def _unscored(report: Report) -> list[str]:
    lines = [
        f"- {plain(target.card.name)} {_cases(failure)}: {plain(failure.case.reason or '')}"
        for target in report.targets
        for failure in failures(target.cases, ("unscored",))
    ]
    return _list("Not scored: the suite leaves these out", lines)


def _stale(report: Report) -> list[str]:
    lines = [f"- {code(line)}" for target in report.targets for line in target.stale]
    if lines:
        lines.append("\nRemove them: `loopcheck expected update`")
    return _list("Listed as known and no longer failing", lines)


def _list(title: str, lines: list[str]) -> list[str]:
    left = len(lines) - FOLDED
    return folded(title, [*lines[:FOLDED], *([f"- and {left} more"] if left > 0 else [])])


def _tested(report: Report) -> list[str]:
    rows = []
    for target in report.targets:
        packages = ", ".join(f"{name} {held}" for name, held in target.card.packages.items())
        numbers = counted(target.cases)
        told = ", ".join(f"{number} {SIGNS[verdict].word}" for verdict, number in numbers.items())
        about = ", ".join(filter(None, (target.card.runtime, packages)))
        name = " ".join(filter(None, (target.card.name, target.card.version)))
        rows.append([plain(name), told or "no case was run", plain(about, longest=400)])
    return folded("Counts and versions", table(["target", "cases", "versions"], rows))


def _again(report: Report) -> str:
    """One command for all that fails; case by case it stands in the other reports."""
    failing = [
        (target.card.name, failure.case)
        for target in report.targets
        for failure in failures(target.cases)
    ]
    if not failing:
        return ""
    single = len(failing) == 1
    command = run_command(
        [case.case if single else case.scenario for _, case in failing],
        [target for target, _ in failing],
        seed=report.header.seed,
        lenient=report.header.lenient,
    )
    return f"Rerun: {code(command, longest=3000)}"
