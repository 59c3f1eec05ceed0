"""One cause that shows in several dialects and modes is told once."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final

from loopcheck.harness.results import CaseResult, Finding

_IDS: Final = re.compile(
    r"\b(call|toolu|fc|fco|ctc|rs|resp|msg|chatcmpl|req|item|tk)[_-][A-Za-z0-9_-]+"
)
FAILING: Final = frozenset({"fail", "harness error", "target broken"})
ACCEPTED: Final = frozenset({"expected", "policy", "flaky"})


@dataclass(frozen=True, slots=True)
class Failure:
    """A failing case, and the other cases that fail from the same cause."""

    case: CaseResult
    same_in: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Remark:
    """A should-finding, and how many further cases show it."""

    case: str
    finding: Finding
    more: int


def failures(cases: Iterable[CaseResult], verdicts: Collection[str] = FAILING) -> list[Failure]:
    """The cases with these verdicts in order, one for each cause."""
    groups: dict[tuple[str, ...], list[CaseResult]] = {}
    for case in cases:
        if case.verdict in verdicts:
            groups.setdefault(cause(case), []).append(case)
    return [Failure(first, tuple(c.case for c in more)) for first, *more in groups.values()]


def remarks(cases: Iterable[CaseResult]) -> list[Remark]:
    """The should-findings of what counts that no known failure answers, one for each cause."""
    groups: dict[tuple[str, ...], list[tuple[str, Finding]]] = {}
    for case in (case for case in cases if case.verdict != "unscored"):
        for finding in case.findings:
            if finding.level == "should" and not _is_answered(case, finding):
                key = (case.scenario, *_text(finding))
                groups.setdefault(key, []).append((case.case, finding))
    return [Remark(*group[0], len(group) - 1) for group in groups.values()]


def primary(case: CaseResult) -> Finding | None:
    """What the case fails by: its first must-finding, which the judge ranked first."""
    return next((finding for finding in case.findings if finding.level == "must"), None)


def _is_answered(case: CaseResult, finding: Finding) -> bool:
    return any(listed.check in ("*", finding.check) for listed in case.expectations)


def cause(case: CaseResult) -> tuple[str, ...]:
    """What two cases have in common that fail from one cause."""
    finding = primary(case)
    what = _text(finding) if finding is not None else (without_ids(case.reason or ""),)
    return (case.scenario, case.verdict, *what)


def _text(finding: Finding) -> tuple[str, ...]:
    return (finding.check, finding.sentence, *map(without_ids, (finding.expected, finding.seen)))


def without_ids(text: str) -> str:
    """The text with the varying part of each id left out."""
    return _IDS.sub(r"\1_…", text)
