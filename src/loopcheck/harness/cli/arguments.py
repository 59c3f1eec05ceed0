"""What can be typed after `loopcheck`. Kept free of heavy imports, so that help is quick."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import metadata
from pathlib import Path
from typing import Any, Final, NoReturn, Protocol

from loopcheck.fake_providers.script import DIALECTS, MODES
from loopcheck.harness.cli import answers, matrix_arguments, typed
from loopcheck.harness.cli.typed import REPORTS

COMMANDS: Final = {
    "run": "run",
    "list": "listing",
    "lint": "lint",
    "show": "show",
    "doctor": "doctor",
    "expected": "expected_command",
    "serve": "serve",
    "drift": "drift",
    "selftest": "selftest",
    "report": "report_command",
    "diff": "diff",
    "merge": "merge",
    "matrix": "matrix",
    "fuzz": "fuzz",
    "schema": "schema",
    "new": "new",
    "import": "import_command",
}
DIFFS: Final = ("terminal", "markdown", "json", "html")
SCHEMAS: Final = ("scenario", "report", "matrix", "worker")
KINDS: Final = ("bug", "policy", "flaky")
EXIT_CODES: Final = """\
exit codes, the first that applies:
  2 usage error, 4 a target is broken, 5 nothing ran, 1 failures, 3 stale expectations,
  0 all as expected (130 interrupted, 70 a defect of loopcheck itself)
"""


class UsageError(Exception):
    """The command line asks for something that cannot be done. Says what would be right."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (see {self.prog} --help)")


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """The parsed command line. Raises UsageError, and SystemExit after --help."""
    if not arguments:
        raise UsageError(f"say what to do: {', '.join(COMMANDS)} (see loopcheck --help)")
    word = arguments[0]
    if not word.startswith("-") and word not in COMMANDS:
        close = get_close_matches(word, COMMANDS, 1)
        hint = f"did you mean {close[0]!r}?" if close else f"commands: {', '.join(COMMANDS)}"
        raise UsageError(f"unknown command {word!r}; {hint}")
    return _parser().parse_args(arguments)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="loopcheck",
        description="Puts an AI agent's tool-calling loop on trial against fake providers.",
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    version = f"loopcheck {metadata.version('loopcheck')}"
    parser.add_argument("--version", action="version", version=version)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for add in (
        _run,
        _report,
        _diff,
        _merge,
        _matrix,
        _list,
        _lint,
        _show,
        _doctor,
        _expected,
        _serve,
        _drift,
        _selftest,
        _fuzz,
        _schema,
        _new,
        _import,
    ):
        add(commands)
    return parser


class _Commands(Protocol):
    def add_parser(self, name: str, **options: Any) -> argparse.ArgumentParser: ...


def _command(commands: _Commands, name: str, summary: str) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=summary, description=summary, allow_abbrev=False)
    parser.add_argument("--traceback", action="store_true", help="show where an error came from")
    return parser


def _patterns(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "patterns",
        nargs="*",
        metavar="PATTERN",
        help="case or scenario ids, globs of them ('once/*[chat-*]'), files, folders, or "
        "builtin:core; by default the scenarios of the project's settings",
    )


