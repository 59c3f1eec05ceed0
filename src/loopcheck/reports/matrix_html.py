"""A matrix as one HTML file: what changed first, each failing case drawn, then every cell."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from loopcheck.reports.block import Setting
from loopcheck.reports.causes import Failure
from loopcheck.reports.diff_wording import titled
from loopcheck.reports.difference import Kind
from loopcheck.reports.html_case import DRAWN, article, group_of
from loopcheck.reports.html_controls import controls
from loopcheck.reports.html_page import page
from loopcheck.reports.html_parts import banner, contents, facts, notice, table
from loopcheck.reports.markup import Child, Markup, tag
from loopcheck.reports.matrix_report import Cell, Comparison, Drift, MatrixReport, Upgrade
from loopcheck.reports.matrix_wording import (
    TOLD,
    by_case,
    by_target,
    headline,
    outcome,
    retries,
    told,
    version,
    word,
)
from loopcheck.reports.verdicts import SIGNS, count

_KINDS: Final[tuple[Kind, ...]] = (*TOLD, "unchanged")


def render(report: MatrixReport, *, advice: Mapping[str, str] | None = None) -> str:
    """The matrix as one HTML document, which needs no network and no script to be read."""
    drawing = _Drawing(report, advice or {})
    sections = {
        **{_id(one): f"{one.base} → {one.head}" for one in report.comparisons},
        "cells": "Every cell",
        "sets": "What was asked for",
    }
    return page(
        f"loopcheck: {headline(report)}",
        _head(report, sections),
        _controls(report),
        tag(
            "main",
            *(drawing.compared(one) for one in report.comparisons),
            tag("section", tag("h2", "Every cell"), _cells(report), id="cells"),
            tag("section", tag("h2", "What was asked for"), _sets(report), id="sets"),
        ),
    )


def _id(comparison: Comparison) -> str:
    return f"from-{comparison.base}-to-{comparison.head}".replace(" ", "-")


def _head(report: MatrixReport, sections: Mapping[str, str]) -> Markup:
    header, footer = report.header, report.footer
    ran = {
        "suite": header.suite,
        "seed": str(header.seed),
        "request rules left out": ", ".join(header.lenient),
        "loopcheck": header.loopcheck,
        "started": header.started.replace("T", " "),
        "took": f"{footer.seconds:.1f} s",
        "exit code": str(footer.exit_code),
        "narrow one down": footer.narrow_down,
    }
    return tag(
        "header",
        banner("loopcheck matrix", headline(report), bad=footer.exit_code != 0),
        facts(ran),
        contents(sections),
    )


def _controls(report: MatrixReport) -> Markup:
    changes = [one.change for comparison in report.comparisons for one in comparison.changes]
    drawn = {change.after or change.before for change in changes if change.case}
    return controls(
        verdicts=[verdict for verdict in SIGNS if verdict in drawn],
        groups=sorted({group_of(change.case) for change in changes if change.case}),
        checks=sorted({change.check for change in changes if change.check}),
    )


class _Drawing:
    """Draws the cases of the comparisons, the first of them as sequences."""

    def __init__(self, report: MatrixReport, advice: Mapping[str, str]) -> None:
        self._header = report.header
        self._advice = advice
        self._told: set[tuple[str, str]] = set()

    def compared(self, comparison: Comparison) -> Markup:
        parts: list[Child] = [
            tag("p", f"Targets: {by_target(comparison)}", class_="quiet"),
            tag("p", f"Cases: {by_case(comparison)}", class_="quiet"),
            *(
                self._kind(
                    kind, [one for one in comparison.changes if one.change.kind == kind], comparison
                )
                for kind in _KINDS
            ),
            _drift(comparison),
            _packages(comparison),
        ]
        title = f"{comparison.base} → {comparison.head}"
        return tag("section", tag("h2", title), *parts, id=_id(comparison))

    def _kind(
        self, kind: Kind, upgrades: Sequence[Upgrade], comparison: Comparison
    ) -> Markup | None:
        if not upgrades:
            return None
        if kind == "unchanged":
            title: str = "Still failing, unchanged"
            parts: list[Child] = [_unchanged(upgrades)]
        else:
            title = word(kind).capitalize()
            names = dict.fromkeys(one.change.target for one in upgrades)
            parts = [
                [
                    tag("h4", name),
                    *(self._one(one, comparison) for one in upgrades if one.change.target == name),
                ]
                for name in names
            ]
        return tag("section", tag("h3", title), *parts, class_="group")

    def _one(self, upgrade: Upgrade, comparison: Comparison) -> Markup:
        """The case as it fails, drawn where it is told for the first time."""
        change = upgrade.change
        lead = _pair(upgrade, comparison)
        is_before = change.kind == "fixed" or upgrade.now is None
        case = upgrade.was if is_before else upgrade.now
        name = f"{change.target}.{comparison.base if is_before else comparison.head}"
        if case is None or (name, case.case) in self._told:
            tone = "good" if change.kind == "fixed" else "bad"
            return tag(
                "div", notice(tag("b", titled(change)), f": {change.title}", tone=tone), lead
            )
        self._told.add((name, case.case))
        setting = Setting(
            target=name,
            seed=self._header.seed,
            lenient=self._header.lenient,
            advice=self._advice,
            rerun=_rerun(self._header.command, change.target, case.case),
        )
        return article(
            Failure(case, change.same_in),
            setting,
            drawn=len(self._told) <= DRAWN,
            lead=lead,
            verdict=change.after,
        )


def _rerun(command: str, target: str, case: str) -> str:
    """What runs this case again under all sets."""
    words = shlex.split(command) or ["loopcheck", "matrix"]
    words += [] if "--only" in words else ["--only", target]
    words += [] if "--scenario" in words else ["--scenario", case]
    return shlex.join(words)


def _unchanged(upgrades: Sequence[Upgrade]) -> Markup:
    rows = [
        tag(
            "tr",
            tag("td", one.change.target),
            tag("td", tag("span", titled(one.change), class_="id"), _more(one)),
            tag("td", tag("code", one.change.check) if one.change.check else None),
            tag("td", one.change.now),
        )
        for one in upgrades
    ]
    names = ("target", "case", "check", "seen under both")
    return table(names, rows, kind="remarks", label="failing under both")


def _more(upgrade: Upgrade) -> Markup | None:
    more = len(upgrade.change.same_in)
    return tag("span", f" and {more} more", class_="quiet") if more else None


def _pair(upgrade: Upgrade, comparison: Comparison) -> Markup:
    rows = told(upgrade, comparison, arrow="→")
    lines = [tag("div", tag("dt", name), tag("dd", text)) for name, text in rows.items()]
    return tag("dl", *lines, class_="versus")


def _drift(comparison: Comparison) -> Markup | None:
    if not comparison.drift:
        if not comparison.compared:
            return None
        same = "The same script is sent the same requests."
        return tag("section", tag("h3", "Request drift"), tag("p", same), class_="group")
    names = ("what", "name", comparison.base, comparison.head, "targets", "dialects", "cases")
    rows = map(_drift_row, comparison.drift)
    shown = table(names, rows, kind="changes", label="request drift")
    return tag("section", tag("h3", "Request drift"), shown, _same(comparison), class_="group")


def _same(comparison: Comparison) -> Markup:
    """What did not drift, or in nothing but the version."""
    lines = []
    if comparison.versioned:
        lines.append(f"The version is named anew in {', '.join(comparison.versioned)}.")
    if attempts := retries(comparison):
        lines.append(f"Retries: {attempts}.")
    return tag("p", " ".join(lines), class_="quiet")


def _drift_row(drift: Drift) -> Markup:
    cause = f" ({version(drift.package, arrow='→')})" if drift.package is not None else ""
    turn = f", from turn {drift.first_turn}" if (drift.first_turn or 1) > 1 else ""
    return tag(
        "tr",
        tag("td", drift.kind),
        tag("td", tag("code", drift.name)),
        tag("td", tag("code", drift.before) if drift.before is not None else "not sent"),
        tag("td", tag("code", drift.after) if drift.after is not None else "not sent"),
        tag("td", ", ".join(drift.targets) + cause),
        tag("td", ", ".join(drift.dialects) + turn),
        tag("td", str(drift.cases), title=f"for instance {drift.example}"),
    )


def _packages(comparison: Comparison) -> Markup | None:
    if not comparison.packages:
        return None
    rows = [
        tag(
            "tr",
            tag("td", change.target or ""),
            tag("td", change.package),
            tag("td", change.before or "absent"),
            tag("td", change.after or "absent"),
        )
        for change in comparison.packages
    ]
    names = ("target", "package", comparison.base, comparison.head)
    shown = table(names, rows, kind="changes", label="packages that changed")
    summary = tag("summary", f"{count(len(rows), 'version')} changed")
    return tag("details", summary, shown, class_="raw")


def _cells(report: MatrixReport) -> Markup:
    targets = list(dict.fromkeys(cell.target for cell in report.cells))
    by_place = {(cell.target, cell.dependency_set): cell for cell in report.cells}
    rows = [
        tag(
            "tr",
            tag("th", target, scope="row"),
            *(_cell(by_place.get((target, one.name))) for one in report.sets),
        )
        for target in targets
    ]
    names = ("target", *(one.name for one in report.sets))
    return table(names, rows, kind="targets", label="cells")


def _cell(cell: Cell | None) -> Markup:
    if cell is None:
        return tag("td", "·", aria_label="not run")
    return tag("td", *_told(cell))


def _told(cell: Cell) -> Iterator[Child]:
    if cell.status == "ran":
        for verdict in SIGNS:
            if cell.verdicts.get(verdict):
                shown = tag("b", f"{SIGNS[verdict].shape} {cell.verdicts[verdict]}")
                tone = f"count {SIGNS[verdict].tone}"
                yield tag("span", shown, f" {SIGNS[verdict].word}", class_=tone)
        yield tag("span", f" {cell.runtime}, {cell.seconds:.1f} s", class_="quiet")
        return
    yield tag("span", tag("b", "! "), outcome(cell), class_="bad")
    trouble = cell.trouble
    places = [trouble.package, trouble.place] if trouble is not None else []
    yield tag("span", " ", ", ".join(filter(None, places)), class_="quiet")


def _sets(report: MatrixReport) -> Iterable[Child]:
    rows = [
        tag("tr", tag("th", one.name, scope="row"), tag("td", ", ".join(one.asked)))
        for one in report.sets
    ]
    yield table(("set", "packages"), rows, kind="changes", label="sets")
    if report.header.only_present:
        yield tag("p", "A package is changed only where the target has it.", class_="quiet")
