"""`loopcheck fuzz`: generated scenarios, and a small file for each thing that goes wrong."""

from __future__ import annotations

import os
import shlex
import sys
import time
from argparse import Namespace
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from loopcheck.fake_providers.script import DIALECTS, MODES
from loopcheck.harness.cases import CaseSpec
from loopcheck.harness.cli.arguments import UsageError
from loopcheck.harness.cli.selection import targets
from loopcheck.harness.cli.trial import driver
from loopcheck.harness.config import Config, TargetSource, find
from loopcheck.harness.exit_code import AS_EXPECTED, FAILURES, TARGET_BROKEN
from loopcheck.harness.inprocess import InProcess
from loopcheck.harness.runner import Broken, Driver, RunOptions, declared, play
from loopcheck.harness.smoke import SMOKE, complaint
from loopcheck.harness.stage import Stage
from loopcheck.harness.worker.importing import ImportProblem, import_target
from loopcheck.reports.inert import inert

if TYPE_CHECKING:
    from loopcheck.harness.fuzz.hunt import Found, Hunt
    from loopcheck.harness.fuzz.keep import Kept
    from loopcheck.harness.fuzz.trial import Trial

T = TypeVar("T")

KEPT: Final = Path(".loopcheck", "fuzz")
EXAMPLES: Final = Path(".hypothesis", "examples")
# A gate that nothing can open is let go after this; generated scenarios have none of their own.
_QUIET_SECONDS: Final = 0.05
_TOLD_EVERY: Final = 10
# How often a failure is made smaller at most; each death costs a process.
_SMALLER: Final = 600
_SMALLER_DYING: Final = 60


def run(options: Namespace) -> int:
    """Searches, and prints what was found, what was covered, and how to run it again."""
    if find_spec("hypothesis") is None:
        raise UsageError("fuzzing needs Hypothesis: pip install 'loopcheck[fuzz]'")
    config = find(Path.cwd())
    source = targets([options.target] if options.target else [], config)[0]
    try:
        driving = _driver(source, dies=options.deaths)
        with driving as driven, Stage(quiet_seconds=_QUIET_SECONDS) as stage:
            return _searched(driven, stage, source, options, config)
    except ImportProblem as problem:
        return _broken(source, str(problem))
    except Broken as broken:
        return _broken(source, broken.what)


def _broken(source: TargetSource, what: str) -> int:
    print(f"BROKEN target {inert(source.name)}: {inert(what)}")
    return TARGET_BROKEN


@contextmanager
def _driver(source: TargetSource, *, dies: bool) -> Iterator[Driver]:
    """Drives a Python target in this process, which takes a fraction of the time; any other, and
    one whose process is to die, in its worker."""
    if source.python is None or dies:
        with driver(source, spare=dies) as driven:
            yield driven
        return
    if source.cwd is not None and str(source.cwd) not in sys.path:
        sys.path.insert(0, str(source.cwd))
    with InProcess(import_target(source.python)) as driven:
        yield driven


def _searched(
    driven: Driver, stage: Stage, source: TargetSource, options: Namespace, config: Config
) -> int:
    from loopcheck.harness.fuzz.keep import clear
    from loopcheck.harness.fuzz.trial import Trial

    setting = RunOptions(case_seconds=options.case_seconds)
    card = driven.card().model_copy(update={"name": source.name})
    trial = Trial(driver=driven, card=card, stage=stage, options=setting)
    hunt = _hunt(trial, options, config)
    wrong = _smoke(trial, hunt)
    if wrong is not None:
        return _broken(source, wrong)
    print(_opening(hunt), flush=True)
    folder = options.keep or _kept(config) / _folder_name(source.name)
    try:
        found = hunt.run()
    except KeyboardInterrupt:
        _tell(hunt, hunt.found, folder, source)
        raise
    if options.keep is None:
        clear(folder)
    _tell(hunt, found, folder, source)
    return FAILURES if found else AS_EXPECTED


def _tell(hunt: Hunt, found: Sequence[Found], folder: Path, source: TargetSource) -> None:
    """Prints and writes what was found."""
    from loopcheck.harness.fuzz.keep import keep

    print("\n".join(_covered(hunt)))
    for kept in keep(found, folder):
        print("\n" + "\n".join(_told(kept, source)))


