"""Runs a target through its cases: smoke first, then each case, judged as it ends."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, Protocol
from urllib.parse import quote
from zlib import crc32

from loopcheck.fake_providers.script import DIALECTS, MODES
from loopcheck.harness.cases import CaseSpec
from loopcheck.harness.deaths import ALL, Deaths, moments, with_death
from loopcheck.harness.frames import frames
from loopcheck.harness.journal import Entry, to_lines
from loopcheck.harness.judge import judge
from loopcheck.harness.legs import Leg
from loopcheck.harness.naming import hinted
from loopcheck.harness.results import CaseResult, TargetCard, TargetResult
from loopcheck.harness.scenario.errors import did_you_mean
from loopcheck.harness.shards import Shard
from loopcheck.harness.smoke import SMOKE, complaint
from loopcheck.harness.stage import OpenCase, Stage
from loopcheck.harness.target import CAPABILITIES
from loopcheck.harness.task import Outcome

_LEAST_SECONDS: Final = 1.0
_RAN: Final = ("pass", "fail", "not exercised")


class Broken(Exception):
    """A run that ended in a way no loop chose. `kind` says whose fault, `what` what was seen."""

    def __init__(self, kind: Literal["target", "hung"], what: str) -> None:
        super().__init__(what)
        self.kind: Literal["target", "hung"] = kind
        self.what = what


class Skipped(Exception):
    """The target declined a case, in its own words."""


class Driver(Protocol):
    """Something that hands a case's task to a loop and waits for its outcome."""

    def card(self) -> TargetCard:
        """The target's card. Raises Broken where there is no target to be had."""
        ...

    def drive(self, case: OpenCase, leg: Leg, folder: Path, seconds: float) -> tuple[Outcome, ...]:
        """Runs the loop on this part of the case; one outcome for each process that ran it.
        Raises Broken when it broke, or outlasted `seconds`, and Skipped when it declined."""
        ...

    def linger(self, case: OpenCase) -> None:
        """Lets what the loop left behind go on until nothing happens any more."""
        ...

    @property
    def has_process(self) -> bool:
        """Whether the target has a process of its own, which can be ended."""
        ...


class AsyncDriver(Protocol):
    """The same for a caller in a running event loop."""

    async def adrive(
        self, case: OpenCase, leg: Leg, folder: Path, seconds: float
    ) -> tuple[Outcome, ...]: ...

    async def alinger(self, case: OpenCase) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """How cases are run. `journal_folder` keeps the journals; None keeps none. One that cannot be
    written is left out, unless `needs_journals`, which raises OSError. `lenient` names
    request rules that are left out, and `deaths` says how often each case is run once more, with
    a process that dies. `samples` says that a scenario which ends processes is run in one dialect
    and mode only, since each new process costs a start. With a `shard`, only its cases are run."""

    seed: int = 0
    lenient: frozenset[str] = frozenset()
    case_seconds: float = 30.0
    journal_folder: Path | None = None
    needs_journals: bool = False
    deaths: Deaths | None = None
    samples: bool = False
    shard: Shard | None = None


Played = tuple[tuple[Entry, ...], float]


def run_case(
    driver: Driver, card: TargetCard, spec: CaseSpec, stage: Stage, options: RunOptions
) -> CaseResult:
    """One case, run and judged; not run where the target does not declare what it needs."""
    return _run(driver, card, spec, stage, options)[0]


def _run(
    driver: Driver, card: TargetCard, spec: CaseSpec, stage: Stage, options: RunOptions
) -> tuple[CaseResult, tuple[Entry, ...]]:
    """The case's result and its journal, which is empty where it was not run."""
    missing = undeclared(spec, card.can, has_process=driver.has_process)
    if missing:
        return _not_declared(spec, missing), ()
    try:
        played = play(driver, card, spec, stage, options)
    except Skipped as skipped:
        return _not_declared(spec, str(skipped)), ()
    return _judged(played, card, spec, options), played[0]


async def arun_case(
    driver: AsyncDriver, card: TargetCard, spec: CaseSpec, stage: Stage, options: RunOptions
) -> CaseResult:
    """The same within a running event loop."""
    missing = undeclared(spec, card.can, has_process=False)
    if missing:
        return _not_declared(spec, missing)
    try:
        played = await aplay(driver, card, spec, stage, options)
    except Skipped as skipped:
        return _not_declared(spec, str(skipped))
    return _judged(played, card, spec, options)


