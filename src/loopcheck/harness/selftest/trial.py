"""Puts the liars on trial: each has to be found out, by the check that it trips."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from loopcheck.harness.cases import CaseSpec, expand
from loopcheck.harness.checks import CHECKS
from loopcheck.harness.inprocess import InProcess
from loopcheck.harness.results import CaseResult
from loopcheck.harness.runner import RunOptions, run_case
from loopcheck.harness.scenario.load import CATALOGUE, discover
from loopcheck.harness.selftest import (
    acting,
    asking,
    ending,
    mixing,
    remembering,
    stopping,
    telling,
    texts,
)
from loopcheck.harness.selftest.liar import Liar, target_of
from loopcheck.harness.selftest.loop import Loop
from loopcheck.harness.stage import Stage
from loopcheck.harness.target import Target

LIARS: Final[tuple[Liar, ...]] = (
    *mixing.LIARS,
    *acting.LIARS,
    *asking.LIARS,
    *stopping.LIARS,
    *telling.LIARS,
    *remembering.LIARS,
    *ending.LIARS,
)
HONEST: Final = target_of(Loop)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A loop with what each check said of it over its cases, and what is wrong with that.

    `cells` has for each check `caught` (the primary finding), `must`, `should`, `pass` or "".
    """

    name: str
    cells: dict[str, str]
    complaints: tuple[str, ...]


def rows(stage: Stage, liars: Sequence[Liar] = LIARS) -> Iterable[Row]:
    """A row for the honest loop over the cases of all liars, then one for each liar."""
    specs = cases(liars)
    every = dict.fromkeys(case for liar in liars for case in liar.cases)
    results = _tried(HONEST, every, specs, stage)
    yield _row("honest", results, _accusation)
    for liar in liars:
        results = _tried(liar.target, liar.cases, specs, stage)
        yield _row(liar.name, results, partial(complaint, liar))


def cases(liars: Iterable[Liar] = LIARS) -> dict[str, CaseSpec]:
    """The cases that they are tried in, by id: of the catalogue, and of a few scenarios for liars
    alone."""
    named = dict.fromkeys(case.partition("[")[0] for liar in liars for case in liar.cases)
    own = {scenario.id: scenario for scenario in texts.load()}
    of_catalogue = discover([name for name in named if name not in own], cwd=CATALOGUE)
    return {spec.id: spec for spec in expand([*of_catalogue, *own.values()])}


def complaint(liar: Liar, result: CaseResult) -> str | None:
    """Why this result does not find the liar out, or accuses it of too much; else None."""
    first = result.findings[0] if result.findings else None
    if first is None or (first.check, first.level) != (liar.check, liar.level):
        found = f"{first.check} ({first.level})" if first is not None else "nothing"
        return f"{liar.name}, {result.case}: found {found}, not {liar.check}"
    more = consequences(liar, result) - liar.also
    if more:
        return f"{liar.name}, {result.case}: also accused of {', '.join(sorted(more))}"
    return None


def consequences(liar: Liar, result: CaseResult) -> set[str]:
    """The checks that it failed beside its own. What the scenario itself says under must is no
    news then."""
    failed = {one.check for one in result.findings if one.level == "must"}
    return failed - {liar.check, "scenario.expects"}


def untried(liars: Iterable[Liar] = LIARS) -> list[str]:
    """The checks that no liar trips: such a check is not trusted."""
    return sorted({check.id for check in CHECKS} - {liar.check for liar in liars})


def _accusation(result: CaseResult) -> str | None:
    if result.verdict == "pass" and not result.findings:
        return None
    found = ", ".join(f"{one.check} ({one.level})" for one in result.findings)
    return f"the honest loop, {result.case}: {result.verdict} {found or result.reason}"


def _tried(
    target: Target, cases: Iterable[str], specs: dict[str, CaseSpec], stage: Stage
) -> list[CaseResult]:
    with InProcess(target) as driver:
        card = target.card()
        return [run_case(driver, card, specs[case], stage, RunOptions()) for case in cases]


def _row(name: str, results: list[CaseResult], complain: Callable[[CaseResult], str | None]) -> Row:
    said = [complain(result) for result in results]
    return Row(
        name=name,
        cells={check.id: _cell(check.id, results) for check in CHECKS},
        complaints=tuple(one for one in said if one is not None),
    )


def _cell(check: str, results: list[CaseResult]) -> str:
    levels = {one.level for result in results for one in result.findings if one.check == check}
    first = [result.findings[0] for result in results if result.findings]
    if any(one.check == check and one.level == "must" for one in first):
        return "caught"
    for level in ("must", "should"):
        if level in levels:
            return level
    passed = any(
        one.check == check and one.status == "pass" for result in results for one in result.checks
    )
    return "pass" if passed else ""
