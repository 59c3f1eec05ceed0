"""The run as one HTML file: what to act on first, then the matrix, then what was tested."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from loopcheck.harness.results import CaseResult, Header, Report, TargetResult
from loopcheck.reports.block import Setting
from loopcheck.reports.causes import ACCEPTED, FAILING, Failure, failures, remarks
from loopcheck.reports.html_case import DRAWN, article, group_of
from loopcheck.reports.html_controls import controls
from loopcheck.reports.html_head import head, headline
from loopcheck.reports.html_matrix import legend, matrix
from loopcheck.reports.html_page import page
from loopcheck.reports.html_parts import notice, table
from loopcheck.reports.markup import Child, Markup, tag
from loopcheck.reports.verdicts import count, counted

REMARKED: Final = 300
Articles: TypeAlias = Sequence[tuple[str, Markup]]


def render(report: Report, *, advice: Mapping[str, str] | None = None) -> str:
    """The report as one HTML document, which needs no network and no script to be read."""
    cases = [case for target in report.targets for case in target.cases]
    failing = _articles(report, FAILING, advice or {}, DRAWN)
    accepted = _articles(report, ACCEPTED, advice or {}, DRAWN - len(failing))
    sections: dict[str, tuple[str, Child]] = {
        "failures": ("Failures", _failures(report, failing, advice or {})),
        "matrix": ("Matrix", _matrix(report) if cases else None),
        "accepted": ("Known failures", _accepted(report, accepted)),
        "remarks": ("Should-findings", _remarks(report)),
        "tested": ("What was tested", _tested(report.header)),
    }
    told = {name: part for name, part in sections.items() if part[1]}
    return page(
        f"loopcheck: {headline(report)}",
        head(report, {name: title for name, (title, _) in told.items()}),
        _controls(cases),
        tag("main", *(_section(name, *part) for name, part in told.items())),
    )


def _controls(cases: Sequence[CaseResult]) -> Markup:
    return controls(
        verdicts=list(counted(cases)),
        groups=sorted({group_of(case.scenario) for case in cases}),
        checks=sorted({finding.check for case in cases for finding in case.findings}),
    )


def _section(name: str, title: str, content: Child) -> Markup:
    return tag("section", tag("h2", title), content, id=name)


def _setting(target: TargetResult, header: Header, advice: Mapping[str, str]) -> Setting:
    return Setting(target=target.card.name, seed=header.seed, lenient=header.lenient, advice=advice)


def _articles(
    report: Report, verdicts: frozenset[str], advice: Mapping[str, str], most: int
) -> Articles:
    """Each cause with the name of its target, the first `most` of them drawn."""
    found: list[tuple[TargetResult, Failure]] = [
        (target, failure)
        for target in report.targets
        for failure in failures(target.cases, verdicts)
    ]
    return [
        (
            target.card.name,
            article(failure, _setting(target, report.header, advice), drawn=place < most),
        )
        for place, (target, failure) in enumerate(found)
    ]


def _by_target(articles: Articles) -> list[Markup]:
    groups: dict[str, list[Markup]] = {}
    for target, one in articles:
        groups.setdefault(target, []).append(one)
    return [
        tag(
            "section",
            tag("h3", target, " ", tag("span", count(len(found), "cause"), class_="quiet")),
            *found,
            class_="group",
        )
        for target, found in groups.items()
    ]


def _failures(report: Report, articles: Articles, advice: Mapping[str, str]) -> list[Markup]:
    broken = [
        _broken(target, _setting(target, report.header, advice))
        for target in report.targets
        if target.broken is not None
    ]
    if not broken and not articles:
        return [notice("Nothing fails.", tone="good")]
    left = len(articles) - DRAWN
    brief = f"The last {left} are told in brief; the JSON report has the rest."
    return [*broken, *([notice(brief)] if left > 0 else []), *_by_target(articles)]


def _broken(target: TargetResult, setting: Setting) -> Markup:
    doctor = tag("code", f"loopcheck doctor {target.card.name}", class_="command")
    smoke = target.smoke
    return tag(
        "section",
        tag("h3", target.card.name),
        notice(tag("b", "! broken: "), target.broken, tone="bad"),
        tag("p", "No case was run. What is wrong with its description: ", doctor),
        article(Failure(smoke, ()), setting) if smoke is not None and smoke.lines else None,
    )


def _matrix(report: Report) -> list[Markup]:
    return [legend(report.targets), matrix(report.targets)]


def _accepted(report: Report, articles: Articles) -> list[Markup]:
    stale = [tag("li", line) for target in report.targets for line in target.stale]
    update = tag("code", "loopcheck expected update", class_="command")
    told = [tag("p", "No longer failing; remove them from the list: ", update), tag("ul", *stale)]
    return [*(told if stale else []), *_by_target(articles)]


def _remarks(report: Report) -> Markup | None:
    rows = [
        tag(
            "tr",
            tag("td", target.card.name),
            tag(
                "td",
                tag("span", remark.case, class_="id"),
                tag("span", f" and {remark.more} more", class_="quiet") if remark.more else None,
            ),
            tag("td", tag("code", remark.finding.check), " ", remark.finding.sentence),
            tag("td", remark.finding.expected),
            tag("td", remark.finding.seen),
        )
        for target in report.targets
        for remark in remarks(target.cases)
    ]
    left = len(rows) - REMARKED
    if left > 0:
        more = tag("td", f"and {left} more, in the JSON report", colspan="5")
        rows[REMARKED:] = [tag("tr", more)]
    names = ("target", "case", "good practice", "expected", "seen")
    return table(names, rows, kind="remarks", label="should-findings") if rows else None


def _tested(header: Header) -> list[Markup]:
    installed = [tag("li", f"{name} {version}") for name, version in header.packages.items()]
    packages = tag(
        "details",
        tag("summary", f"{count(len(installed), 'package')} installed"),
        tag("ul", *installed, class_="columns"),
        class_="raw",
    )
    return [tag("p", f"Python {header.python}, {header.platform}"), packages]
