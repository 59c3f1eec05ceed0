"""What several reports say of one target, joined: each case once, in the order of their ids."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from loopcheck.fake_providers.script import DIALECTS, MODES
from loopcheck.harness.merging.named import Placed, difference, disagree
from loopcheck.harness.results import CaseResult, TargetResult

# These differ from one run of the same case to the next, and are no results.
_OF_THE_RUN: Final = frozenset({"seconds", "journal", "lines", "frames"})
_KNOWN: Final[tuple[str, ...]] = (*DIALECTS, *MODES)


def joined(placed: Sequence[Placed]) -> TargetResult:
    """The target with the cases of all of these reports. Raises MergeError where two of them
    say different things of one case."""
    results = [one.target for one in placed]
    cases = sorted(_each_once(placed), key=_order)
    broken = [result for result in results if result.broken is not None]
    best = next((result for result in results if result.card.dialects), results[0])
    return TargetResult(
        card=best.card,
        broken=broken[0].broken if broken else None,
        smoke=(broken or results)[0].smoke,
        cases=tuple(cases),
        stale=tuple(_stale(results, cases)),
    )


def _each_once(placed: Iterable[Placed]) -> list[CaseResult]:
    found: dict[str, tuple[CaseResult, Placed]] = {}
    for one in placed:
        for place, case in enumerate(one.target.cases):
            known, before = found.setdefault(case.case, (case, one))
            if known is not case:
                _agree(known, before, case, one, place)
    return [case for case, _ in found.values()]


def _agree(known: CaseResult, before: Placed, case: CaseResult, one: Placed, place: int) -> None:
    was, now = (result.model_dump(exclude=set(_OF_THE_RUN)) for result in (known, case))
    found = difference(now, was, f"{one.path}.cases.{place}")
    if found is not None:
        field, is_, other = found
        remedy = f"{case.case} has two results; leave out the report that does not count"
        disagree(one.report.name, field, is_, before.report.name, other, remedy)


def _order(case: CaseResult) -> tuple[str | int, ...]:
    """As a run has them: by file, variants behind what they vary, then as the format names
    dialects and modes; deaths stay behind their case."""
    file, _, variant = case.scenario.partition("@")
    return f"{file}.yaml", variant, *(_place(word) for word in (case.dialect, case.mode))


def _place(word: str) -> int:
    return _KNOWN.index(word) if word in _KNOWN else len(_KNOWN)


def _stale(results: Iterable[TargetResult], cases: Sequence[CaseResult]) -> list[str]:
    """What is stale, in the order of the cases that show it."""
    lines = dict.fromkeys(line for result in results for line in result.stale)
    places = {case.case: place for place, case in enumerate(cases)}
    return sorted(lines, key=lambda line: places.get(line.partition(": ")[0], len(places)))
