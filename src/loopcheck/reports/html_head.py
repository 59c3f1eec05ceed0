"""The head of a report: how the run went, what was on trial, and where the parts are."""

from __future__ import annotations

from collections.abc import Mapping

from loopcheck.harness.results import Report, TargetResult
from loopcheck.reports.causes import FAILING
from loopcheck.reports.html_parts import banner, contents, facts, table
from loopcheck.reports.markup import Child, Markup, tag
from loopcheck.reports.verdicts import SIGNS, count, counted


def headline(report: Report) -> str:
    """How the run went, in a few words."""
    verdicts, cases = report.footer.verdicts, count(report.footer.cases, "case")
    failing = sum(number for verdict, number in verdicts.items() if verdict in FAILING)
    broken = sum(target.broken is not None for target in report.targets)
    stale = sum(len(target.stale) for target in report.targets)
    parts = [f"{failing} of {cases} failing"] if failing else []
    parts += [f"{count(broken, 'target')} broken"] if broken else []
    told = ", ".join(parts) or f"{cases}, none failing"
    return f"{told}, {stale} no longer failing as listed" if stale else told


def head(report: Report, sections: Mapping[str, str]) -> Markup:
    """The head of the page; `sections` are the titles of its parts by their ids."""
    header, footer = report.header, report.footer
    told = {
        "suite": header.suite,
        "seed": str(header.seed),
        "shard": str(header.shard or ""),
        "request rules left out": ", ".join(header.lenient),
        "loopcheck": header.loopcheck,
        "started": header.started.replace("T", " "),
        "took": f"{footer.seconds:.1f} s",
        "exit code": str(footer.exit_code),
    }
    return tag(
        "header",
        banner("loopcheck report", headline(report), bad=footer.exit_code != 0),
        facts(told),
        table(
            ("target", "cases", "versions"),
            map(_target, report.targets),
            kind="targets",
            label="targets",
        ),
        contents(sections),
    )


def _target(target: TargetResult) -> Markup:
    card = target.card
    version = tag("span", card.version, class_="quiet") if card.version else None
    packages = [f"{name} {held}" for name, held in card.packages.items()]
    return tag(
        "tr",
        tag("th", card.name, " ", version, scope="row"),
        tag("td", _counts(target)),
        tag("td", ", ".join(filter(None, [card.runtime, *packages])), class_="quiet"),
    )


def _counts(target: TargetResult) -> Child:
    if target.broken is not None:
        return tag("span", tag("b", "! "), f"broken: {target.broken}", class_="bad")
    return [
        tag(
            "span",
            tag("b", f"{SIGNS[verdict].shape} {number}"),
            f" {SIGNS[verdict].word}",
            class_=f"count {SIGNS[verdict].tone}",
        )
        for verdict, number in counted(target.cases).items()
    ]