def play(
    driver: Driver, card: TargetCard, spec: CaseSpec, stage: Stage, options: RunOptions
) -> Played:
    """One case, run but not judged: its journal and how long it took, in seconds."""
    started = time.perf_counter()
    with _put_on(card, spec, stage, options) as (case, folder), _recorded(case):
        leg: Leg | None = case.conductor.first
        while leg is not None:
            seconds = _seconds(leg, started, options)
            outcomes = driver.drive(case, leg, folder, seconds)
            case.record_end(outcomes)
            leg = case.conductor.next(outcomes)
            if case.conductor.takes_time():
                driver.linger(case)
            _record(case, leg)
    return case.journal.entries(), time.perf_counter() - started


async def aplay(
    driver: AsyncDriver, card: TargetCard, spec: CaseSpec, stage: Stage, options: RunOptions
) -> Played:
    """The same within a running event loop."""
    started = time.perf_counter()
    with _put_on(card, spec, stage, options) as (case, folder), _recorded(case):
        leg: Leg | None = case.conductor.first
        while leg is not None:
            seconds = _seconds(leg, started, options)
            outcomes = await driver.adrive(case, leg, folder, seconds)
            case.record_end(outcomes)
            leg = case.conductor.next(outcomes)
            if case.conductor.takes_time():
                await driver.alinger(case)
            _record(case, leg)
    return case.journal.entries(), time.perf_counter() - started


def _seconds(leg: Leg, started: float, options: RunOptions) -> float:
    """How long this leg may take: what is left of the case's time, and never next to nothing."""
    if leg.number == 1:
        return options.case_seconds
    left = options.case_seconds - (time.perf_counter() - started)
    return max(round(left, 1), min(_LEAST_SECONDS, options.case_seconds))


def _record(case: OpenCase, leg: Leg | None) -> None:
    if leg is not None:
        case.record_leg(leg)


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
    misdeclared = _misdeclared(card)
    if misdeclared is not None:
        return TargetResult(card=card, broken=misdeclared)
    started(card)
    smoke, broken_by = _smoke(driver, card, stage, options)
    if broken_by is not None:
        return TargetResult(card=card, broken=broken_by, smoke=smoke)
    results = []
    for spec in declared(specs, card, samples=options.samples, shard=options.shard):
        for result in _results(driver, card, spec, stage, options):
            progress(result)
            results.append(result)
    return TargetResult(card=card, smoke=smoke, cases=tuple(results))


def _results(
    driver: Driver, card: TargetCard, spec: CaseSpec, stage: Stage, options: RunOptions
) -> Iterator[CaseResult]:
    """The case's result and those of its deaths, or of the deaths alone that are named."""
    deaths = options.deaths
    points: Sequence[str] = () if deaths is None else deaths.points
    if not points or spec.death is not None:
        result, entries = _run(driver, card, spec, stage, options)
        yield result
        if deaths is None or spec.death is not None or result.verdict not in _RAN:
            return
        # One line says it of a target that resumes nothing, and not one for each of its points.
        points = moments(entries) if "resume" in card.can else (ALL,)
    for death in deaths.at(points, spec) if deaths is not None else ():
        yield run_case(driver, card, with_death(spec, death), stage, options)


def declared(
    specs: Iterable[CaseSpec],
    card: TargetCard,
    *,
    samples: bool = False,
    shard: Shard | None = None,
) -> list[CaseSpec]:
    """The cases whose dialect and mode the target speaks; of a scenario that ends processes only
    one, always the same, where `samples` says so; of these those of the `shard`, where it is one.
    """
    spoken = [s for s in specs if s.dialect in card.dialects and s.mode in card.modes]
    chosen = [s for s in spoken if s is _sample(s, spoken)] if samples else spoken
    return [s for s in chosen if shard is None or shard.holds(s.undisturbed)]


def _sample(spec: CaseSpec, spoken: Sequence[CaseSpec]) -> CaseSpec:
    if not spec.scenario.kills or spec.death is not None:
        return spec
    alike = [one for one in spoken if one.scenario is spec.scenario]
    return alike[crc32(spec.scenario.id.encode()) % len(alike)]


