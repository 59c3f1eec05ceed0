"""What a run looks like in a terminal. Pure text, the same at every width; no colour."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from loopcheck.harness.results import CaseResult, Header, Report, TargetCard, TargetResult
from loopcheck.reports.block import Setting, block, body
from loopcheck.reports.causes import Failure, Remark, failures, remarks
from loopcheck.reports.inert import inert

_EXIT_COLUMN: Final = 91
_ID_COLUMN: Final = 42
_WORDS: Final = {"fail": "FAIL", "policy": "by policy", "target broken": "BROKEN"}
_WITH_REASON: Final = frozenset({"not declared", "unscored"})
_ALWAYS: Final = {
    "pass": "pass",
    "fail": "FAIL (must)",
    "should": "should",
    "expected": "expected",
    "not declared": "not declared",
}
_WHERE_ANY: Final = {
    "policy": "by policy",
    "flaky": "flaky",
    "stale": "stale",
    "not exercised": "not exercised",
    "unscored": "unscored",
    "target broken": "BROKEN",
    "harness error": "HARNESS ERROR",
}


def opening(
    card: TargetCard, *, suite: str, cases: int, dialects: Iterable[str], part: str = ""
) -> str:
    """The line that says what is put on trial; `part` is the shard that this is, such as 2/3."""
    name = " ".join(inert(part) for part in (card.name, card.version or "") if part)
    packages = (f"{package} {version}" for package, version in card.packages.items())
    about = ", ".join(inert(part) for part in (card.runtime, *packages) if part)
    versions = f" ({about})" if about else ""
    spoken = ", ".join(dialects)
    return (
        f"suite {inert(suite)} · target {name}{versions} · {_count(cases, 'case')}"
        f"{', ' if spoken else ''}{spoken}{f' · shard {part}' if part else ''}"
    )


def summary(target: TargetResult, header: Header) -> str:
    """The same line for a target that was on trial."""
    return opening(
        target.card,
        suite=header.suite,
        cases=len({case.undisturbed for case in target.cases}),
        dialects=dict.fromkeys(case.dialect for case in target.cases),
        part=str(header.shard or ""),
    )


def sample_line(left_out: int) -> str:
    """The line that says how many cases were left out since they end processes."""
    return (
        f"{_count(left_out, 'case')} left out: a scenario that ends processes is run in one "
        "dialect and mode; --processes all runs it in all"
    )


def smoke_line(seconds: float) -> str:
    """The line of a smoke case that went well."""
    return f"smoke            ok   {seconds:.2f} s"


def case_line(case: CaseResult, *, width: int = _ID_COLUMN, below: str | None = None) -> str:
    """The line of one case; `width` is that of the longest id. A death of the case `below` which
    it stands is named by that alone."""
    word = _WORDS.get(case.verdict, case.verdict)
    name = inert(case.case)
    if below is not None and case.is_death and case.undisturbed == below:
        name = f"  {inert(case.case.removeprefix(below))}"
    line = f"{name:<{width}}    {word:<4}   {case.seconds:.2f} s"
    return line if case.verdict not in _WITH_REASON else f"{line}   {inert(case.reason or '')}"


def closing(
    target: TargetResult,
    *,
    seed: int,
    exit_code: int | None,
    advice: Mapping[str, str],
    lenient: Sequence[str] = (),
    files: Mapping[str, str] | None = None,
) -> str:
    """What stands below the cases of a target; `exit_code` where it is the last of the run."""
    setting = Setting(
        target=target.card.name, seed=seed, lenient=lenient, advice=advice, files=files or {}
    )
    blocks = [block(failure, setting) for failure in failures(target.cases)]
    if target.broken is not None:
        blocks.append(broken(target))
    brief = [_remark_line(remark) for remark in remarks(target.cases)]
    brief += [f"stale  {inert(stale)}" for stale in target.stale]
    if target.stale:
        brief.append("       remove what is stale: loopcheck expected update")
    if brief:
        blocks.append("\n".join(brief))
    return "\n\n".join([*blocks, counts(target, exit_code=exit_code)])


def broken(target: TargetResult) -> str:
    """Why the target could not be put on trial, and what to try."""
    name = inert(target.card.name)
    return (
        f"BROKEN target {name}: {inert(target.broken or '')}\n"
        f"  no case was run; what is wrong with its description: loopcheck doctor {name}"
    )


def counts(target: TargetResult, *, exit_code: int | None = None) -> str:
    """The line of counts of one target."""
    numbers = {"should": sum(1 + remark.more for remark in remarks(target.cases))}
    for case in target.cases:
        numbers[case.verdict] = numbers.get(case.verdict, 0) + 1
    words = {**_ALWAYS, **{word: shown for word, shown in _WHERE_ANY.items() if word in numbers}}
    parts = [f"{numbers.get(word, 0)} {shown}" for word, shown in words.items()]
    name = inert(target.card.name)
    died = sum(case.is_death for case in target.cases)
    if died:
        left = len(target.cases) - died
        cases = f"{_count(left, 'case')}, " if left else ""
        name = f"{name}, {cases}{_count(died, 'death')}"
    line = f"{name}: BROKEN" if target.broken is not None else f"{name}: {', '.join(parts)}"
    return line if exit_code is None else f"{line:<{_EXIT_COLUMN - 1}} exit {exit_code}"


def render(report: Report, *, advice: Mapping[str, str] | None = None) -> str:
    """A whole report as the run itself showed it."""
    return _whole(report, _progress, advice or {})


def brief(report: Report, *, advice: Mapping[str, str] | None = None) -> str:
    """A whole report without a line for each case."""
    return _whole(report, lambda target, header: [summary(target, header)], advice or {})


def _whole(
    report: Report,
    opened: Callable[[TargetResult, Header], list[str]],
    advice: Mapping[str, str],
) -> str:
    last = len(report.targets) - 1
    parts = []
    for place, target in enumerate(report.targets):
        code = report.footer.exit_code if place == last else None
        end = closing(
            target,
            seed=report.header.seed,
            lenient=report.header.lenient,
            exit_code=code,
            advice=advice,
        )
        parts.append("\n".join([*opened(target, report.header), "", end]))
    return "\n\n".join(parts) + "\n"


def _progress(target: TargetResult, header: Header) -> list[str]:
    first = summary(target, header)
    width = max((len(inert(case.undisturbed)) for case in target.cases), default=0)
    smoke = [smoke_line(target.smoke.seconds)] if target.smoke and not target.broken else []
    lines, below = [], None
    for case in target.cases:
        lines.append(case_line(case, width=width, below=below))
        below = below if case.is_death else case.case
    return [first, *smoke, *lines]


def _remark_line(remark: Remark) -> str:
    finding = remark.finding
    more = f" (and in {_count(remark.more, 'more case')})" if remark.more else ""
    return (
        f"should  {inert(remark.case)}  {inert(finding.check)}: "
        f"expected {inert(finding.expected)}, seen {inert(finding.seen)}{more}"
    )


def failure_block(
    case: CaseResult, *, advice: Mapping[str, str] | None = None, rerun: str | None = None
) -> str:
    """A failing case as a test shows it, below a title that names the case already; `rerun` is
    the command that runs the test again."""
    lines = body(Failure(case, ()), Setting(advice=advice or {}, rerun=rerun))
    # A case is known to fail once each check that it fails is listed.
    for check in dict.fromkeys(f.check for f in case.findings if f.level == "must"):
        accept = f"{shlex.quote(case.case)} --check {check} --kind bug --reason '…'"
        lines.append(f"  accept        loopcheck expected add {inert(accept)}")
    return textwrap.dedent("\n".join(lines) or case.verdict)


def stale_block(case: CaseResult) -> str:
    """A case that no longer fails as the list of known failures says, as a test shows it."""
    listed = (f"{e.kind} ({e.check}: {e.reason})" for e in case.expectations)
    return (
        f"{inert(case.case)} is listed as {inert('; '.join(listed))} and no longer fails\n"
        "  remove it     loopcheck expected update, after a loopcheck run; or by hand"
    )


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
