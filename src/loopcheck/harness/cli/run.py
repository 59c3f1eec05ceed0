"""`loopcheck run`: targets are put on trial, and what came of it is told."""

from __future__ import annotations

import os
import sys
import time
from argparse import Namespace
from collections.abc import Sequence
from datetime import UTC, date, datetime
from pathlib import Path

from loopcheck.fake_providers.script import DIALECTS
from loopcheck.harness import expected
from loopcheck.harness.cases import CaseSpec
from loopcheck.harness.checks import CHECKS
from loopcheck.harness.cli.arguments import UsageError
from loopcheck.harness.cli.document import LAST, LAST_REPORT, Run, report
from loopcheck.harness.cli.leniency import rules_left_out
from loopcheck.harness.cli.progress import Progress
from loopcheck.harness.cli.selection import select, targets
from loopcheck.harness.cli.trial import put_on_trial
from loopcheck.harness.config import Config, TargetSource, find
from loopcheck.harness.exit_code import NOTHING_RAN, exit_code
from loopcheck.harness.results import Report, TargetResult
from loopcheck.harness.runner import RunOptions
from loopcheck.harness.suites import check_suite
from loopcheck.reports import json_report, junit, terminal

ADVICE = {check.id: check.advice for check in CHECKS}


def run(options: Namespace) -> int:
    """Runs the chosen cases on each target, and prints and writes what came of it."""
    started, clock = datetime.now(UTC), time.perf_counter()
    config = find(Path.cwd())
    sources = targets(options.target, config)
    cases = select(options.patterns, config, cwd=Path.cwd())
    listed = expected.load(options.expected) if options.expected else expected.find(config.root)
    suite = _suite(options, config)
    lenient = rules_left_out(options.lenient, DIALECTS)
    _check_paths([path for _, path in options.report])
    setting = RunOptions(
        seed=options.seed,
        lenient=lenient,
        case_seconds=options.case_seconds,
        journal_folder=Path(os.path.relpath(config.root)) / LAST,
    )
    results: list[TargetResult] = []
    for source in sources:
        if results:
            print(_closing(results[-1], setting), end="\n\n", flush=True)
        show = Progress(cases=cases, suite=suite, listed=listed)
        results.append(_one(source, cases, setting, show, listed))
    code = exit_code(results, strict_should=options.strict == "should")
    print(_closing(results[-1], setting, code), flush=True)
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
        started=started,
        seconds=time.perf_counter() - clock,
    )
    _write(report(results, made, code), options, config)
    return code


def _suite(options: Namespace, config: Config) -> str:
    try:
        return check_suite(options.suite or config.suite)
    except ValueError as error:
        raise UsageError(f"--suite: {error}") from None


def _check_paths(paths: Sequence[Path]) -> None:
    """Finds out before the run, and not after it, that a report cannot be written."""
    for path in paths:
        if paths.count(path) > 1:
            raise UsageError(f"--report: two reports would be written to {path}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.open("a", encoding="utf-8").close()
        except OSError as error:
            raise UsageError(f"--report: {path} cannot be written: {error.strerror}") from None


def _one(
    source: TargetSource,
    cases: Sequence[CaseSpec],
    setting: RunOptions,
    show: Progress,
    listed: expected.Expected,
) -> TargetResult:
    result = put_on_trial(source, cases, setting, progress=show.case, started=show.started)
    show.ended(result)
    return expected.apply_to_target(result, listed, today=date.today())


def _closing(result: TargetResult, setting: RunOptions, code: int | None = None) -> str:
    return "\n" + terminal.closing(
        result,
        seed=setting.seed,
        lenient=sorted(setting.lenient),
        exit_code=code,
        advice=ADVICE,
    )


def _write(document: Report, options: Namespace, config: Config) -> None:
    """Writes what was asked for, and the last report, from which `expected update` works."""
    last = config.root / LAST_REPORT
    last.parent.mkdir(parents=True, exist_ok=True)
    last.write_text(json_report.dump(document), encoding="utf-8")
    strict = options.strict == "should"
    for kind, path in options.report:
        if kind == "json":
            path.write_text(json_report.dump(document), encoding="utf-8")
        else:
            text = junit.render(document, advice=ADVICE, strict_should=strict)
            path.write_text(text, encoding="utf-8")