def _run(commands: _Commands) -> None:
    parser = _command(commands, "run", "put targets on trial")
    _patterns(parser)
    parser.add_argument(
        "--target",
        action="append",
        default=[],
        metavar="NAME",
        help="a target's name, or module:attr; may be given several times",
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of ids, fragments and tokens")
    parser.add_argument(
        "--strict", choices=["should"], help="let findings of this level fail the run, too"
    )
    parser.add_argument(
        "--jobs",
        type=typed.count,
        metavar="N",
        help="targets at a time (default: one a core, at most 4)",
    )
    _written(parser)
    parser.add_argument(
        "--shard",
        type=typed.shard,
        metavar="K/N",
        help="run the Kth of N parts of the cases; loopcheck merge joins their reports",
    )
    parser.add_argument("--expected", type=Path, help="the list of known failures")
    parser.add_argument("--suite", help="the suite that counts, such as 2026.1")
    parser.add_argument(
        "--lenient",
        action="append",
        default=[],
        metavar="RULE",
        help="leave out this request rule, such as C1; may be given several times",
    )
    parser.add_argument(
        "--processes",
        choices=["sample", "all"],
        default="sample",
        help="run scenarios that end processes in one dialect and mode each (default), or in all",
    )
    parser.add_argument(
        "--deaths",
        action="append",
        default=[],
        metavar="POINT",
        help="run the chosen cases with a process that dies at this point, such as "
        "book.committed, and is resumed; 'all': undisturbed, and then at each point that came; "
        "may be given several times",
    )
    parser.add_argument(
        "--rivals",
        action="store_true",
        help="with --deaths: each death once more, with two processes that resume the run at once",
    )
    parser.add_argument(
        "--case-seconds",
        type=typed.seconds,
        default=30.0,
        metavar="SECONDS",
        help="after this time a case is ended and its target called hung (default 30)",
    )


def _report(commands: _Commands) -> None:
    parser = _command(commands, "report", "render the JSON report of an earlier run")
    parser.add_argument("report", type=Path, metavar="REPORT.json")
    parser.add_argument(
        "--to",
        type=typed.report_request,
        action="append",
        default=[],
        metavar="KIND:PATH",
        help=f"write it as {' or '.join(REPORTS)}; may be given several times; without it, what "
        "the run printed is printed again",
    )
    parser.add_argument(
        "--strict", choices=["should"], help="junit: findings of this level are failures, too"
    )


def _diff(commands: _Commands) -> None:
    parser = _command(
        commands, "diff", "compare two JSON reports; exit code 1 where something regressed"
    )
    parser.add_argument("before", type=Path, metavar="BEFORE.json")
    parser.add_argument("after", type=Path, metavar="AFTER.json")
    parser.add_argument(
        "--format", choices=DIFFS, default="terminal", help="how it is printed (default terminal)"
    )


def _merge(commands: _Commands) -> None:
    parser = _command(
        commands, "merge", "join the JSON reports of shards to one; exit codes are those of run"
    )
    parser.add_argument("reports", type=Path, nargs="+", metavar="REPORT.json")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="PATH", help="write the joined JSON report"
    )
    _written(parser)
    parser.add_argument(
        "--strict", choices=["should"], help="let findings of this level fail the run, too"
    )
    parser.add_argument(
        "--partial",
        action="store_true",
        help="join what there is although shards are missing; the joined report says which it has",
    )


def _matrix(commands: _Commands) -> None:
    summary = (
        "run targets under several sets of dependencies; exit code 1 where something regressed"
    )
    matrix_arguments.add(_command(commands, "matrix", summary))


def _written(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--report",
        type=typed.report_request,
        action="append",
        default=[],
        metavar="KIND:PATH",
        help=f"write a report: {' or '.join(REPORTS)}; may be given several times",
    )


def _schema(commands: _Commands) -> None:
    parser = _command(commands, "schema", "print the JSON Schema of one of the formats")
    parser.add_argument(
        "format",
        nargs="?",
        choices=SCHEMAS,
        default="scenario",
        help="scenario files (default), JSON reports, or lines of the worker protocol",
    )


def _list(commands: _Commands) -> None:
    parser = _command(commands, "list", "list scenarios, cases or targets")
    _patterns(parser)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--cases", action="store_true", help="list case ids")
    what.add_argument("--targets", action="store_true", help="list the known targets")


def _lint(commands: _Commands) -> None:
    _patterns(_command(commands, "lint", "check scenario files"))


def _show(commands: _Commands) -> None:
    parser = _command(commands, "show", "show what a scenario sends and expects")
    parser.add_argument("scenario", metavar="SCENARIO", help="id or file of a scenario")
    parser.add_argument("--dialect", choices=DIALECTS, help="the protocol it is shown in")
    parser.add_argument("--mode", choices=MODES, help="streamed or whole responses")
    parser.add_argument("--all", action="store_true", help="show every frame")


def _doctor(commands: _Commands) -> None:
    parser = _command(commands, "doctor", "say what is wrong with a target's description")
    parser.add_argument("target", metavar="TARGET", help="a target's name, or module:attr")
    parser.add_argument("--case-seconds", type=typed.seconds, default=30.0, metavar="SECONDS")


def _expected(commands: _Commands) -> None:
    parser = _command(commands, "expected", "keep the list of known failures")
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    add = _command(actions, "add", "list a known failure")
    add.add_argument("case", metavar="CASE", help="a case id or a glob of case ids")
    add.add_argument("--check", help="the check that fails; every kind but flaky needs one")
    add.add_argument("--kind", choices=KINDS, required=True)
    add.add_argument("--reason", help="why it is acceptable for now; asked for on a terminal")
    add.add_argument("--issue", help="link of the issue")
    add.add_argument("--until", metavar="DAY", help="the last day on which it is accepted")
    add.add_argument("--target", metavar="NAME", help="the only target it holds for")
    add.add_argument("--expected", type=Path, help="the list of known failures")
    update = _command(actions, "update", "remove what the last run found stale")
    update.add_argument("--expected", type=Path, help="the list of known failures")
    update.add_argument(
        "--report", type=Path, metavar="PATH", help="a JSON report instead of the last run's"
    )