def undeclared(spec: CaseSpec, can: Iterable[str], *, has_process: bool = True) -> str | None:
    """What the case needs that is not among these capabilities, in a few words."""
    missing = [need for need in spec.scenario.needs if need not in can]
    if missing:
        return f"needs {', '.join(missing)}"
    if spec.scenario.kills and not has_process:
        return "needs a process of its own that can be killed; loopcheck run gives it one"
    return None


def _not_declared(spec: CaseSpec, reason: str) -> CaseResult:
    return CaseResult(
        case=spec.id,
        scenario=spec.scenario.id,
        title=spec.scenario.title,
        rule=spec.scenario.rule,
        grounds=spec.scenario.grounds,
        dialect=spec.dialect,
        mode=spec.mode,
        verdict="not declared",
        reason=reason,
    )


def _misdeclared(card: TargetCard) -> str | None:
    """What a card says that makes no sense, since a word that nobody knows matches nothing."""
    words = (
        ("dialect", card.dialects, DIALECTS),
        ("mode", card.modes, MODES),
        ("capability", card.can, CAPABILITIES),
    )
    for what, given, known in words:
        for word in given:
            if word not in known:
                message = f"its card names an unknown {what} {word!r}"
                return hinted(message, did_you_mean(word, known))
        if not given and what != "capability":
            return f"its card names no {what}; known: {', '.join(known)}"
    return None


@contextmanager
def _put_on(
    card: TargetCard, spec: CaseSpec, stage: Stage, options: RunOptions
) -> Iterator[tuple[OpenCase, Path]]:
    with (
        tempfile.TemporaryDirectory(prefix="loopcheck-") as folder,
        stage.open(
            spec,
            target=card.name,
            seed=options.seed,
            seconds=options.case_seconds,
            lenient=options.lenient,
        ) as case,
    ):
        yield case, Path(folder)


@contextmanager
def _recorded(case: OpenCase) -> Iterator[None]:
    try:
        yield
    except Broken as broken:
        case.record_broken(broken.kind, broken.what)


def _judged(played: Played, card: TargetCard, spec: CaseSpec, options: RunOptions) -> CaseResult:
    entries, seconds = played
    result = judge(entries, spec, frozenset(card.can), card.limit_unit)
    failed = result.verdict == "fail" and result.findings
    shown = frames(entries, result.findings[0]) if failed else ()
    journal = _keep(entries, card, spec, options)
    update = {"seconds": seconds, "journal": journal, "frames": shown}
    return result.model_copy(update=update)


def _smoke(
    driver: Driver, card: TargetCard, stage: Stage, options: RunOptions
) -> tuple[CaseResult | None, str | None]:
    """The smoke case in every declared dialect and mode; the first complaint breaks the target."""
    last: CaseResult | None = None
    specs = [CaseSpec(SMOKE, dialect, mode) for dialect in DIALECTS for mode in MODES]
    for spec in declared(specs, card):
        try:
            entries, seconds = play(driver, card, spec, stage, options)
        except Skipped:
            continue  # it will decline the cases, too, each with its reason
        result = judge(entries, spec, frozenset(card.can))
        last = result.model_copy(update={"seconds": seconds})
        wrong = complaint(entries, spec)
        if wrong is not None:
            return last, f"{spec.dialect}, {spec.mode}: {wrong}"
    return last, None


def _keep(
    entries: Iterable[Entry], card: TargetCard, spec: CaseSpec, options: RunOptions
) -> str | None:
    """The path of the journal; None where none is kept."""
    if options.journal_folder is None:
        return None
    try:
        return str(_kept(entries, card, spec, options.journal_folder))
    except OSError:
        if options.needs_journals:
            raise
        return None


def _kept(entries: Iterable[Entry], card: TargetCard, spec: CaseSpec, root: Path) -> Path:
    folder = root / _file_name(card.name)
    folder.mkdir(parents=True, exist_ok=True)
    # Nobody means to commit journals: the folder ignores itself.
    (root / ".gitignore").write_text("*\n", encoding="utf-8")
    death = "" if spec.death is None else f"+{spec.death}"
    name = f"{spec.scenario.id.replace('/', '.')}.{spec.dialect}-{spec.mode}{death}.jsonl"
    path = folder / _file_name(name)
    path.write_text(to_lines(entries), encoding="utf-8")
    return path


def _file_name(text: str) -> str:
    """The text as the name of a file, different for different texts; it names no other folder."""
    quoted = quote(text, safe="+@", errors="replace")
    return f"%2E{quoted[1:]}" if quoted.startswith(".") else quoted or "%"
