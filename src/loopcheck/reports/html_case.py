"""A failing case in HTML: the finding, the sequence that proves it, the bytes, and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from urllib.parse import quote

from loopcheck.harness.results import CaseResult, Finding, Verdict
from loopcheck.reports import public_bugs
from loopcheck.reports.block import Setting, rerun
from loopcheck.reports.causes import Failure, primary
from loopcheck.reports.markup import Child, Markup, tag
from loopcheck.reports.sequence import Gap, Step, shown, steps
from loopcheck.reports.verdicts import SIGNS, count

# What a browser is given to show; further causes are told in brief.
DRAWN: Final = 200
_SAFE: Final = "/:[]+@,=-._~"
_WAYS: Final = {
    "ask": "loop to service",
    "tell": "service to loop",
    "do": "loop to tool",
    "world": "in the world",
    "return": "tool to loop",
    "loop": "loop",
    "note": "note",
}


def anchor(target: str, case: str) -> str:
    """The name of a case in addresses: `#case=target:scenario[dialect-mode]`."""
    return quote(f"case={target}:{case}", safe=_SAFE, errors="backslashreplace")


def group_of(scenario: str) -> str:
    """The class of a scenario: what stands before the slash."""
    return scenario.partition("/")[0]


def badge(verdict: Verdict) -> Markup:
    """A verdict's shape and word."""
    sign = SIGNS[verdict]
    return tag("span", tag("b", sign.shape, aria_hidden="true"), sign.word, class_=f"v {sign.tone}")


def article(
    failure: Failure,
    setting: Setting,
    *,
    drawn: bool = True,
    lead: Child = None,
    verdict: Verdict | None = None,
) -> Markup:
    """The case behind a summary of one line; `lead` stands above all else, and `verdict` is
    shown in place of its own. Where it is not to be drawn, it is told in brief."""
    case, finding, target = failure.case, primary(failure.case), setting.target or ""
    word = verdict or case.verdict
    body = [
        tag("p", tag("b", "Requires: "), case.rule, class_="rule") if case.rule and drawn else None,
        lead,
        _finding(finding) if finding is not None else None,
        _field("Reason", case.reason) if case.reason else None,
        [_drawing(case, finding), _frames(case), _others(case, finding)] if drawn else None,
        _remedies(failure, finding, setting, drawn=drawn),
    ]
    return tag(
        "details",
        _summary(case, word, finding, len(failure.same_in)),
        tag("div", body, id=anchor(target, case.case), class_="body"),
        class_=f"case {SIGNS[word].tone}",
        data_verdict=word,
        data_class=group_of(case.scenario),
        data_check=" ".join(dict.fromkeys(found.check for found in case.findings)),
        data_target=target,
    )


def _summary(case: CaseResult, word: Verdict, finding: Finding | None, more: int) -> Markup:
    return tag(
        "summary",
        badge(word),
        tag("span", case.case, class_="id"),
        tag("span", f"and {more} more", class_="more") if more else None,
        tag("span", finding.check, class_="check") if finding is not None else None,
        tag("span", case.title, class_="title"),
    )


def _finding(finding: Finding) -> Markup:
    return tag(
        "section",
        tag("h4", tag("code", finding.check), " ", finding.sentence),
        tag(
            "dl",
            tag("div", tag("dt", "expected"), tag("dd", finding.expected)),
            tag("div", tag("dt", "seen"), tag("dd", finding.seen), class_="seen"),
            class_="versus",
        ),
        _field("Likely cause", finding.why) if finding.why else None,
        class_="finding",
    )


def _field(name: str, *content: Child) -> Markup:
    return tag("p", tag("b", f"{name}: "), content, class_="field")


def _drawing(case: CaseResult, finding: Finding | None) -> Markup | None:
    if not case.lines:
        return None
    picked = shown(steps(case.lines, finding.entries if finding is not None else ()))
    lanes = tag("span", *(tag("i", lane) for lane in ("service", "loop", "tools")), class_="lanes")
    return tag(
        "section",
        tag("h4", "What happened"),
        tag("div", lanes, class_="heads", aria_hidden="true"),
        tag("ol", *map(_step, picked), class_="seq"),
    )


