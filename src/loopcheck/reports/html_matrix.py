"""The matrix: scenarios in their classes down, targets across, one cell for their cases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from loopcheck.harness.results import CaseResult, TargetResult
from loopcheck.reports.causes import ACCEPTED, FAILING
from loopcheck.reports.html_case import anchor, group_of
from loopcheck.reports.html_parts import scrolling
from loopcheck.reports.markup import Markup, tag
from loopcheck.reports.verdicts import SIGNS, counted

Cells: TypeAlias = Mapping[str, Sequence[CaseResult]]


def matrix(targets: Sequence[TargetResult]) -> Markup:
    """The table with its legend."""
    cells = [_by_scenario(target.cases) for target in targets]
    titles = {case.scenario: case.title for target in targets for case in target.cases}
    groups: dict[str, list[str]] = {}
    for scenario in titles:
        groups.setdefault(group_of(scenario), []).append(scenario)
    head = tag(
        "tr",
        tag("th", "scenario", scope="col"),
        *map(_heading, targets),
    )
    names = [target.card.name for target in targets]
    bodies = [_group(group, groups[group], titles, names, cells) for group in sorted(groups)]
    table = tag("table", tag("thead", head), *bodies, class_="matrix")
    return scrolling(table, label="matrix")


def _heading(target: TargetResult) -> Markup:
    broken = tag("span", "! broken", class_="bad") if target.broken is not None else None
    version = tag("span", target.card.version, class_="quiet") if target.card.version else None
    return tag("th", tag("span", target.card.name), [" ", version], [" ", broken], scope="col")


def legend(targets: Iterable[TargetResult]) -> Markup:
    """What the shapes mean, of those that occur."""
    numbers = counted(case for target in targets for case in target.cases)
    told = [
        tag(
            "li",
            tag("b", SIGNS[verdict].shape, class_=SIGNS[verdict].tone),
            " ",
            f"{SIGNS[verdict].word}: {SIGNS[verdict].meaning}",
        )
        for verdict in numbers
    ]
    return tag("ul", *told, class_="legend")


def _by_scenario(cases: Iterable[CaseResult]) -> Cells:
    found: dict[str, list[CaseResult]] = {}
    for case in cases:
        found.setdefault(case.scenario, []).append(case)
    return found


def _group(
    group: str,
    scenarios: Sequence[str],
    titles: Mapping[str, str],
    names: Sequence[str],
    cells: Sequence[Cells],
) -> Markup:
    head = tag(
        "tr", tag("th", group, colspan=str(len(names) + 1), scope="rowgroup"), class_="group"
    )
    return tag(
        "tbody",
        head,
        *(_row(one, titles[one], names, cells) for one in sorted(scenarios)),
        data_class=group,
    )


def _row(scenario: str, title: str, names: Sequence[str], cells: Sequence[Cells]) -> Markup:
    held = [found.get(scenario, ()) for found in cells]
    verdicts = counted(case for cases in held for case in cases)
    checks = dict.fromkeys(f.check for cases in held for case in cases for f in case.findings)
    name = scenario.partition("/")[2] or scenario
    return tag(
        "tr",
        tag("th", tag("span", name, title=f"{scenario}: {title}"), scope="row"),
        *(_cell(target, cases) for target, cases in zip(names, held, strict=True)),
        data_verdicts="|".join(verdicts),
        data_checks=" ".join(checks),
        data_text=f"{scenario} {title}".lower(),
    )


def _cell(target: str, cases: Sequence[CaseResult]) -> Markup:
    if not cases:
        return tag("td", "·", aria_label="no case")
    numbers = counted(cases)
    worst = next(iter(numbers))
    shown = [
        tag("b", f"{SIGNS[verdict].shape} {number}", class_=SIGNS[verdict].tone)
        for verdict, number in numbers.items()
    ]
    told = ", ".join(f"{number} {SIGNS[verdict].word}" for verdict, number in numbers.items())
    first = next((c for c in cases if c.verdict == worst and worst in FAILING | ACCEPTED), None)
    content = tag("a", shown, href=f"#{anchor(target, first.case)}") if first is not None else shown
    return tag(
        "td",
        content,
        class_=SIGNS[worst].tone,
        aria_label=told,
        title=_detail(cases) if len(numbers) > 1 else None,
    )


def _detail(cases: Sequence[CaseResult]) -> str:
    return "; ".join(f"{case.case.removeprefix(case.scenario)} {case.verdict}" for case in cases)
