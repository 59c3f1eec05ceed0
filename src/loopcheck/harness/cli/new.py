"""`loopcheck new`: a valid scenario from a few answers, by flags or at a terminal."""

from __future__ import annotations

import re
import sys
from argparse import ArgumentTypeError, Namespace
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, TypeVar

from loopcheck.harness.cli import answers as read
from loopcheck.harness.cli.arguments import UsageError
from loopcheck.harness.cli.scenario_file import create, wanted
from loopcheck.harness.exit_code import AS_EXPECTED
from loopcheck.harness.scenario.answers import Answers, ToolKind, Twist
from loopcheck.harness.scenario.draft import draft
from loopcheck.reports.inert import inert

T = TypeVar("T")

_REQUIRED: Final = ("title", "rule", "tool")


def run(options: Namespace) -> int:
    """Writes one new file, and says which."""
    path = None if options.path is None else wanted(options.path)
    missing = [name for name in _REQUIRED if getattr(options, name) is None]
    if missing and not sys.stdin.isatty():
        flags = ", ".join(f"--{name}" for name in missing)
        raise UsageError(f"{flags} missing, and there is no terminal to ask at")
    answers = _answers(options, asking=bool(missing))
    if answers.twist == "cut" and not answers.args:
        raise UsageError("a call without arguments cannot be cut; give --args")
    path = path or wanted(Path("scenarios", f"{_slug(answers.title)}.yaml"))
    for written in create(path, draft(answers)):
        print(f"{inert(str(written))}: written")
    return AS_EXPECTED


def _answers(options: Namespace, *, asking: bool) -> Answers:
    ask = _asked if asking else _untold
    title = options.title or ask("Title, one line for reports: ", read.sentence, "")
    rule = options.rule or ask("Rule, which a loop keeps or breaks: ", read.sentence, "")
    tool: tuple[str, ToolKind] = options.tool or ask(
        "Tool, as NAME:read or NAME:write: ", read.tool, ("", "read")
    )
    args: dict[str, str] | None = options.args
    if args is None:
        untyped: dict[str, str] = {}
        args = ask("Its arguments, as NAME:TYPE,NAME:TYPE, or none: ", read.arguments, untyped)
    question = f"What goes wrong, one of {', '.join(read.TWISTS)}: "
    usual: Twist = "nothing"
    twist: Twist = options.twist or ask(question, read.twist, usual)
    name, kind = tool
    return Answers(
        title=title,
        rule=rule,
        tool=name,
        kind=kind,
        args=args,
        twist=twist,
        prompt=options.prompt,
    )


def _untold(question: str, read: Callable[[str], T], default: T) -> T:
    return default


def _asked(question: str, read: Callable[[str], T], default: T) -> T:
    for text in _lines(question):
        try:
            return read(text)
        except ArgumentTypeError as error:
            print(f"  {inert(str(error))}")
    raise UsageError("the answers end here, and nothing was written")


def _lines(question: str) -> Iterator[str]:
    while True:
        try:
            yield input(question).strip()
        except EOFError:
            return


def _slug(title: str) -> str:
    return "-".join(re.findall(r"[a-z0-9]+", title.lower()))[:60].strip("-") or "scenario"
