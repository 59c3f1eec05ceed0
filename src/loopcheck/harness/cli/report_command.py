"""`loopcheck report`: renders the JSON report of an earlier run."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from loopcheck.harness.cli.matrix_rendering import rendered as rendered_matrix
from loopcheck.harness.cli.rendering import ADVICE, check_paths, rendered, write
from loopcheck.harness.exit_code import AS_EXPECTED
from loopcheck.reports import json_report, matrix_json, matrix_terminal, terminal
from loopcheck.reports.matrix_report import MatrixReport


def run(options: Namespace) -> int:
    """Writes what was asked for; without a wish it prints what the run itself printed."""
    matrix = _matrix(options.report)
    if matrix is not None:
        return _of_matrix(matrix, options)
    report = json_report.read(options.report)
    if not options.to:
        sys.stdout.write(terminal.render(report, advice=ADVICE))
        return AS_EXPECTED
    strict = options.strict == "should"
    check_paths([path for _, path in options.to], "--to")
    texts = {path: rendered(kind, report, strict_should=strict) for kind, path in options.to}
    write(texts, "--to")
    return AS_EXPECTED


def _matrix(path: Path) -> MatrixReport | None:
    """The report of a matrix, if it is one."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return None  # told as of any other report
    return matrix_json.load(text, str(path)) if matrix_json.is_matrix(text) else None


def _of_matrix(report: MatrixReport, options: Namespace) -> int:
    if not options.to:
        sys.stdout.write(matrix_terminal.render(report))
    check_paths([path for _, path in options.to], "--to")
    write({path: rendered_matrix(kind, report) for kind, path in options.to}, "--to")
    return AS_EXPECTED
