"""`loopcheck schema`: the JSON Schema of scenario files, reports, or the worker protocol."""

from __future__ import annotations

import sys
from argparse import Namespace


def run(options: Namespace) -> int:
    """Prints the schema."""
    sys.stdout.write(_text(options.format))
    return 0


def _text(name: str) -> str:
    if name == "report":
        from loopcheck.reports import json_schema

        return json_schema.text()
    if name == "matrix":
        from loopcheck.reports.matrix_report import schema_text as of_matrix

        return of_matrix()
    if name == "worker":
        from loopcheck.harness.worker.schema import schema_text

        return schema_text()
    from loopcheck.harness.scenario import json_schema as of_scenarios

    return of_scenarios.text()
