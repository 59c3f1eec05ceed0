"""`loopcheck expected`: adds to the list of known failures, and removes what is stale."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from loopcheck.harness.checks import CHECKS
from loopcheck.harness.cli.arguments import UsageError
from loopcheck.harness.cli.document import LAST_REPORT
from loopcheck.harness.cli.selection import select
from loopcheck.harness.config import Config, find
from loopcheck.harness.deaths import named
from loopcheck.harness.exit_code import AS_EXPECTED
from loopcheck.harness.expected import Usage, load, usage
from loopcheck.harness.expected_text import NEW, with_entry, without
from loopcheck.harness.matrix.storage import write_whole
from loopcheck.harness.naming import hinted, matches
from loopcheck.harness.results import Report
from loopcheck.harness.scenario.errors import did_you_mean
from loopcheck.reports import json_report
from loopcheck.reports.inert import inert

FIELDS = ("case", "check", "target", "kind", "reason", "issue", "until")


def run(options: Namespace) -> int:
    """Edits the list of known failures."""
    config = find(Path.cwd())
    path = options.expected or config.expected_file
    action = _add if options.action == "add" else _update
    return action(options, config, path)


def _add(options: Namespace, config: Config, path: Path) -> int:
    _check_case(options.case, config)
    _check_check(options.check)
    if options.target is not None:
        config.target(options.target)
    options.reason = options.reason or _reason()
    fields = {name: getattr(options, name) for name in FIELDS if getattr(options, name) is not None}
    text = _text(path) if path.exists() else NEW
    _rewrite(path, with_entry(text, fields, str(path)))
    print(f"{path}: added {inert(options.case)}")
    return AS_EXPECTED


def _reason() -> str:
    """Why a failure is acceptable, as a person says it. Raises UsageError where none does."""
    said = input("Why is it acceptable for now? ").strip() if sys.stdin.isatty() else ""
    if not said:
        raise UsageError("--reason: say why it is acceptable for now; no entry goes without")
    return said


def _check_case(glob: str, config: Config) -> None:
    """An entry that names no case would never be needed, nor be found stale."""
    case, death = named(glob)
    shown = case if death is not None and "*" in death.point else glob
    if not any(matches(shown, spec.id) for spec in select([shown], config, cwd=config.root)):
        raise UsageError(f"{glob!r} names no case; write an id or a glob of ids")


def _check_check(name: str | None) -> None:
    known = [check.id for check in CHECKS]
    if name is not None and name not in known:
        raise UsageError(hinted(f"--check: unknown check {name!r}", did_you_mean(name, known)))


def _update(options: Namespace, config: Config, path: Path) -> int:
    listed = load(path)
    found = usage(_report(options, config).targets, listed)
    gone = [use.entry for use in found if not use.needed_by]
    _rewrite(path, without(_text(path), gone, str(path)))
    for entry in gone:
        print(f"{path}:{entry.line}: removed {inert(entry.case)}, {entry}")
    for use in found:
        if use.needed_by:
            print(_narrow(use))
    if not found:
        print(f"{path}: nothing in it is stale")
    return AS_EXPECTED


def _report(options: Namespace, config: Config) -> Report:
    path = options.report or config.root / LAST_REPORT
    try:
        report = json_report.load(path.read_text(encoding="utf-8"), str(path))
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read ({error.strerror}); stale entries are found by 'loopcheck run'"
        ) from None
    if report.header.shard is not None:
        raise UsageError(
            f"{path} is shard {report.header.shard} of a run: cases of the others may still need "
            "an entry; join them with 'loopcheck merge', and give that with --report"
        )
    return report


def _narrow(use: Usage) -> str:
    entry = use.entry
    still = ", ".join(map(inert, dict.fromkeys(use.needed_by)))
    no_longer = ", ".join(map(inert, dict.fromkeys(use.outdated_in)))
    return (
        f"{entry.file}:{entry.line}: kept {inert(entry.case)}; narrow it by hand: "
        f"needed by {still}; no longer by {no_longer}"
    )


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from None


def _rewrite(path: Path, text: str) -> None:
    try:
        write_whole(path, text)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from None
