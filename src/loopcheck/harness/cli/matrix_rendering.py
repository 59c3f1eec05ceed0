"""Makes the reports of a matrix that were asked for."""

from __future__ import annotations

from loopcheck.harness.cli.arguments import UsageError
from loopcheck.harness.cli.rendering import ADVICE
from loopcheck.reports import matrix_html, matrix_markdown
from loopcheck.reports.matrix_report import MatrixReport, dump


def rendered(kind: str, report: MatrixReport) -> str:
    """The matrix as a text of this kind."""
    if kind == "json":
        return dump(report)
    if kind == "html":
        return matrix_html.render(report, advice=ADVICE)
    if kind == "markdown":
        return matrix_markdown.render(report)
    raise UsageError(
        f"there is no {kind} of a matrix; each of its cells has a JSON report of its own: "
        f"loopcheck report CELL.json --to {kind}:PATH"
    )