def _kept(config: Config) -> Path:
    folder = Path(os.path.relpath(config.root)) / KEPT
    folder.mkdir(parents=True, exist_ok=True)
    # Nobody means to commit what a search leaves behind: the folder ignores itself.
    (folder / ".gitignore").write_text("*\n", encoding="utf-8")
    return folder


def _folder_name(name: str) -> str:
    return "".join(char if char.isalnum() or char in "-_" else "." for char in name)


def _hunt(trial: Trial, options: Namespace, config: Config) -> Hunt:
    from loopcheck.harness.fuzz.hunt import Hunt
    from loopcheck.harness.fuzz.storage import database
    from loopcheck.harness.strategies import features_for

    card = trial.card
    asked = options.dialect or DIALECTS
    dialects = _among(DIALECTS, asked, card.dialects)
    modes = _among(MODES, card.modes)
    if not dialects or not modes:
        spoken = ", ".join(card.dialects) or "none"
        raise UsageError(f"target {card.name!r} speaks no such dialect; it declares: {spoken}")
    if options.deaths and "resume" not in card.can:
        raise UsageError(f"--deaths: target {card.name!r} does not declare that it can resume")
    try:
        kept = database(options.database, config.root / EXAMPLES)
    except ValueError as error:
        raise UsageError(f"--database: {error}") from None
    return Hunt(
        trial=trial,
        dialects=dialects,
        modes=modes,
        features=features_for(card.can, slow=options.slow),
        seed=options.seed,
        limit=options.examples,
        dies=options.deaths,
        most_smaller=_SMALLER_DYING if options.deaths else _SMALLER,
        database=kept,
        progress=_Progress(),
    )


def _among(known: Iterable[T], *lists: Collection[object]) -> tuple[T, ...]:
    return tuple(one for one in known if all(one in listed for listed in lists))


def _smoke(trial: Trial, hunt: Hunt) -> str | None:
    specs = [CaseSpec(SMOKE, dialect, mode) for dialect in hunt.dialects for mode in hunt.modes]
    for spec in declared(specs, trial.card):
        entries, _ = play(trial.driver, trial.card, spec, trial.stage, trial.options)
        wrong = complaint(entries, spec)
        if wrong is not None:
            return f"{spec.dialect}, {spec.mode}: {wrong}"
    return None


class _Progress:
    """One line that changes on a terminal, and ten lines elsewhere."""

    def __init__(self) -> None:
        self._told = 0
        self._started = time.perf_counter()

    def __call__(self, hunt: Hunt) -> None:
        tenth = hunt.drawn * _TOLD_EVERY // hunt.limit
        if not sys.stderr.isatty() and tenth == self._told:
            return
        self._told = tenth
        seconds = time.perf_counter() - self._started
        line = f"{hunt.drawn}/{hunt.limit} examples, {_failures(len(hunt.found))}, {seconds:.0f} s"
        end = "\r" if sys.stderr.isatty() and hunt.drawn < hunt.limit else "\n"
        print(line, end=end, file=sys.stderr, flush=True)


def _failures(count: int) -> str:
    return "1 failure" if count == 1 else f"{count} failures"


def _opening(hunt: Hunt) -> str:
    card = hunt.trial.card
    words = (
        " ".join(filter(None, (card.name, card.version))),
        ", ".join(hunt.dialects),
        ", ".join(hunt.modes),
        f"seed {hunt.seed}",
        f"features: {', '.join(hunt.features)}",
    )
    return inert("loopcheck fuzz: " + "; ".join(words))


def _covered(hunt: Hunt) -> Iterator[str]:
    yield f"{hunt.drawn} examples, {_failures(len(hunt.found))}; covered:"
    for line in hunt.coverage.lines():
        yield f"  {inert(line)}"


def _told(kept: Kept, source: TargetSource) -> Iterator[str]:
    from loopcheck.harness.fuzz.keep import COMPARED

    failure, found = kept.found.failure, kept.found
    yield f"FAIL {inert(failure.check)}: {inert(failure.kind)}"
    yield f"  expected  {inert(failure.expected)}"
    yield f"  seen      {inert(failure.seen)}"
    if found.example.tried in COMPARED:
        yield f"  by        comparison: {COMPARED[found.example.tried]}"
    if not found.steady:
        yield "  note      the same example went well when it was run once more"
    yield f"  scenario  {kept.scenario}"
    yield f"  journal   {kept.journal}"
    command = ("loopcheck", "run", str(kept.scenario), "--target", source.name)
    yield f"  rerun     {shlex.join(command)}"
