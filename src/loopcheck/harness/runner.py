"""Runs a target through its cases: smoke first, then each case, judged as it ends."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from loopcheck.fake_providers.script import DialectName, Mode
from loopcheck.harness.cases import CaseSpec
from loopcheck.harness.journal import Entry, to_lines
from loopcheck.harness.judge import judge
from loopcheck.harness.results import CaseResult, TargetCard, TargetResult
from loopcheck.harness.smoke import SMOKE, complaint
from loopcheck.harness.stage import OpenCase, Stage
from loopcheck.harness.task import Outcome


class Broken(Exception):
    """A run that ended in a way no loop chose. `kind` says whose fault, `what` what was seen."""

    def __init__(self, kind: Literal["target", "hung"], what: str) -> None:
        super().__init__(what)
        self.kind: Literal["target", "hung"] = kind
        self.what = what


class Driver(Protocol):
    """Something that hands a case's task to a loop and waits for its outcome."""

    def card(self) -> TargetCard:
        """The target's card. Raises Broken where there is no target to be had."""
        ...

    def drive(self, case: OpenCase, folder: Path, seconds: float) -> Outcome:
        """Runs the loop on the case. Raises Broken when it broke, or outlasted `seconds`."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """How cases are run. `journal_folder` keeps the journals; None keeps none."""

    seed: int = 0
    case_seconds: float = 30.0
    journal_folder: Path | None = None


def run_case(
    driver: Driver, card: TargetCard, spec: CaseSpec, stage: Stage, options: RunOptions
) -> CaseResult:
    """One case, run and judged."""
    entries, seconds = play(driver, card, spec, stage, options)
    result = judge(entries, spec, frozenset(card.can))
    journal = _keep(entries, card, spec, options)
    return result.model_copy(update={"seconds": seconds, "journal": journal})


def play(
    driver: Driver, card: TargetCard, spec: CaseSpec, stage: Stage, options: RunOptions
) -> tuple[tuple[Entry, ...], float]:
    """One case, run but not judged: its journal and how long it took, in seconds."""
    started = time.perf_counter()
    with (
        tempfile.TemporaryDirectory(prefix="loopcheck-") as folder,
        stage.open(spec, target=card.name, seed=options.seed, seconds=options.case_seconds) as case,
    ):
        try:
            outcome = driver.drive(case, Path(folder), options.case_seconds)
        except Broken as broken:
            case.record_broken(broken.kind, broken.what)
        else:
            case.record_outcome(outcome)
    return case.journal.entries(), time.perf_counter() - started


def run_target(
    driver: Driver,
    specs: Sequence[CaseSpec],
    stage: Stage,
    options: RunOptions,
    *,
    progress: Callable[[CaseResult], None] = lambda result: None,
    started: Callable[[TargetCard], None] = lambda card: None,
) -> TargetResult:
    """All cases of one target, in the dialects and modes that it declares."""
    try:
        card = driver.card()
    except Broken as broken:
        return TargetResult(card=TargetCard(name="?"), broken=broken.what)
    started(card)
    smoke, broken_by = _smoke(driver, card, stage, options)
    if broken_by is not None:
        return TargetResult(card=card, broken=broken_by, smoke=smoke)
    results = []
    for spec in declared(specs, card):
        missing = [need for need in spec.scenario.needs if need not in card.can]
        if missing:
            result = not_declared(spec, missing)
        else:
            result = run_case(driver, card, spec, stage, options)
        progress(result)
        results.append(result)
    return TargetResult(card=card, smoke=smoke, cases=tuple(results))


def declared(specs: Iterable[CaseSpec], card: TargetCard) -> list[CaseSpec]:
    """The cases whose dialect and mode the target speaks."""
    return [s for s in specs if s.dialect in card.dialects and s.mode in card.modes]


def not_declared(spec: CaseSpec, missing: Sequence[str]) -> CaseResult:
    """The result of a case that needs what the target does not declare."""
    return CaseResult(
        case=spec.id,
        scenario=spec.scenario.id,
        title=spec.scenario.title,
        rule=spec.scenario.rule,
        grounds=spec.scenario.grounds,
        dialect=spec.dialect,
        mode=spec.mode,
        verdict="not declared",
        reason=f"needs {', '.join(missing)}",
    )


def _smoke(
    driver: Driver, card: TargetCard, stage: Stage, options: RunOptions
) -> tuple[CaseResult | None, str | None]:
    """The smoke case in every declared dialect and mode; the first complaint breaks the target."""
    last: CaseResult | None = None
    for dialect in card.dialects:
        for mode in card.modes:
            spec = CaseSpec(SMOKE, _dialect(dialect), _mode(mode))
            entries, seconds = play(driver, card, spec, stage, options)
            result = judge(entries, spec, frozenset(card.can))
            last = result.model_copy(update={"seconds": seconds})
            wrong = complaint(entries, spec)
            if wrong is not None:
                return last, f"{dialect}, {mode}: {wrong}"
    return last, None


def _dialect(name: str) -> DialectName:
    for known in ("responses", "chat", "messages"):
        if name == known:
            return known
    raise Broken("target", f"the card names an unknown dialect {name!r}")


def _mode(name: str) -> Mode:
    for known in ("whole", "stream"):
        if name == known:
            return known
    raise Broken("target", f"the card names an unknown mode {name!r}")


def _keep(
    entries: Iterable[Entry], card: TargetCard, spec: CaseSpec, options: RunOptions
) -> str | None:
    if options.journal_folder is None:
        return None
    folder = options.journal_folder / card.name
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{spec.scenario.id.replace('/', '.')}.{spec.dialect}-{spec.mode}.jsonl"
    path = folder / name
    path.write_text(to_lines(entries), encoding="utf-8")
    return str(path)
