"""A comparison of two runs as one HTML file; what fails now is drawn as in the report of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from loopcheck.harness.results import CaseResult, Report
from loopcheck.reports.block import Setting
from loopcheck.reports.causes import Failure
from loopcheck.reports.diff_wording import SHOWN, count_line, headline, move, side, titled, word
from loopcheck.reports.difference import Change, Difference, Kind, Side
from loopcheck.reports.html_case import DRAWN, article, group_of
from loopcheck.reports.html_controls import controls
from loopcheck.reports.html_page import page
from loopcheck.reports.html_parts import banner, contents, facts, notice, table
from loopcheck.reports.markup import Child, Markup, tag
from loopcheck.reports.verdicts import SIGNS


def render(
    difference: Difference,
    before: Report,
    after: Report,
    *,
    advice: Mapping[str, str] | None = None,
) -> str:
    """The comparison of these two reports as one HTML document."""
    kinds: tuple[Kind, ...] = (*SHOWN, "unchanged")
    sections: dict[Kind, list[Change]] = {
        kind: [change for change in difference.changes if change.kind == kind] for kind in kinds
    }
    told: dict[Kind, list[Change]] = {
        kind: changes for kind, changes in sections.items() if changes
    }
    cases = _Cases(before, after, advice or {})
    groups = sorted({group_of(c.case) for c in difference.changes if c.case})
    checks = sorted({c.check for c in difference.changes if c.check})
    drawn = [change.after or change.before for changes in told.values() for change in changes]
    verdicts = [verdict for verdict in SIGNS if verdict in drawn]
    return page(
        f"loopcheck: {headline(difference)}",
        _head(difference, told),
        controls(verdicts=verdicts, groups=groups, checks=checks),
        tag(
            "main",
            *(_section(kind, changes, cases) for kind, changes in told.items()),
            _packages(difference),
        ),
    )


class _Cases:
    """The cases of both reports by target and id, and what their articles say of the run."""

    def __init__(self, before: Report, after: Report, advice: Mapping[str, str]) -> None:
        self._cases = [_by_id(before), _by_id(after)]
        self._headers = [before.header, after.header]
        self._advice = advice
        self._drawn = 0

    def drawn(self, change: Change) -> Markup:
        """The case of the change, as it fails now, or as it failed."""
        key = (change.target, change.case or "")
        side = 1 if key in self._cases[1] and change.kind != "fixed" else 0
        case = self._cases[side].get(key)
        if case is None:
            return _whole(change)
        header = self._headers[side]
        setting = Setting(
            target=change.target, seed=header.seed, lenient=header.lenient, advice=self._advice
        )
        self._drawn += 1
        return article(
            Failure(case, change.same_in),
            setting,
            drawn=self._drawn <= DRAWN,
            lead=_pair(change),
            verdict=change.after,
        )


def _by_id(report: Report) -> dict[tuple[str, str], CaseResult]:
    return {
        (target.card.name, case.case): case for target in report.targets for case in target.cases
    }


def _head(difference: Difference, told: Mapping[Kind, Sequence[Change]]) -> Markup:
    sections = {_name(kind): word(kind) for kind in told}
    sections |= {"versions": "versions that changed"} if difference.packages else {}
    return tag(
        "header",
        banner("loopcheck comparison", headline(difference), bad=difference.regressed),
        tag("p", count_line(difference), class_="quiet"),
        _side("before", difference.before),
        _side("after", difference.after),
        *(notice(tag("b", "Note: "), note, tone="warn") for note in difference.notes),
        contents(sections),
    )


def _side(name: str, side: Side) -> Markup:
    return facts(
        {
            name: side.name,
            "suite": side.suite,
            "seed": str(side.seed),
            "loopcheck": side.loopcheck,
            "started": side.started.replace("T", " "),
        }
    )


def _name(kind: Kind) -> str:
    return kind.replace(" ", "-")


def _section(kind: Kind, changes: Sequence[Change], cases: _Cases) -> Markup:
    title = "Still failing, unchanged" if kind == "unchanged" else word(kind).capitalize()
    groups: dict[str, list[Markup]] = {}
    for change in changes:
        groups.setdefault(change.target, []).append(cases.drawn(change))
    parts: list[Child] = [
        tag("section", tag("h3", target), *found, class_="group")
        for target, found in groups.items()
    ]
    return tag("section", tag("h2", title), parts, id=_name(kind))


def _pair(change: Change) -> Markup:
    rows = {
        "before": side(change.before, change.was),
        "after": side(change.after, change.now),
        "moved": move(change),
    }
    told = [tag("div", tag("dt", name), tag("dd", text)) for name, text in rows.items() if text]
    return tag("dl", *told, class_="versus")


def _whole(change: Change) -> Markup:
    tone = "bad" if change.after == "target broken" else "good"
    return tag(
        "div",
        notice(tag("b", f"{titled(change)}: "), change.title, tone=tone),
        _pair(change),
    )


def _packages(difference: Difference) -> Markup | None:
    if not difference.packages:
        return None
    rows = [
        tag(
            "tr",
            tag("td", change.target or "environment of the run"),
            tag("td", change.package),
            tag("td", change.before or "absent"),
            tag("td", change.after or "absent"),
        )
        for change in difference.packages
    ]
    names = ("target", "package", "before", "after")
    told = table(names, rows, kind="changes", label="versions")
    return tag("section", tag("h2", "Versions that changed"), told, id="versions")
