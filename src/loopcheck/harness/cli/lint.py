"""`loopcheck lint`: what is wrong with scenario files, with line and column."""

from __future__ import annotations

import os
from argparse import Namespace
from pathlib import Path

from loopcheck.harness.config import find
from loopcheck.harness.exit_code import AS_EXPECTED, FAILURES
from loopcheck.harness.scenario.errors import Problem, ScenarioError
from loopcheck.harness.scenario.load import ScenarioFile, find_files, load_file
from loopcheck.reports.inert import inert, inert_lines


def run(options: Namespace) -> int:
    """Prints every problem of every file, and the counts."""
    if options.patterns:
        files = find_files(options.patterns, cwd=Path.cwd())
    else:
        config = find(Path.cwd())
        files = find_files(config.scenarios, cwd=config.root)
    errors = 0
    for file in files:
        problems = _problems(file)
        errors += len(problems)
        for problem in problems:
            print("\n".join(inert_lines(_told(problem))))
        if not problems:
            print(f"{inert(_short(str(file.path)))}: ok")
    print(f"{_count(len(files), 'file')}, {_count(errors, 'error')}")
    return FAILURES if errors else AS_EXPECTED


def _problems(file: ScenarioFile) -> tuple[Problem, ...]:
    try:
        load_file(file.path, file.root)
    except ScenarioError as error:
        return error.problems
    return ()


def _told(problem: Problem) -> str:
    text = str(problem)
    return _short(problem.file) + text.removeprefix(problem.file)


def _short(path: str) -> str:
    """The path as it is typed here, for files below the current folder."""
    return os.path.relpath(path) if Path(path).is_relative_to(Path.cwd()) else path


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
