"""`loopcheck report`: renders the JSON report of an earlier run."""

from __future__ import annotations

import sys
from argparse import Namespace

from loopcheck.harness.cli.rendering import ADVICE, check_paths, rendered, write
from loopcheck.harness.exit_code import AS_EXPECTED
from loopcheck.reports import json_report, terminal


def run(options: Namespace) -> int:
    """Writes what was asked for; without a wish it prints what the run itself printed."""
    report = json_report.read(options.report)
    if not options.to:
        sys.stdout.write(terminal.render(report, advice=ADVICE))
        return AS_EXPECTED
    strict = options.strict == "should"
    check_paths([path for _, path in options.to], "--to")
    texts = {path: rendered(kind, report, strict_should=strict) for kind, path in options.to}
    write(texts, "--to")
    return AS_EXPECTED