def _step(step: Step | Gap) -> Markup:
    if isinstance(step, Gap):
        return tag(
            "li",
            f"… {count(step.steps, 'entry').replace('entrys', 'entries')} left out",
            class_="gap",
        )
    mark = "first mismatch" if step.first else "proof" if step.proof else None
    return tag(
        "li",
        tag("span", "" if step.number is None else str(step.number), class_="n"),
        tag("span", tag("span", _WAYS[step.way], class_="vh"), class_="way"),
        tag("span", step.kind, class_="kind"),
        tag("span", step.label, class_="label") if step.label else None,
        tag("span", step.text, class_="text"),
        tag("mark", mark) if mark else None,
        class_=" ".join([step.way, *(["proof"] if step.proof else [])]),
    )


def _frames(case: CaseResult) -> Markup | None:
    if not case.frames:
        return None
    return tag(
        "details",
        tag("summary", f"Bytes: {count(len(case.frames), 'frame')} at the end of the response"),
        tag("ol", *(tag("li", frame) for frame in case.frames), class_="frames"),
        class_="raw",
    )


def _others(case: CaseResult, first: Finding | None) -> Markup | None:
    others = [finding for finding in case.findings if finding is not first]
    if not others:
        return None
    return tag(
        "details",
        tag("summary", f"Also: {count(len(others), 'finding')} behind or beside it"),
        tag("ul", *map(_other, others), class_="others"),
        class_="raw",
    )


def _other(finding: Finding) -> Markup:
    where = f" (entry {finding.entries[0]})" if finding.entries else ""
    return tag(
        "li",
        tag("code", finding.check),
        f" {finding.level}{where}: {finding.sentence}. ",
        tag("span", "Expected ", tag("q", finding.expected), ", seen ", tag("q", finding.seen)),
    )


def _remedies(
    failure: Failure, finding: Finding | None, setting: Setting, *, drawn: bool
) -> Markup:
    case, target = failure.case, setting.target or ""
    advice = setting.advice.get(finding.check) if finding is not None else None
    section = f"docs/checks.md, section {finding.check}" if finding is not None else ""
    again = rerun(case, setting)
    rows: dict[str, Child] = {
        "Mend": [advice, " ", tag("span", f"({section})", class_="quiet")]
        if advice and drawn
        else None,
        "Listed as": [_listed(case)] if case.expectations else None,
        "Run again": tag("code", again, class_="command") if again else None,
        "Same in": _same(failure.same_in, target, drawn) if failure.same_in else None,
        "Public reports of this kind": _bugs(case.grounds) if case.grounds and drawn else None,
        "Journal": tag("code", case.journal) if case.journal and drawn else None,
    }
    return tag(
        "dl",
        *(tag("div", tag("dt", name), tag("dd", said)) for name, said in rows.items() if said),
        class_="remedies",
    )


def _listed(case: CaseResult) -> Markup:
    told = [
        tag("li", f"{e.kind}, {e.check}: {e.reason}", f" ({e.issue})" if e.issue else None)
        for e in case.expectations
    ]
    return tag("ul", *told)


def _same(cases: Sequence[str], target: str, drawn: bool) -> Child:
    if not drawn:
        return ", ".join(cases)
    return tag("ul", *(tag("li", case, id=anchor(target, case)) for case in cases), class_="ids")


def _bugs(ids: Sequence[str]) -> Markup:
    return tag("ul", *map(_bug, public_bugs.find(ids)))


def _bug(bug: public_bugs.PublicBug) -> Markup:
    thread = tag("a", bug.thread, href=bug.url, rel="noreferrer") if bug.url else bug.thread
    return tag("li", f"{bug.id} ", thread, f": {bug.about}" if bug.about else None)
