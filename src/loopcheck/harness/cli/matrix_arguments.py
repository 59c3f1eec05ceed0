"""What can be typed after `loopcheck matrix`."""

from __future__ import annotations

import argparse
from pathlib import Path

from loopcheck.harness.cli import typed

REPORTS = ("json", "html", "markdown")
PLACES = ("local", "ray")


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the options of the command."""
    parser.add_argument(
        "file",
        nargs="?",
        type=Path,
        metavar="MATRIX.yaml",
        help="the matrix (default: loopcheck-matrix.yaml, or [tool.loopcheck.matrix])",
    )
    parser.add_argument(
        "--target",
        action="append",
        default=[],
        metavar="NAME",
        help="without a file: a target's name, or module:attr; may be given several times",
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=PACKAGES",
        help="without a file: a set of dependencies, as in now=locked, next=openai==3.57.0, "
        "next=npm:openai@7.59.0, next=node:22, next=python:3.12; may be given several times, "
        "also for one set",
    )
    parser.add_argument(
        "--only-present",
        action="store_true",
        help="change a package only where the target has it",
    )
    parser.add_argument(
        "--compare",
        metavar="BASE..HEAD",
        help="the two sets to compare (default: each with the one after it)",
    )
    parser.add_argument(
        "--only", action="append", default=[], metavar="TARGET", help="run this target only"
    )
    parser.add_argument(
        "--bisect",
        action="append",
        default=[],
        metavar="PACKAGE==LOW..HIGH",
        help="find the first release of this package at which targets get worse than with LOW, "
        "with everything else as in the first set (or the base of --compare); "
        "npm:PACKAGE@LOW..HIGH for a package of npm",
    )
    parser.add_argument(
        "--scenario",
        action="append",
        default=[],
        metavar="PATTERN",
        help="run these scenarios, as in builtin:core (default: those of each target's project)",
    )
    parser.add_argument(
        "--jobs", type=typed.count, metavar="N", help="cells at a time (default: 3 a core)"
    )
    parser.add_argument(
        "--on",
        choices=PLACES,
        default=PLACES[0],
        help="run the cells on this machine, or as tasks of a Ray cluster (default: local)",
    )
    parser.add_argument(
        "--ray-address",
        metavar="HOST:PORT",
        help="with --on ray: the cluster (default: RAY_ADDRESS, else one that is started here)",
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of ids, fragments and tokens")
    parser.add_argument("--lenient", action="append", default=[], metavar="RULE")
    parser.add_argument("--expected", type=Path, help="the list of known failures")
    parser.add_argument("--case-seconds", type=typed.seconds, default=30.0, metavar="SECONDS")
    parser.add_argument(
        "--upgrade",
        action="store_true",
        help="resolve the sets anew; without it, what was resolved before is used again",
    )
    parser.add_argument(
        "--report",
        type=matrix_report,
        action="append",
        default=[],
        metavar="KIND:PATH",
        help=f"write a report: {' or '.join(REPORTS)}; may be given several times",
    )


def matrix_report(text: str) -> tuple[str, Path]:
    """The kind and the path of a report of a matrix."""
    kind, path = typed.report_request(text)
    if kind not in REPORTS:
        raise argparse.ArgumentTypeError(
            f"there is no {kind} of a matrix; kinds: {', '.join(REPORTS)}; each cell's own JSON "
            f"report gives one: loopcheck report CELL.json --to {kind}:PATH"
        )
    return kind, path
