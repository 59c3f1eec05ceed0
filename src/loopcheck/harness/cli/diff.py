"""`loopcheck diff`: what became better and worse from one run to another."""

from __future__ import annotations

import sys
from argparse import Namespace

from loopcheck.harness.cli.rendering import ADVICE
from loopcheck.harness.exit_code import AS_EXPECTED, FAILURES
from loopcheck.reports import (
    diff,
    diff_html,
    diff_markdown,
    diff_terminal,
    difference,
    json_report,
)


def run(options: Namespace) -> int:
    """Prints the comparison. Exit code 1 where something regressed, and only there."""
    before, after = json_report.read(options.before), json_report.read(options.after)
    found = diff.compare(before, after, names=(str(options.before), str(options.after)))
    if options.format == "html":
        text = diff_html.render(found, before, after, advice=ADVICE)
    else:
        renderers = {
            "terminal": diff_terminal.render,
            "markdown": diff_markdown.render,
            "json": difference.dump,
        }
        text = renderers[options.format](found)
    sys.stdout.write(text)
    return FAILURES if found.regressed else AS_EXPECTED