def _serve(commands: _Commands) -> None:
    parser = _command(commands, "serve", "serve a fake provider to any client")
    parser.add_argument("--host", default="127.0.0.1", help="default 127.0.0.1: this machine only")
    parser.add_argument("--port", type=int, default=0, help="default 0: any that is free")
    how = parser.add_mutually_exclusive_group(required=True)
    how.add_argument("--auto", action="store_true", help="answer any request plausibly")
    how.add_argument("--scenario", metavar="SCENARIO", help="follow the script of a scenario")
    how.add_argument(
        "--replay", type=Path, nargs="+", metavar="RECORDING", help="answer with what was recorded"
    )
    how.add_argument("--record", metavar="URL", help="pass requests on to this service, and record")
    parser.add_argument("--into", type=Path, metavar="FOLDER", help="where --record writes")
    parser.add_argument("--dialect", choices=DIALECTS, help="serve this protocol only")
    parser.add_argument("--seed", type=int, default=0, help="seed of ids, values and fragments")
    parser.add_argument(
        "--lenient", nargs="+", default=[], metavar="RULE", help="request rules that are left out"
    )


def _drift(commands: _Commands) -> None:
    parser = _command(commands, "drift", "compare the fake with recordings of real services")
    parser.add_argument("recordings", nargs="+", type=Path, metavar="RECORDING")


def _selftest(commands: _Commands) -> None:
    _command(commands, "selftest", "put the checks on trial by loops that are known to be broken")


def _fuzz(commands: _Commands) -> None:
    parser = _command(commands, "fuzz", "search for scenarios that a target gets wrong")
    parser.add_argument("--target", metavar="NAME", help="a target's name, or module:attr")
    parser.add_argument(
        "--examples", type=typed.count, default=200, metavar="N", help="how many (default 200)"
    )
    parser.add_argument("--seed", type=int, default=0, help="what is drawn follows from it")
    parser.add_argument(
        "--dialect",
        action="append",
        choices=DIALECTS,
        help="draw in this protocol only; may be given several times",
    )
    parser.add_argument(
        "--keep",
        type=Path,
        metavar="DIR",
        help="where scenario files and journals are written (default .loopcheck/fuzz)",
    )
    parser.add_argument(
        "--database",
        metavar="WHERE",
        help="Hypothesis's database of failing examples: a folder (default .hypothesis/examples), "
        "redis://HOST:PORT/N, or none",
    )
    parser.add_argument(
        "--slow", action="store_true", help="also what takes seconds: stalls, tools that hang"
    )
    parser.add_argument(
        "--deaths",
        action="store_true",
        help="also processes that die and are resumed; the target gets one of its own",
    )
    parser.add_argument(
        "--case-seconds",
        type=typed.seconds,
        default=10.0,
        metavar="SECONDS",
        help="after this time a case is ended and its target called hung (default 10)",
    )


def _new(commands: _Commands) -> None:
    parser = _command(commands, "new", "write a first scenario, from flags or by asking")
    parser.add_argument(
        "path", nargs="?", type=Path, metavar="PATH", help="the new file (default: by its title)"
    )
    parser.add_argument("--title", type=answers.sentence, help="one line for reports")
    parser.add_argument("--rule", type=answers.sentence, help="what a loop keeps or breaks")
    parser.add_argument("--prompt", type=answers.sentence, help="what the loop is told to do")
    parser.add_argument("--tool", type=answers.tool, metavar="NAME:KIND", help="as in book:write")
    parser.add_argument(
        "--args", type=answers.arguments, metavar="NAME:TYPE,…", help="its arguments"
    )
    parser.add_argument(
        "--twist",
        type=answers.twist,
        metavar="TWIST",
        help=f"what goes wrong: {', '.join(answers.TWISTS)}",
    )


def _import(commands: _Commands) -> None:
    parser = _command(commands, "import", "make a scenario of what was recorded")
    parser.add_argument(
        "source",
        type=Path,
        metavar="SOURCE",
        help="a recording, a journal, a HAR file or a cassette of VCR",
    )
    parser.add_argument("--to", type=Path, metavar="PATH", help="the new file (default: print it)")
