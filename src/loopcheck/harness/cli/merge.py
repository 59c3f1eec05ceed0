"""`loopcheck merge`: the reports of shards become the report of the whole run."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from loopcheck.harness.cli.rendering import ADVICE, check_paths, rendered, write
from loopcheck.harness.merging import Named, merge
from loopcheck.reports import json_report, terminal


def run(options: Namespace) -> int:
    """Joins the reports, prints what came of the run, and writes what was asked for."""
    reports = [Named(str(path), json_report.read(path)) for path in options.reports]
    strict = options.strict == "should"
    whole = merge(reports, partial=options.partial, strict_should=strict)
    wished: list[tuple[str, Path]] = list(options.report)
    if options.output is not None:
        wished.append(("json", options.output))
    check_paths([path for _, path in wished], "--report")
    texts = {path: rendered(kind, whole, strict_should=strict) for kind, path in wished}
    write(texts, "--report")
    print(terminal.brief(whole, advice=ADVICE), end="")
    return whole.footer.exit_code
