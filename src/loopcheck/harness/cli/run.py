"""`loopcheck run`: targets are put on trial, and what came of it is told."""

from __future__ import annotations

import os
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from typing import Final

from loopcheck.fake_providers.script import DIALECTS
from loopcheck.harness import expected
from loopcheck.harness.cases import CaseSpec
from loopcheck.harness.cli.arguments import UsageError
from loopcheck.harness.cli.cores import cores
from loopcheck.harness.cli.document import LAST, LAST_REPORT, Run, report
from loopcheck.harness.cli.leniency import rules_left_out
from loopcheck.harness.cli.progress import Progress
from loopcheck.harness.cli.rendering import ADVICE, check_paths, rendered, write
from loopcheck.harness.cli.selection import deaths, files_named, select, targets
from loopcheck.harness.cli.side_by_side import Say, side_by_side
from loopcheck.harness.cli.trial import die, tried
from loopcheck.harness.config import Config, TargetSource, find
from loopcheck.harness.exit_code import NOTHING_RAN, exit_code
from loopcheck.harness.results import Part, Report, TargetResult
from loopcheck.harness.runner import Driver, RunOptions
from loopcheck.harness.scoring import left_out, scored_target
from loopcheck.harness.shards import digest
from loopcheck.harness.suites import check_suite
from loopcheck.reports import terminal

# This process takes a fifth of what a target takes, and has one core for all of them.
_MOST_AT_A_TIME: Final = 4


def run(options: Namespace) -> int:
    """Runs the chosen cases on each target, and prints and writes what came of it."""
    started, clock = datetime.now(UTC), time.perf_counter()
    config = find(Path.cwd())
    sources = targets(options.target, config)
    cases = select(options.patterns, config, cwd=Path.cwd())
    listed = expected.load(options.expected) if options.expected else expected.find(config.root)
    suite = _suite(options, config)
    without = left_out({case.scenario.id: case.scenario for case in cases}.values(), suite)
    lenient = rules_left_out(options.lenient, DIALECTS)
    check_paths([path for _, path in options.report], "--report")
    setting = RunOptions(
        seed=options.seed,
        samples=_samples(options),
        lenient=lenient,
        case_seconds=options.case_seconds,
        deaths=deaths(options.deaths, cases, rivals=options.rivals),
        journal_folder=Path(os.path.relpath(config.root)) / LAST,
        shard=options.shard,
    )
    progress = partial(
        Progress,
        cases=cases,
        suite=suite,
        without=without,
        listed=listed,
        samples=setting.samples,
        shard=setting.shard,
    )
    attempt = partial(_attempt, cases=cases, setting=setting, progress=progress)
    jobs = min(options.jobs or min(cores(), _MOST_AT_A_TIME), len(sources))
    trials = side_by_side(sources, attempt, spare=die(cases, setting), jobs=jobs)
    files = files_named(options.patterns, cwd=Path.cwd())
    tell = partial(_closing, setting=setting, files=files)
    results = _told(trials, tell, len(sources))
    part = _part(setting, cases)
    strict = options.strict == "should"
    code = exit_code(results, strict_should=strict, is_part=part is not None)
    print(tell(results[-1], code=code), flush=True)
    if code == NOTHING_RAN:
        print(
            "loopcheck: nothing ran: no chosen case has a dialect, mode and needs that its target "
            "declares",
            file=sys.stderr,
        )
    made = Run(
        suite=suite,
        seed=setting.seed,
        lenient=tuple(sorted(lenient)),
        part=part,
        started=started,
        seconds=time.perf_counter() - clock,
    )
    _write(report(results, made, code), options, config)
    return code


def _samples(options: Namespace) -> bool:
    """Whether cases that end processes are sampled; never those that are named themselves."""
    named = any(pattern.endswith("]") for pattern in options.patterns)
    return options.processes == "sample" and not named and not options.deaths


def _part(setting: RunOptions, cases: Sequence[CaseSpec]) -> Part | None:
    """Which part of the run this is, so that parts of different runs are told apart later."""
    if setting.shard is None:
        return None
    plan = digest([*sorted(spec.id for spec in cases), repr(setting.deaths), repr(setting.samples)])
    return Part(numbers=(setting.shard.number,), of=setting.shard.of, plan=plan)


def _suite(options: Namespace, config: Config) -> str:
    try:
        return check_suite(options.suite or config.suite)
    except ValueError as error:
        raise UsageError(f"--suite: {error}") from None


def _told(
    trials: Generator[TargetResult, None, None], tell: Callable[[TargetResult], str], targets: int
) -> list[TargetResult]:
    """The results; what came of each is printed, save of the last, told with the exit code."""
    results: list[TargetResult] = []
    with closing(trials):
        for result in trials:
            results.append(result)
            if len(results) < targets:
                print(tell(result), end="\n\n", flush=True)
    return results


def _attempt(
    driven: Driver,
    source: TargetSource,
    say: Say,
    *,
    cases: Sequence[CaseSpec],
    setting: RunOptions,
    progress: Callable[[Say], Progress],
) -> TargetResult:
    show = progress(say)
    result = tried(driven, source, cases, setting, progress=show.case, started=show.started)
    show.ended(result)
    counting = scored_target(result, show.without)
    return expected.apply_to_target(counting, show.listed, today=date.today())


def _closing(
    result: TargetResult,
    *,
    setting: RunOptions,
    files: Mapping[str, str],
    code: int | None = None,
) -> str:
    return "\n" + terminal.closing(
        result,
        seed=setting.seed,
        lenient=sorted(setting.lenient),
        exit_code=code,
        advice=ADVICE,
        files=files,
    )


def _write(document: Report, options: Namespace, config: Config) -> None:
    """Writes what was asked for, and the last report, from which `expected update` works."""
    last = config.root / LAST_REPORT
    last.parent.mkdir(parents=True, exist_ok=True)
    strict = options.strict == "should"
    texts = {path: rendered(kind, document, strict_should=strict) for kind, path in options.report}
    write({last: rendered("json", document), **texts}, "--report")
